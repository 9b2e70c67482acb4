import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Reads a scenario's `predict`: a question, or a list of questions.
struct PredictionReader {
  let document: YAMLDocument
  let variants: [Variant]
  let values: HeadlineReader

  static let keys = ["question", "least", "most", "count", "index", "hints", "why"]
  /// The keys that specify the answer; a question has exactly one of them.
  static let subjects = ["least", "most", "count", "index"]

  func predictions(of entry: YAMLEntry) -> [Prediction] {
    let elements = document.elements(of: entry)
    if elements.isEmpty {
      document.report(
        LanguageProblem(
          "`predict` is empty", at: entry.key.range,
          nextStep: "write `- {question: Which variant runs the fewest SELECTs?, least: selects}`"),
        at: entry.keyPath)
    }
    return elements.compactMap { node, keyPath in
      document.entries(of: node, at: keyPath, known: PredictionReader.keys, what: "a question")
        .flatMap { prediction(of: $0, at: keyPath, node: node) }
    }
  }

  private func prediction(
    of list: [YAMLEntry], at keyPath: String, node: Node
  ) -> Prediction? {
    let entries = Dictionary(
      list.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
    let asked = list.filter { PredictionReader.subjects.contains($0.key.text) }
    // An unknown key, which is reported already, may be the one that's missing.
    if asked.isEmpty, node.mapping?.count != list.count { return nil }
    guard let subject = asked.first, asked.count == 1 else {
      document.report(
        LanguageProblem(
          asked.isEmpty
            ? "the question has no answer to compute"
            : "`\(asked[0].key.text)` and `\(asked[1].key.text)` can't be combined",
          at: asked.last?.key.range ?? document.range(of: node),
          nextStep: "write one of: `least: selects`, `most: rows`, `count: VARIANT.selects`, "
            + "`index: VARIANT`"), at: keyPath)
      return nil
    }
    guard let question = entries["question"] else {
      document.report(
        LanguageProblem(
          "there's no question", at: document.range(of: node), nextStep: "write `question: …`"),
        at: keyPath)
      return nil
    }
    guard let text = document.text(of: question, wanted: "a sentence"),
      let subject = self.subject(of: subject)
    else { return nil }
    return Prediction(
      question: text.text.trimmedLines, subject: subject,
      hints: entries["hints"].map(hints) ?? [],
      why: entries["why"].flatMap { document.text(of: $0) }?.text.trimmedLines ?? "")
  }

  private func subject(of entry: YAMLEntry) -> Prediction.Subject? {
    switch entry.key.text {
    case "least": return values.metric(of: entry).map { .least($0) }
    case "most": return values.metric(of: entry).map { .most($0) }
    case "count":
      guard let word = document.text(of: entry, wanted: "a variant and a metric") else {
        return nil
      }
      return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
        let (metric, variant) = try values.value(of: word)
        return .count(metric, variant: variant)
      }
    default:
      guard let word = document.text(of: entry, wanted: "the name of a variant") else {
        return nil
      }
      return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
        .index(variant: try variants.named(word).name)
      }
    }
  }

  private func hints(of entry: YAMLEntry) -> [String] {
    document.elements(of: entry).compactMap { node, keyPath in
      let hint = YAMLEntry(key: entry.key, node: node, keyPath: keyPath)
      return document.text(of: hint, wanted: "sentences")?.text.trimmedLines
    }
  }
}

extension [Variant] {
  /// Returns the variant with a name.
  ///
  /// - Throws: A problem at the name if there's no such variant.
  func named(_ word: Word) throws(LanguageProblem) -> Variant {
    if let variant = first(where: { $0.name == word.text }) { return variant }
    let names = map(\.name)
    throw LanguageProblem(
      "there's no variant `\(word.text)`", at: word.range,
      didYouMean: NearestName.of(word.text, among: names),
      nextStep: "use one of: \(ModelNames.list(names))")
  }
}
