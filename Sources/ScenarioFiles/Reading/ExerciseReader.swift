import ScenarioLanguage
import WorkbenchText

/// Reads a scenario's `exercise`.
struct ExerciseReader {
  let document: YAMLDocument
  let variants: [Variant]
  /// Returns the names of a variant that scopes in parentheses can use.
  let scopes: (Variant) -> ScopeResolver

  static let keys = ["task", "variant", "budget"]

  func exercise(of entry: YAMLEntry) -> Exercise? {
    guard
      let list = document.entries(
        of: entry.node, at: entry.keyPath, known: ExerciseReader.keys, what: "an exercise")
    else { return nil }
    let entries = Dictionary(
      list.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
    for key in ExerciseReader.keys where entries[key] == nil {
      document.report(
        LanguageProblem(
          "the exercise has no `\(key)`", at: entry.key.range, nextStep: "write `\(key): …`"),
        at: entry.keyPath)
    }
    guard let task = entries["task"].flatMap({ document.text(of: $0, wanted: "a sentence") }),
      let name = entries["variant"].flatMap({ document.text(of: $0, wanted: "a variant") }),
      let budget = entries["budget"],
      let variant = document.noting(
        at: "\(entry.keyPath).variant",
        { () throws(LanguageProblem) in
          try variants.named(name)
        }),
      let block = ExpectReader(document: document, scopes: scopes(variant), source: .ours)
        .block(of: budget)
    else { return nil }
    return Exercise(task: task.text.trimmedLines, variant: variant.name, budget: block)
  }
}
