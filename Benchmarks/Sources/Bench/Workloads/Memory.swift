import CFloor
import Foundation
import OpenCoreData

/// The memory use of objects.
///
/// Each kind is measured in a separate process.
enum Memory: String, CaseIterable {
  case fault
  case realized
  case floor
  case grdb

  /// The output of a child process.
  struct Reading: Codable {
    let rows: Int
    /// The number of bytes in blocks below 64 KiB: objects, rows, and strings.
    let small: Int
    /// The number of bytes in larger blocks: arrays and tables.
    let large: Int
    /// The peak resident size of the process.
    let peak: Int
  }

  /// Measures memory use in this process, which should do nothing else.
  func read(_ bed: Bed) throws -> Reading {
    cfloor_memory_prepare()
    // Create statements, the page cache, and other one-time allocations first, without objects.
    // Otherwise, tables could use the memory that these free, and would count as small blocks.
    try warm(bed)
    var reading: Reading?
    let before = cfloor_memory_now()
    try hold(bed) {
      let after = cfloor_memory_now()
      reading = Reading(
        rows: bed.rows, small: Int(after.small) - Int(before.small),
        large: Int(after.large) - Int(before.large), peak: Int(after.peak))
    }
    guard let reading else { throw BenchError("no memory reading") }
    return reading
  }

  /// Returns the least of three readings.
  ///
  /// An array that grows may also find room between the smaller blocks, whose size then includes
  /// it.
  func least(rows: Int) throws -> Reading {
    var least = try readInChild(rows: rows)
    for _ in 0..<2 {
      let reading = try readInChild(rows: rows)
      if reading.small < least.small { least = reading }
    }
    return least
  }

  /// Measures memory use in a child process.
  private func readInChild(rows: Int) throws -> Reading {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["memory", rawValue, "--rows", "\(rows)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchError("\(rawValue): the child failed") }
    return try JSONDecoder().decode(Reading.self, from: data)
  }

  private func warm(_ bed: Bed) throws {
    let request = Bed.allMoods()
    request.predicate = NSPredicate(format: "note == %@", argumentArray: ["nobody's"])
    let context = bed.stack.context()
    _ = try context.performAndWait { try context.fetch(request) }
    let scan = "SELECT count(ZNOTE) FROM ZMOOD"
    try bed.floor.run(scan)
  }

  private func hold(_ bed: Bed, _ body: () -> Void) throws {
    switch self {
    case .fault, .realized:
      let request = Bed.allMoods()
      request.includesPropertyValues = self == .realized
      request.returnsObjectsAsFaults = self == .fault
      let context = bed.stack.context()
      try context.performAndWait {
        let moods = try context.fetch(request)
        withExtendedLifetime(moods, body)
      }
    case .floor:
      let trace = try bed.trace { _ = try $0.fetch(Bed.allMoods()) }
      let sql = try trace.statement("SELECT", containing: "ZMOOD")
      var array: UnsafeMutablePointer<cfloor_mood>?
      let count = cfloor_moods(bed.floor.handle, sql, &array)
      body()
      cfloor_free_moods(array, count)
    case .grdb:
      try GRDBArms(bed: bed).hold(body)
    }
  }
}
