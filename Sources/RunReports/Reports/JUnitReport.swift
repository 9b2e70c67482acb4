import LogAnalysis
import OpenCoreData
package import Profiling
import ScenarioLanguage
import WorkbenchText

/// JUnit XML: one suite for a scenario or a log, with a test case for each expectation.
package enum JUnitReport {
  /// Returns the result of a run as a document.
  package static func text(_ result: RunResult) -> String {
    let environment = result.environment
    let properties: [(name: String, value: String)] = [
      ("command", result.command), ("seed", String(result.seed)), ("scale", String(result.scale)),
      ("cdprof", environment.cdprof), ("sqlite", environment.sqlite),
      ("swift", environment.swift), ("machine", environment.machine), ("build", environment.build),
    ]
    let scaled = result.scales.flatMap { run in
      run.variants.flatMap { variant in
        cases(of: "\(variant.name) at scale \(run.scale)", variant.expectations, in: result)
      }
    }
    return JUnitSuite(
      name: result.scenario, nanoseconds: result.variants.reduce(0) { $0 + $1.nanoseconds },
      properties: properties + (result.engine.map { [("engine", $0.text)] } ?? []),
      cases: result.variants.flatMap { cases(of: $0.name, $0.expectations, in: result) } + scaled
    ).text
  }

  /// Returns a test case for each expectation, or one that passes if there are none.
  private static func cases(
    of variant: String, _ expectations: [ExpectationResult], in result: RunResult
  ) -> [JUnitSuite.Case] {
    let name = result.file.split(separator: "/").last.map(String.init) ?? result.scenario
    let group = "\(name).\(variant)"
    guard !expectations.isEmpty else { return [JUnitSuite.Case(group: group, name: "runs")] }
    return expectations.map { JUnitSuite.Case($0, in: group) }
  }

  /// Returns the evaluation of a log's sections as a document.
  ///
  /// A section that isn't in the log is a test case that fails, and an expectation that can't be
  /// evaluated in a log is one that's skipped.
  static func text(_ input: LogReportInput) -> String {
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
    let skipped = evaluation.notEvaluated.map {
      JUnitSuite.Case(group: name, name: $0, outcome: .skipped("not evaluated in a log"))
    }
    return suite(of: report.file, evaluated + missing + skipped)
  }

  private static func suite(of log: String, _ cases: [JUnitSuite.Case]) -> String {
    JUnitSuite(
      name: log, nanoseconds: 0, properties: [("cdprof", ToolVersion.current)], cases: cases
    ).text
  }
}
