import ManagedModel
import ProfileEvents
package import RunResults
package import ScenarioLanguage
import WorkbenchText

/// An error that GitHub Actions shows at a line of a file, as the workflow command of its output.
package struct GitHubAnnotation: Sendable, Equatable {
  /// The file, relative to the repository.
  package var file: String
  private let line: Int
  private let column: Int?
  private let title: String
  private let message: String

  /// - Parameters:
  ///   - file: The file, relative to the repository.
  ///   - line: The line, starting at 1.
  ///   - column: The column, starting at 1; `nil` for the line as a whole.
  ///   - title: The title, on one line.
  ///   - message: The message, of one or more lines.
  package init(file: String, line: Int, column: Int? = nil, title: String, message: String) {
    (self.file, self.line, self.column) = (file, line, column)
    (self.title, self.message) = (title, message)
  }

  /// Creates the annotation of a step that failed.
  package init(_ failure: StepFailure) {
    self.init(
      file: failure.location.file, line: failure.location.line, title: "failed step",
      message: failure.description)
  }

  /// Returns an annotation for each expectation of a result that isn't met.
  package static func unmet(in result: RunResult) -> [GitHubAnnotation] {
    let scales = [ScaledRun(result)] + result.scales
    return scales.flatMap { run in
      run.variants.flatMap { variant in
        variant.expectations.filter(\.isUnmet).map { expectation in
          let text = expectation.expectedText
          let formula = expectation.calculation.map { " (\($0))" } ?? ""
          return GitHubAnnotation(
            file: expectation.location.file, line: expectation.location.line,
            title: "\(VariantLabel.text(variant.name, scale: run.scale)) · \(expectation.metric)",
            message: (["expected \(text)\(formula), actual \(expectation.actualText)"]
              + expectation.differences).joined(separator: "\n"))
        }
      }
    }
  }

  /// Returns an annotation for each of some findings of a result, at the line that caused it.
  ///
  /// - Parameter isIncluded: A closure that returns whether a finding is annotated.
  package static func findings(
    in result: RunResult, where isIncluded: (Finding) -> Bool
  ) -> [GitHubAnnotation] {
    result.variants.flatMap { variant in
      variant.findings.filter(isIncluded).map { finding in
        GitHubAnnotation(
          file: finding.callSite?.file ?? result.file, line: finding.callSite?.line ?? 1,
          title: "\(variant.name) · \(finding.name)",
          message: "\(finding.counted)\nfix: \(finding.fix.text)")
      }
    }
  }

  /// Returns an annotation for each error in a scenario.
  package static func errors(_ diagnostics: ScenarioDiagnostics) -> [GitHubAnnotation] {
    diagnostics.diagnostics.map { problem in
      GitHubAnnotation(
        file: problem.file, line: problem.line, column: problem.column,
        title: "invalid scenario", message: "\(problem.problem.text)\n\(problem.nextStep)")
    }
  }

  /// The line to print: `::error file=faults.yml,line=16,title=plain::expected 2, actual 61`.
  ///
  /// Control characters are escaped as in other output, and what ends a property or the line as
  /// GitHub requires.
  package var text: String {
    let properties = [
      "file=\(GitHubAnnotation.property(file))", "line=\(line)", column.map { "col=\($0)" },
      "title=\(GitHubAnnotation.property(title))",
    ].compactMap(\.self)
    return "::error \(properties.joined(separator: ","))::\(GitHubAnnotation.data(message))"
  }

  private static func data(_ text: String) -> String {
    let lines = text.unicodeScalars.filter { $0 != "\r" }.split(
      separator: "\n", omittingEmptySubsequences: false)
    return lines.map { PrintableText.line(String($0)).replacingScalars(["%": "%25"]) }
      .joined(separator: "%0A")
  }

  private static func property(_ text: String) -> String {
    data(text).replacingScalars([":": "%3A", ",": "%2C"])
  }
}
