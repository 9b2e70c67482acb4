import ArgumentParser

/// Runs one arm of one row again and again, for a profiler.
struct Profile: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run one arm of one row.",
    discussion: """
      The measured part lies between calls of cfloor_measured_begin and cfloor_measured_end: \
      callgrind's --zero-before and --dump-before take those names, perf a caller named timed.
      """)

  @Argument(help: "Part of the row's name; the first that matches is run.")
  var name: String

  @Option(help: "C, ours or GRDB.")
  var arm = "ours"

  @Option(help: "Rows of the table.")
  var rows = 100_000

  @Option(help: "How often the arm is run.")
  var rounds = 10

  func run() throws {
    let plan = try Plan(Bed(rows: rows, builder: .inTemporaryFolder()))
    guard let entry = plan.entries.first(where: { $0.name.contains(name) }) else {
      throw ValidationError("no row is called so; there are: \(plan.entries.map(\.name))")
    }
    let arms = try entry.make().arms.filter { $0.program.rawValue == arm }
    guard !arms.isEmpty else { throw ValidationError("'\(entry.name)' has no arm '\(arm)'") }
    for _ in 0..<rounds { for arm in arms { _ = try arm.run() } }
  }
}
