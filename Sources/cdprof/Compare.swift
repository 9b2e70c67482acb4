import ArgumentParser
import Foundation
import RunReports

/// `cdprof compare`: two results or two logs side by side; counts are a gate, times are not.
struct Compare: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Compare two results or two logs. Changed counts can fail the comparison; times are informational.",
    discussion: """
      Results are compared variant by variant, logs of SQLDebug section by section and statement by \
      statement. Ends with 0 when no gate was missed, 2 when one was, 65 when a file is neither or \
      the two are not of one kind, 66 when one is missing. Times never fail.
      """)

  @Argument(
    help: ArgumentHelp("The result before, as JSON, or the log.", valueName: "before"),
    completion: .file())
  var before: String

  @Argument(
    help: ArgumentHelp("The result after, as JSON, or the log.", valueName: "after"),
    completion: .file())
  var after: String

  @Option(
    help: ArgumentHelp(
      """
      What fails, separated by commas: more (a cost has grown), change (a count differs), findings (a new \
      one fires), missing (a variant no longer exists), none, or metrics that may not grow. \
      more,findings,missing if not given.
      """, valueName: "words"), completion: .words(ComparisonGate.words),
    transform: { try ComparisonGate($0) })
  var failOn: ComparisonGate?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let gate = failOn ?? .standard
    let comparison = try ComparedInput.comparison(before, after)
    let failures = gate.failures(of: comparison)
    if json {
      console.say(try ComparisonJSON.data(comparison, failures: failures))
    } else {
      console.say(ComparisonText.lines(comparison))
      console.say(failures.isEmpty ? [] : [""] + failures.map { "✗ \($0)" })
    }
    return failures.isEmpty ? .success : .expectationMissed
  }
}
