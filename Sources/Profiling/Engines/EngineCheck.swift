import OpenCoreData
package import ScenarioLanguage
import WorkbenchText

/// Finds what an engine can't do in a scenario, before anything runs.
package struct EngineCheck {
  private let scenario: Scenario
  private let engine: any StoreEngine

  package init(_ scenario: Scenario, on engine: any StoreEngine) {
    self.scenario = scenario
    self.engine = engine
  }

  /// Throws all problems in the order of the file.
  ///
  /// - Throws: `ScenarioDiagnostics` with the location of each step and the next step.
  package func check() throws(ScenarioDiagnostics) {
    let problems = diagnostics.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    guard problems.isEmpty else { throw ScenarioDiagnostics(problems) }
  }

  private var diagnostics: [ScenarioDiagnostic] {
    var found: [ScenarioDiagnostic] = []
    let lines = Scenario.lines(of: scenario.text)
    func report(_ obstacle: EngineObstacle?, _ keyPath: String, at range: SourceRange) {
      guard let obstacle else { return }
      let line = lines.indices.contains(range.line - 1) ? lines[range.line - 1] : nil
      found.append(
        ScenarioDiagnostic(
          file: scenario.path, keyPath: keyPath,
          problem: LanguageProblem(obstacle.reason, at: range, nextStep: obstacle.nextStep),
          sourceLine: line))
    }
    func check(_ steps: [Step], _ keyPath: String) {
      for (index, step) in steps.enumerated() {
        report(engine.obstacle(to: step), "\(keyPath)[\(index)]", at: step.ranges.verb)
      }
    }
    for (key, obstacle) in [
      ("model", engine.obstacle(to: scenario.dataModel)),
      ("data", engine.obstacle(to: scenario.data)),
    ] {
      let line = lines.firstIndex { $0.hasPrefix("\(key):") } ?? 0
      report(obstacle, key, at: SourceRange(line: line + 1, column: 1, length: key.count))
    }
    check(scenario.steps, "steps")
    for (index, variant) in scenario.variants.enumerated() {
      check(variant.first, "variants[\(index)].first")
      check(variant.then, "variants[\(index)].then")
    }
    return found
  }
}
