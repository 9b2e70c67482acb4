import ArgumentParser

/// Runs one arm of one row repeatedly, for a profiler.
struct Profile: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run one arm of one row, for a profiler.",
    discussion: """
      The measured part is between the calls to cfloor_measured_begin and cfloor_measured_end. \
      Pass these names to callgrind's --zero-before and --dump-before. In perf, select the \
      caller `timed`.
      """)

  @Argument(help: "A part of the row's name; the first row that matches runs.")
  var name: String

  @Option(help: "The arm to run, such as C, ours, or GRDB.")
  var arm = "ours"

  @Option(help: "The number of rows in the table.")
  var rows = 100_000

  @Option(help: "The number of times to run the arm.")
  var rounds = 10

  func run() throws {
    let plan = try Plan(Bed(rows: rows, builder: .inTemporaryFolder()))
    guard let entry = plan.entries.first(where: { $0.name.contains(name) }) else {
      throw ValidationError("no row matches '\(name)'; the rows are: \(plan.entries.map(\.name))")
    }
    let arms = try entry.make().arms.filter { $0.program.rawValue == arm }
    guard !arms.isEmpty else { throw ValidationError("'\(entry.name)' has no arm '\(arm)'") }
    for _ in 0..<rounds { for arm in arms { _ = try arm.run() } }
  }
}
