import ArgumentParser
import Foundation
import RunReports

/// `cdprof compare`: compares two results or two logs; changed counts can fail, times never do.
struct Compare: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Compare two results or two logs. Changed counts can fail the comparison; times are informational.",
    discussion: """
      Results are compared by variant, SQLDebug logs by section and statement. Times never \
      fail the comparison.

      Exit status: 0 if nothing in --fail-on applies, 2 if something does, 65 if a file isn't a \
      result or a log or if the two are of different kinds, 66 if a file is missing.
      """)

  @Argument(
    help: ArgumentHelp("The earlier result, as JSON, or log.", valueName: "before"),
    completion: .file())
  var before: String

  @Argument(
    help: ArgumentHelp("The later result, as JSON, or log.", valueName: "after"),
    completion: .file())
  var after: String

  @Option(
    help: ArgumentHelp(
      """
      The differences that fail, separated by commas: more (a cost increased), change (a count \
      differs), findings (a new finding fired), missing (a variant no longer exists), none, or \
      metrics that must not increase. The default is more,findings,missing.
      """, valueName: "words"), completion: .words(ComparisonFailureCriteria.words),
    transform: { try ComparisonFailureCriteria($0) })
  var failOn: ComparisonFailureCriteria?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if let problem = Messages.sharedInput([before, after]) { throw ValidationError(problem) }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let criteria = failOn ?? .standard
    let comparison = try ComparedInput.comparison(before, after)
    let failures = criteria.failures(of: comparison)
    if json {
      console.write(try ComparisonJSON.data(comparison, failures: failures))
    } else {
      console.write(ComparisonText.lines(comparison))
      console.write(failures.isEmpty ? [] : [""] + failures.map { "✗ \($0)" })
    }
    return failures.isEmpty ? .success : .expectationNotMet
  }
}
