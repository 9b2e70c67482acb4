import Foundation
import PostgresFixtures

/// Compares the store with a C program on libpq that runs the same statements.
///
/// Both run in turn in this process, in several rounds after one that isn't counted, and the minima
/// are compared.
@main
struct Bench {
  private var uri = ""
  private var log = ""
  private var only: String?
  private var rows = 100_000
  private var operations = 10_000
  private var rounds = 7

  private static let usage = """
    postgres-bench --url URI --log FILE [--only fetch|faults|insert|update] [--rows N] [--operations N] [--rounds N]

    """

  static func main() throws {
    var bench = Bench()
    guard bench.read(CommandLine.arguments.dropFirst()) else {
      FileHandle.standardError.write(Data(usage.utf8))
      exit(2)
    }
    try bench.run()
  }

  private mutating func read(_ arguments: ArraySlice<String>) -> Bool {
    var arguments = arguments
    while let option = arguments.popFirst(), let value = arguments.popFirst() {
      switch (option, Int(value).map { max(1, $0) }) {
      case ("--url", _): uri = value
      case ("--log", _): log = value
      case ("--only", _): only = value
      case ("--rows", let number?): rows = number
      case ("--operations", let number?): operations = number
      case ("--rounds", let number?): rounds = number
      default: return false
      }
    }
    return !uri.isEmpty && !log.isEmpty
  }

  private func run() throws {
    let bed = try Bed(uri: uri, log: URL(fileURLWithPath: log), rows: rows)
    print("workload                        libpq      store   ratio  limit  statements  median")
    for (name, make) in bed.workloads(operations) where only.map({ name == $0 }) ?? true {
      let workload = try make()
      var (floors, times): ([UInt64], [UInt64]) = ([], [])
      for round in 0...rounds {
        let (first, second) = (try workload.floor(), try workload.ours())
        guard round > 0 else { continue }
        floors.append(first)
        times.append(second)
      }
      (floors, times) = (floors.sorted(), times.sorted())
      let (floor, ours) = (floors[0], times[0])
      let median = Double(times[rounds / 2]) / Double(floors[rounds / 2])
      let ratio = Double(ours) / Double(floor)
      print(
        workload.name.padding(toLength: 26, withPad: " ", startingAt: 0)
          + String(format: "%8.1f ms", Double(floor) / 1e6)
          + String(format: "%8.1f ms", Double(ours) / 1e6)
          + String(format: "%8.2f", ratio) + String(format: "%7.1f", Workload.limit)
          + String(format: "%12d", workload.statements) + String(format: "%8.2f", median))
    }
  }
}

/// The same work in C and with the store.
struct Workload {
  /// The maximum ratio.
  static let limit = 1.5

  let name: String
  /// The number of statements that both execute.
  let statements: Int
  /// Each returns the time of the measured part in nanoseconds.
  let floor: () throws -> UInt64
  let ours: () throws -> UInt64
}

/// An error that stops the comparison.
struct BenchError: Error, CustomStringConvertible {
  let description: String
}
