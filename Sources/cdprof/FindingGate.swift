import ArgumentParser
import OpenCoreData
import Profiling
import ScenarioLanguage

/// The value of `--fail-on`: rules of findings with commas between them, or `any`.
struct FindingGate {
  static let any = "any"
  /// The words that it may have.
  static let words = RuleName.allCases.map(\.rawValue) + [any]
  private let rules: Set<String>

  /// - Throws: `ValidationError` for a word that isn't a rule.
  init(_ text: String) throws {
    let known = FindingGate.words
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    for word in words where !known.contains(word) {
      throw ValidationError(Messages.unknownRule(word, known: known))
    }
    rules = Set(words)
  }

  /// The names of the findings of a run that the gate does not let through, each once.
  func stopped(by result: RunResult) -> [String] {
    result.variants.flatMap(\.findings)
      .filter { rules.contains(FindingGate.any) || rules.contains($0.rule.rawValue) }
      .map(\.name)
      .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
