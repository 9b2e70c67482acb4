import Foundation
import OpenCoreData
import RunReports
import RunResults
import ScenarioLanguage
import WorkbenchText

/// What `cdprof run` adds to its output in a job of GitHub Actions: annotations, and a summary.
struct GitHubActions: Sendable {
  /// The report of a scenario in the summary.
  struct Report {
    var passes: Bool
    /// Markdown that ends with a line feed.
    var text: String
  }

  /// The maximum size of the summary of a step, in bytes, which GitHub sets.
  private static let summarySize = 1 << 20

  /// The job of this process; `nil` outside of GitHub Actions.
  static let current = GitHubActions(ProcessInfo.processInfo.environment)

  /// The folder of the repository.
  private let workspace: String?
  /// The file that gets the summary.
  private let summary: String?

  init?(_ environment: [String: String]) {
    guard environment["GITHUB_ACTIONS"] == "true" else { return nil }
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    workspace = value("GITHUB_WORKSPACE")
    summary = value("GITHUB_STEP_SUMMARY")
  }

  /// Prints an annotation for each expectation that isn't met.
  func annotate(_ result: RunResult, _ console: Console) {
    write(GitHubAnnotation.unmet(in: result), console)
  }

  /// Prints an annotation for each finding that fails the run.
  func annotate(_ result: RunResult, _ criteria: FindingFailureCriteria, _ console: Console) {
    write(GitHubAnnotation.findings(in: result, where: criteria.isFailure), console)
  }

  /// Prints an annotation for each count above the baseline, at its variant.
  func annotate(
    _ increases: [BaselineComparison.Increase], of scenario: Scenario, _ console: Console
  ) {
    write(
      increases.map { increase in
        GitHubAnnotation(
          file: scenario.path, line: scenario.line(ofVariant: increase.variant),
          title: "\(increase.label) · \(increase.count.metric)", message: increase.numbers)
      }, console)
  }

  /// Prints the annotations of an error in a scenario; other errors have no line.
  func annotate(_ error: any Error, _ console: Console) {
    switch error {
    case let diagnostics as ScenarioDiagnostics:
      write(GitHubAnnotation.errors(diagnostics), console)
    case let failure as StepFailure: write([GitHubAnnotation(failure)], console)
    default: break
    }
  }

  /// Prints annotations, whose files are relative to the current folder.
  private func write(_ annotations: [GitHubAnnotation], _ console: Console) {
    console.write(
      annotations.map { annotation in
        var annotation = annotation
        annotation.file = inRepository(annotation.file)
        return annotation.text
      })
  }

  /// Returns a path relative to the repository's folder; an absolute path if it's elsewhere.
  private func inRepository(_ path: String) -> String {
    guard let workspace else { return path }
    let folder = URL(fileURLWithPath: workspace, isDirectory: true).standardizedFileURL.path
    let full = URL(fileURLWithPath: path).standardizedFileURL.path
    return full.hasPrefix("\(folder)/") ? String(full.dropFirst(folder.count + 1)) : full
  }

  /// Adds reports to the summary of the step, as far as they fit; those of failed scenarios first.
  ///
  /// - Parameter reports: The reports as Markdown, in the order of the scenarios.
  /// - Throws: An `NSError` of the file system.
  func summarize(_ reports: [Report]) throws {
    guard let summary, !reports.isEmpty else { return }
    let file = open(summary, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o666)
    guard file >= 0 else { throw OutputFile.error(errno, summary) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, FileKind.isRegular(status.st_mode) else {
      throw OutputFile.error(EINVAL, summary)
    }
    let text = GitHubActions.summary(
      of: reports, limit: GitHubActions.summarySize - Int(status.st_size))
    if let problem = OutputFile.append(text, to: file) {
      throw OutputFile.error(problem, summary)
    }
  }

  /// Returns the reports that fit into a number of bytes, and how many don't.
  static func summary(of reports: [Report], limit: Int) -> String {
    let sorted = reports.filter { !$0.passes } + reports.filter(\.passes)
    func note(_ count: Int) -> String {
      "\(NumberText.counted(count, "more scenario")), which a summary of 1 MiB can't contain\n"
    }
    let reserve = note(sorted.count).utf8.count
    var text = ""
    for (index, report) in sorted.enumerated() {
      let next = PrintableText.escaped(report.text) + "\n"
      guard text.utf8.count + next.utf8.count <= limit - reserve else {
        let rest = note(sorted.count - index)
        return text + (text.utf8.count + rest.utf8.count <= limit ? rest : "")
      }
      text += next
    }
    return text
  }
}

extension GitHubActions.Report {
  /// Creates the report of a result.
  ///
  /// - Parameters:
  ///   - result: The result.
  ///   - comparison: The comparison with a baseline that it must not exceed.
  ///   - hasFailures: Whether it has findings that fail the run.
  init(_ result: RunResult, _ comparison: BaselineComparison?, hasFailures: Bool) {
    passes = result.passes && comparison?.increases.isEmpty != false && !hasFailures
    text = [MarkdownReport.text(result), comparison?.markdown ?? ""]
      .filter { !$0.isEmpty }.joined(separator: "\n")
  }
}
