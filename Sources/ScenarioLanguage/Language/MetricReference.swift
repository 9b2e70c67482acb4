import OpenCoreData
package import ProfileEvents
package import WorkbenchText

/// A metric as it is written, with its scope in brackets: `selects`, `misses(Country)`.
package struct MetricReference: Sendable, Hashable {
  package let metric: Metric
  /// What stands in the brackets: an entity, `Entity.relationship` or a step's name.
  package let scope: Word?
  /// The whole of it.
  package let place: SourcePlace

  /// Reads a metric.
  ///
  /// - Throws: a problem when the word is no metric, takes no scope, or can be no expectation because
  ///   two runs give two numbers.
  package init(_ word: Word) throws(LanguageProblem) {
    let characters = Array(word.text)
    let opening = characters.firstIndex(of: "(") ?? characters.count
    let name = String(characters[..<opening])
    let namePlace = word.place(at: 0, length: opening)
    guard let metric = Metric(rawValue: name) else {
      let known = Metric.allCases.filter(\.isExact).map(\.rawValue)
      throw LanguageProblem(
        "unknown metric `\(name)`", at: namePlace, didYouMean: NearestName.of(name, among: known),
        nextStep: "the metrics are: \(known.joined(separator: ", "))")
    }
    guard metric.isExact else {
      throw LanguageProblem(
        "`\(name)` differs from run to run and cannot be expected", at: namePlace,
        nextStep: "expect counts; times are in the report")
    }
    self.metric = metric
    self.place = word.place
    guard opening < characters.count else {
      scope = nil
      return
    }
    guard characters.last == ")", opening + 2 < characters.count else {
      throw LanguageProblem(
        "a scope is written in brackets, as in `\(name)(Country)`", at: word.place,
        nextStep: "write `\(name)` alone or close the bracket")
    }
    let inner = String(characters[(opening + 1)..<(characters.count - 1)])
    scope = Word(inner, at: word.place(at: opening + 1, length: inner.count))
  }

  package static func == (first: MetricReference, second: MetricReference) -> Bool {
    first.metric == second.metric && first.scope?.text == second.scope?.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(metric)
    hasher.combine(scope?.text)
  }

  /// As written, without blanks.
  package var text: String {
    scope.map { "\(metric.rawValue)(\($0.text))" } ?? metric.rawValue
  }
}
