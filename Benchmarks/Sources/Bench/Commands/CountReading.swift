import ArgumentParser
import CFloor
import Foundation

/// The command that `gates` runs in a child process.
///
/// Prints the counts of one row as JSON.
struct CountReading: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Count the statements, rows, and allocations of one row.")

  @Argument(help: "The name of the row.")
  var name: String

  @Option(help: "The number of rows in the table.")
  var rows = 10_000

  func run() throws {
    cfloor_trace_begin()
    let plan = try Plan(Bed(rows: rows, builder: .inTemporaryFolder()))
    guard let entry = plan.entries.first(where: { $0.name == name }) else {
      throw ValidationError("unknown row '\(name)'; the rows are: \(plan.entries.map(\.name))")
    }
    let workload = try entry.make()
    guard let ours = workload.arms.first(where: { $0.program == .ours }) else {
      throw BenchError("'\(name)' has no arm for OpenCoreData")
    }
    // The first run prepares statements and makes one-time allocations.
    for _ in 0..<2 { _ = try ours.run() }
    let counts = cfloor_measured_last()
    let operations = Double(workload.operations)
    let result = WorkloadCounts(
      name: name, rows: rows, operations: workload.operations, statements: counts.statements,
      stepped: counts.rows, allocations: Double(counts.allocations) / operations)
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }
}
