import ArgumentParser
import Foundation

/// Compares counts that repeat with stored ones; for CI, where times say nothing.
struct CheckGates: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gates",
    abstract: "Check statements, rows, allocations and instructions; 2 when one differs.",
    discussion: """
      Allocations need libCAllocations.so, which `swift build` leaves beside the program; \
      instructions need valgrind and objcopy and are left out without them. Where SQLite, Swift or \
      the distribution are others than those of the stored counts, statements and rows alone count.
      """)

  @Option(help: "The stored counts.")
  var file = "Benchmarks/gates.json"

  @Flag(help: "Store what was counted.")
  var write = false

  @Flag(inversion: .prefixedNo, help: "Count instructions by callgrind, which takes a minute.")
  var instructions = true

  private static let names = [
    "fetch, realized", "fetch, faults over cached rows", "fetch, keys alone",
    "fault from the database", "fault from the row cache", "prefetch of a to-many",
    "insert and save", "generated property, Int", "generated property, String", "@Managed, Int",
    "@Managed, String", "value(forKey:)",
  ]

  private static let rows = 10_000

  func run() throws {
    let builder = try StoreBuilder.inTemporaryFolder()
    try builder.clear()
    _ = try builder.store(rows: Self.rows)
    let counted = try count(in: builder.folder)
    let url = URL(fileURLWithPath: file)
    if write {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try encoder.encode(StoredGates(libraries: .present, gates: counted)).write(to: url)
      return
    }
    let stored = try JSONDecoder().decode(StoredGates.self, from: Data(contentsOf: url))
    guard compare(counted, with: stored) else { throw ExitCode(2) }
  }

  private func count(in folder: URL) throws -> [Gate] {
    let callgrind = instructions ? try Callgrind(folder: folder) : nil
    if instructions, callgrind == nil { print("no valgrind or objcopy: instructions are left out") }
    let library = Child.program.deletingLastPathComponent()
      .appendingPathComponent("libCAllocations.so")
    guard FileManager.default.fileExists(atPath: library.path) else {
      throw BenchError("\(library.path) is missing: build the whole package, not the program alone")
    }
    return try Self.names.map { name in
      let data = try Child.output(
        of: Child.program, ["count", name, "--rows", "\(Self.rows)"],
        environment: ["LD_PRELOAD": library.path])
      var gate = try JSONDecoder().decode(Gate.self, from: data)
      if let total = try callgrind?.instructions(of: name, rows: Self.rows) {
        gate.instructions = Double(total) / Double(gate.operations)
      }
      return gate
    }
  }

  private func compare(_ counted: [Gate], with stored: StoredGates) -> Bool {
    var holds = true
    let isSame = stored.libraries == .present
    if !isSame { print("other libraries than the stored counts': statements and rows alone count") }
    for gate in counted {
      guard let before = stored.gates.first(where: { $0.name == gate.name }) else {
        print("\(gate.name): not stored yet; bench gates --write stores it")
        holds = false
        continue
      }
      let differences = gate.differences(from: before, withSameLibraries: isSame)
      if !differences.isEmpty { holds = false }
      let verdict = differences.isEmpty ? "as stored" : differences.joined(separator: "; ")
      print("\(gate.name): \(verdict)")
    }
    return holds
  }
}
