import CFloor
import OpenCoreData

/// The shared state of the workloads on one store: the file, OpenCoreData's stack, and the floor's
/// connection.
final class Bed {
  let rows: Int
  let url: URL
  let stack: Stack
  let floor: FloorDatabase
  let builder: StoreBuilder
  private let pragmas: [String]

  init(rows: Int, builder: StoreBuilder) throws {
    self.rows = rows
    self.builder = builder
    url = try builder.store(rows: rows)
    let url = url
    let trace = try StatementTrace { _ = try Stack(url: url, model: builder.model) }
    stack = try Stack(url: url, model: builder.model)
    pragmas = trace.pragmas
    floor = try FloorDatabase(url: url, pragmas: pragmas)
  }

  /// Opens another connection of the floor.
  func anotherFloor() throws -> FloorDatabase {
    try FloorDatabase(url: url, pragmas: pragmas)
  }

  /// Returns the statements that SQLite runs for a block on a new context.
  func trace(_ block: (NSManagedObjectContext) throws -> Void) throws -> StatementTrace {
    try StatementTrace {
      let context = try Stack(url: url, model: builder.model).context()
      try context.performAndWait { try block(context) }
    }
  }

  /// Runs a block on a new context's queue, and returns the time that the block measured.
  func measured(_ block: (NSManagedObjectContext) throws -> UInt64) rethrows -> UInt64 {
    let context = stack.context()
    return try context.performAndWait { try block(context) }
  }

  /// Returns a fetch request for all moods.
  static func allMoods() -> NSFetchRequest<Mood> {
    NSFetchRequest<Mood>(entityName: "Mood")
  }

  /// Returns row indexes in a reproducible random order, distributed over the table.
  func shuffledPositions(_ count: Int) -> [Int] {
    var numbers = SplitMix(seed: 42)
    return Array((0..<rows).shuffled(using: &numbers).prefix(count))
  }
}
