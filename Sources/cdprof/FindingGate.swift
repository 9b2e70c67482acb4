import ArgumentParser
import OpenCoreData
import Profiling
import ScenarioLanguage

/// The value of `run --fail-on`: finding rules, separated by commas, or `any`.
struct FindingGate {
  static let any = "any"
  /// The valid values: the name of every rule, and `any`.
  static let words = RuleName.allCases.map(\.rawValue) + [any]
  private let rules: Set<String>

  /// - Throws: A `ValidationError` for an unknown rule.
  init(_ text: String) throws {
    let known = FindingGate.words
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    for word in words where !known.contains(word) {
      throw ValidationError(Messages.unknownRule(word, known: known))
    }
    rules = Set(words)
  }

  /// Returns the names of a run's findings that fail it, without duplicates.
  func stopped(by result: RunResult) -> [String] {
    result.variants.flatMap(\.findings)
      .filter { rules.contains(FindingGate.any) || rules.contains($0.rule.rawValue) }
      .map(\.name)
      .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
