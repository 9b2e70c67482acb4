import ManagedModel
import RunResults
import ScenarioLanguage

/// The result of a run as JUnit XML: a suite with a test case for each expectation.
enum JUnitReport {
  /// Returns the result of a run as a document.
  static func text(_ result: RunResult) -> String {
    let environment = result.environment
    var properties: [(name: String, value: String)] = [
      ("command", result.command), ("seed", String(result.seed)), ("scale", String(result.scale)),
      ("cdprof", environment.cdprof), ("sqlite", environment.sqlite),
      ("swift", environment.swift), ("machine", environment.machine), ("build", environment.build),
    ]
    if let jobs = environment.jobs { properties.append((name: "jobs", value: String(jobs))) }
    let scaled = result.scales.flatMap { run in
      run.variants.flatMap { variant in
        cases(of: "\(variant.name) at scale \(run.scale)", variant.expectations, in: result)
      }
    }
    let variants = ([ScaledRun(result)] + result.scales).flatMap(\.variants)
    return JUnitSuite(
      name: result.scenario, nanoseconds: variants.reduce(0) { $0 + $1.nanoseconds },
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
}
