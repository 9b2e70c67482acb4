import Foundation
import ManagedModel
import WorkbenchText

/// Finds the parts of a scenario that can't be exported as Core Data calls.
struct ExportCheck {
  private let scenario: Scenario
  private let lines: [String]

  init(_ scenario: Scenario) {
    self.scenario = scenario
    lines = Scenario.lines(of: scenario.text)
  }

  /// The problems with file, line, and column, in source order.
  ///
  /// Problems that variants share are listed once.
  var diagnostics: [ScenarioDiagnostic] {
    var problems = dataProblems + modelProblems
    for variant in scenario.variants {
      for step in variant.steps(sharing: scenario.steps) {
        guard let reason = step.verb.reasonNotExported else { continue }
        problems.append(
          LanguageProblem(
            "`\(step.verb.rawValue)` can't be exported: \(reason)", at: step.ranges.verb,
            nextStep: "remove the step from a copy of the scenario, and export the copy"))
      }
    }
    var seen: Set<SourceRange> = []
    return problems.sorted { ($0.range.line, $0.range.column) < ($1.range.line, $1.range.column) }
      .filter { seen.insert($0.range).inserted }
      .map { problem in
        let index = problem.range.line - 1
        return ScenarioDiagnostic(
          file: scenario.path, keyPath: "", problem: problem,
          sourceLine: lines.indices.contains(index) ? lines[index] : nil)
      }
  }

  private var dataProblems: [LanguageProblem] {
    if scenario.data.version != nil {
      return [
        LanguageProblem(
          "data of an older version can't be exported: an exported program has one version of the model",
          at: range(of: "version:", below: "data:"),
          nextStep: "remove `version` from a copy of the scenario, and export the copy")
      ]
    }
    guard case .copied = scenario.data.source else { return [] }
    return [
      LanguageProblem(
        "a copied store can't be exported: an exported program generates its rows",
        at: range(of: "store:", below: "data:"),
        nextStep: "specify the counts of entities in `data`")
    ]
  }

  private var modelProblems: [LanguageProblem] {
    ExportedModel.problems(of: scenario.model).map { sentence in
      LanguageProblem(
        "the model can't be exported: \(sentence), which can't be expressed in code",
        at: range(of: "model:", below: ""), nextStep: "export with a model that doesn't use it")
    }
  }

  /// Returns the source range of a key's first occurrence after a heading, or the start of the file
  /// if it isn't found.
  private func range(of key: String, below head: String) -> SourceRange {
    let start = head.isEmpty ? 0 : lines.firstIndex { $0.hasPrefix(head) } ?? 0
    for index in start..<max(start, lines.count) {
      guard let range = lines[index].range(of: key) else { continue }
      let column = lines[index].distance(from: lines[index].startIndex, to: range.lowerBound)
      return SourceRange(line: index + 1, column: column + 1, length: key.count - 1)
    }
    return SourceRange(line: 1, column: 1)
  }
}

extension Verb {
  /// The reason that a step with this verb can't be exported, or `nil` if it can.
  package var reasonNotExported: String? {
    switch self {
    case .sql: "Core Data has no API for it"
    case .index:
      "Core Data creates indexes only with the file; declare the index in the model"
    case .analyze: "Core Data gathers statistics only when it opens a store"
    case .pragma: "Core Data applies pragmas only when it opens a store"
    case .history: "Core Data tracks history only from when it opens a store"
    case .results: "an exported program has no results controllers"
    case .migrate, .finishMigration: "an exported program has one version of the model"
    case .undo: "on Apple platforms, the run loop determines the change groups"
    default: nil
    }
  }
}
