import LogAnalysis
import WorkbenchText

extension LogReportFormat {
  /// Returns the evaluation of a log's sections as a document.
  ///
  /// A section that isn't in the log is a test case that fails, and so are the sections beyond the
  /// limit. An expectation that can't be evaluated in a log is one that's skipped.
  static func junit(_ input: LogReportInput) -> String {
    let report = input.report
    let name = report.file.split(separator: "/").last.map(String.init) ?? report.file
    guard let evaluation = input.evaluation else {
      return suite(of: report.file, [JUnitSuite.Case(group: name, name: "runs")])
    }
    let evaluated = evaluation.results.keys.sorted().flatMap { position in
      (evaluation.results[position] ?? []).map {
        JUnitSuite.Case($0, in: "\(name).\(report.sections[position].name)")
      }
    }
    let missing = evaluation.missing.map { section in
      let message = "the log doesn't contain `cdprof: begin \(section.name)`"
      return JUnitSuite.Case(
        group: "\(name).\(section.name)", name: "section",
        outcome: .failed(message: message, text: message))
    }
    let leftOut = [evaluation.leftOut].compactMap(\.self).map { message in
      JUnitSuite.Case(
        group: name, name: "sections", outcome: .failed(message: message, text: message))
    }
    let skipped = evaluation.notEvaluated.map {
      JUnitSuite.Case(group: name, name: $0, outcome: .skipped("not evaluated in a log"))
    }
    return suite(of: report.file, evaluated + missing + leftOut + skipped)
  }

  private static func suite(of log: String, _ cases: [JUnitSuite.Case]) -> String {
    JUnitSuite(
      name: log, nanoseconds: 0, properties: [("cdprof", ToolVersion.current)], cases: cases
    ).text
  }
}
