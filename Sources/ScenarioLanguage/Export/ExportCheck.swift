import Foundation
import OpenCoreData
import WorkbenchText

/// Finds what of a scenario Core Data has no call for.
struct ExportCheck {
  private let scenario: Scenario
  private let lines: [String]

  init(_ scenario: Scenario) {
    self.scenario = scenario
    lines = scenario.text.components(separatedBy: "\n")
  }

  /// Each with file, line and column, in the order of the file; what several variants share, once.
  var diagnostics: [ScenarioDiagnostic] {
    var problems = dataProblems + modelProblems
    for variant in scenario.variants {
      for step in variant.steps(sharing: scenario.steps) {
        guard let reason = step.verb.whyNotExported else { continue }
        problems.append(
          LanguageProblem(
            "`\(step.verb.rawValue)` cannot be exported: \(reason)", at: step.places.verb,
            nextStep: "take the step out of a copy of the scenario, and export that"))
      }
    }
    var seen: Set<SourceRange> = []
    return problems.sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
      .filter { seen.insert($0.place).inserted }
      .map { problem in
        let index = problem.place.line - 1
        return ScenarioDiagnostic(
          file: scenario.path, keyPath: "", problem: problem,
          sourceLine: lines.indices.contains(index) ? lines[index] : nil)
      }
  }

  private var dataProblems: [LanguageProblem] {
    guard case .copied = scenario.data.source else { return [] }
    return [
      LanguageProblem(
        "a copied store cannot be exported: a program makes its rows itself",
        at: place(of: "store:", below: "data:"),
        nextStep: "write the counts of entities in `data`")
    ]
  }

  private var modelProblems: [LanguageProblem] {
    ExportedModel.problems(of: scenario.model).map { sentence in
      LanguageProblem(
        "the model cannot be exported: \(sentence), which can't be expressed in code",
        at: place(of: "model:", below: ""), nextStep: "export with a model that doesn't use it")
    }
  }

  /// Where a key is first written behind another one; the file's beginning when it is not found.
  private func place(of key: String, below head: String) -> SourceRange {
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
  /// Why a step of the verb has no counterpart in a program; nil when it has one.
  package var whyNotExported: String? {
    switch self {
    case .sql: "it runs past the framework, which has no call for it"
    case .index: "the framework creates indexes only with the file; declare it in the model"
    case .analyze: "the framework gathers statistics only when it opens a store"
    case .pragma: "the framework takes pragmas only when it opens a store"
    case .undo: "which changes are one group is the run loop's choice on Apple's systems"
    default: nil
    }
  }
}
