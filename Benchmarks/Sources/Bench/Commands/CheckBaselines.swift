import ArgumentParser
import Foundation

/// Compares reproducible counts with stored ones, for CI, where times aren't reliable.
struct CheckBaselines: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gates",
    abstract: "Check the counts of statements, rows, allocations, and instructions.",
    discussion: """
      Exits with status 2 if a count differs. Counting allocations requires libCAllocations.so, \
      which `swift build` creates next to the program. Counting instructions requires valgrind and \
      objcopy, and is skipped without them. If SQLite, Swift, or the distribution differs from that \
      of the stored counts, only statements and rows are compared.
      """)

  @Option(help: "The stored counts.")
  var file = "Benchmarks/baselines.json"

  @Flag(help: "Store the counts instead of comparing them.")
  var write = false

  @Flag(inversion: .prefixedNo, help: "Count instructions with callgrind, which takes a minute.")
  var instructions = true

  private static let names = [
    "fetch, realized", "fetch, faults over cached rows", "fetch, object IDs only",
    "fault from the database", "fault from the row cache", "prefetch of a to-many",
    "insert and save", "generated property, Int", "generated property, String", "@Managed, Int",
    "@Managed, String", "value(forKey:)", "migrate, attribute added",
    "migrate, attribute with a default added", "migrate, attribute removed",
    "migrate, entity renamed, index added", "migrate with a manager, attributes",
    "migrate with a manager, relationships",
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
      try encoder.encode(Baselines(libraries: .present, workloads: counted)).write(to: url)
      return
    }
    let stored = try JSONDecoder().decode(Baselines.self, from: Data(contentsOf: url))
    guard compare(counted, with: stored) else { throw ExitCode(2) }
  }

  private func count(in folder: URL) throws -> [WorkloadCounts] {
    let callgrind = instructions ? try Callgrind(folder: folder) : nil
    if instructions, callgrind == nil {
      print("valgrind or objcopy not found; instructions aren't counted")
    }
    let library = Child.program.deletingLastPathComponent()
      .appendingPathComponent("libCAllocations.so")
    guard FileManager.default.fileExists(atPath: library.path) else {
      throw BenchError("\(library.path) is missing: build the entire package, not only the program")
    }
    return try Self.names.map { name in
      let data = try Child.output(
        of: Child.program, ["count", name, "--rows", "\(Self.rows)"],
        environment: ["LD_PRELOAD": library.path])
      var counts = try JSONDecoder().decode(WorkloadCounts.self, from: data)
      if let total = try callgrind?.instructions(of: name, rows: Self.rows) {
        counts.instructions = Double(total) / Double(counts.operations)
      }
      return counts
    }
  }

  private func compare(_ counted: [WorkloadCounts], with stored: Baselines) -> Bool {
    var isUnchanged = true
    let isSame = stored.libraries == .present
    if !isSame {
      print("the libraries differ from those of the stored counts; comparing statements and rows")
    }
    for counts in counted {
      guard let before = stored.workloads.first(where: { $0.name == counts.name }) else {
        print("\(counts.name): not stored yet; run `bench gates --write`")
        isUnchanged = false
        continue
      }
      let differences = counts.differences(from: before, withSameLibraries: isSame)
      if !differences.isEmpty { isUnchanged = false }
      let result = differences.isEmpty ? "unchanged" : differences.joined(separator: "; ")
      print("\(counts.name): \(result)")
    }
    return isUnchanged
  }
}
