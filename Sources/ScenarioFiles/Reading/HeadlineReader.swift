import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Reads a scenario's `metric` and `headline`, whose names refer to its variants.
struct HeadlineReader {
  let document: YAMLDocument
  let variants: [Variant]
  /// Returns the names of a variant that scopes in parentheses can use.
  let scopes: (Variant) -> ScopeResolver

  /// Returns the metric, or records a problem and returns `nil` if it isn't one of any variant.
  func metric(of entry: YAMLEntry) -> ScopedMetric? {
    guard let word = document.text(of: entry, wanted: "a metric, such as `rows`") else {
      return nil
    }
    return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let reference = try MetricReference(word)
      var problem: LanguageProblem?
      for variant in variants {
        do throws(LanguageProblem) {
          return try scopes(variant).scoped(reference)
        } catch {
          problem = problem ?? error
        }
      }
      if let problem { throw problem }
      return ScopedMetric(reference.metric)
    }
  }

  /// Returns the sentence, or records a problem and returns `nil` if braces don't match or a value
  /// doesn't exist.
  func headline(of entry: YAMLEntry) -> Headline? {
    guard let word = document.text(of: entry, wanted: "a sentence") else { return nil }
    return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      Headline(parts: try parts(of: word))
    }
  }

  private func parts(of word: Word) throws(LanguageProblem) -> [Headline.Part] {
    var parts: [Headline.Part] = []
    var text = ""
    var opening: Int?
    for (index, character) in word.text.enumerated() {
      switch (character, opening) {
      case ("{", nil):
        if !text.isEmpty { parts.append(.text(text)) }
        (text, opening) = ("", index)
      case ("}", let start?):
        let range = word.range(at: start + 1, length: max(1, text.count))
        let (metric, variant) = try value(of: Word(text, at: range))
        parts.append(.value(metric, variant: variant))
        (text, opening) = ("", nil)
      case ("{", _), ("}", _):
        throw HeadlineReader.unbalanced(at: word.range(at: index, length: 1))
      case (_, nil): text.append(character == "\n" ? " " : character)
      default: text.append(character)
      }
    }
    if let opening { throw HeadlineReader.unbalanced(at: word.range(at: opening, length: 1)) }
    if !text.isEmpty { parts.append(.text(text)) }
    return parts
  }

  /// Returns the metric and the variant of `VARIANT.METRIC`; the name of the variant can contain
  /// periods.
  ///
  /// - Throws: A problem if the variant or the metric doesn't exist.
  func value(of word: Word) throws(LanguageProblem) -> (metric: ScopedMetric, variant: String) {
    let named = variants.filter { word.text.hasPrefix($0.name + ".") }
    guard let variant = named.max(by: { $0.name.count < $1.name.count }) else {
      throw unknown(word)
    }
    let start = variant.name.count + 1
    let text = String(word.text.dropFirst(start))
    let range = word.range(at: start, length: max(1, text.count))
    let reference = try MetricReference(Word(text, at: range))
    return (try scopes(variant).scoped(reference), variant.name)
  }

  private func unknown(_ word: Word) -> LanguageProblem {
    let scope = word.text.firstIndex(of: "(") ?? word.text.endIndex
    let end = word.text[..<scope].lastIndex(of: ".")
    let name = String(word.text[..<(end ?? word.text.endIndex)])
    let names = variants.map(\.name)
    let example = "write VARIANT.METRIC, such as `\(names.first ?? "plain").selects`"
    guard end != nil else {
      return LanguageProblem(
        "`\(word.text)` isn't a variant and a metric", at: word.range, nextStep: example)
    }
    return LanguageProblem(
      "there's no variant `\(name)`", at: word.range(at: 0, length: max(1, name.count)),
      didYouMean: NearestName.of(name, among: names),
      nextStep: "use one of: \(ModelNames.list(names))")
  }

  private static func unbalanced(at range: SourceRange) -> LanguageProblem {
    LanguageProblem(
      "the braces of the headline don't match", at: range,
      nextStep: "enclose each value in braces, such as `{plain.selects}`")
  }
}

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
