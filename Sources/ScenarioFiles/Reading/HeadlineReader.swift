import OpenCoreData
import ScenarioLanguage
import WorkbenchText

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
