import ArgumentParser
import CFloor
import Foundation

/// What `gates` runs as a child of itself: the counts of one row, printed as JSON.
struct CountReading: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Count statements, rows and allocations of one row.")

  @Argument(help: "The row's name.")
  var name: String

  @Option(help: "Rows of the table.")
  var rows = 10_000

  func run() throws {
    cfloor_trace_begin()
    let plan = try Plan(Bed(rows: rows, builder: .inTemporaryFolder()))
    guard let entry = plan.entries.first(where: { $0.name == name }) else {
      throw ValidationError("no row is called so; there are: \(plan.entries.map(\.name))")
    }
    let workload = try entry.make()
    guard let ours = workload.arms.first(where: { $0.program == .ours }) else {
      throw BenchError("'\(name)' has no arm of ours")
    }
    // The first run prepares statements and makes what is made once.
    for _ in 0..<2 { _ = try ours.run() }
    let counts = cfloor_measured_last()
    let operations = Double(workload.operations)
    let gate = Gate(
      name: name, rows: rows, operations: workload.operations, statements: counts.statements,
      stepped: counts.rows, allocations: Double(counts.allocations) / operations)
    FileHandle.standardOutput.write(try JSONEncoder().encode(gate))
  }
}
