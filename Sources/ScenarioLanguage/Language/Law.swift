package import WorkbenchText

/// What a metric must be: `1 + Mood + Country`, `at most 100`, `at least Mood`, `2..ceil(Mood / 20)`.
package struct Law: Sendable, Equatable {
  /// How the metric stands to the expressions.
  package enum Relation: Sendable, Equatable {
    case equal(CountExpression)
    case atMost(CountExpression)
    case atLeast(CountExpression)
    case range(CountExpression, CountExpression)
  }

  /// As written.
  package let text: String
  package let relation: Relation
  /// Where it is written.
  package let place: SourcePlace

  /// Reads a law.
  ///
  /// - Throws: a problem at the first character that cannot be understood.
  package init(_ word: Word) throws(LanguageProblem) {
    text = word.text
    place = word.place
    if let bound = Law.rest(of: word, after: "at most") {
      relation = .atMost(try CountExpression(bound))
    } else if let bound = Law.rest(of: word, after: "at least") {
      relation = .atLeast(try CountExpression(bound))
    } else if let (low, high) = Law.ends(of: word) {
      relation = .range(try CountExpression(low), try CountExpression(high))
    } else {
      relation = .equal(try CountExpression(word))
    }
  }

  package static func == (first: Law, second: Law) -> Bool {
    first.relation == second.relation
  }

  /// The expressions, in the order of writing.
  package var expressions: [CountExpression] {
    switch relation {
    case .equal(let only), .atMost(let only), .atLeast(let only): [only]
    case .range(let low, let high): [low, high]
    }
  }

  /// The least and the most the metric may be.
  ///
  /// - Throws: `LawError` as its expressions, when the least is more than the most, and when no count
  ///   could be within them.
  package func bounds(in scope: LawScope) throws(LawError) -> ClosedRange<Int> {
    let bounds = try range(in: scope)
    guard bounds.upperBound >= 0 else {
      throw LawError(
        text: text, message: "no count can be \(bounds.upperBound)", place: place)
    }
    return bounds
  }

  private func range(in scope: LawScope) throws(LawError) -> ClosedRange<Int> {
    switch relation {
    case .equal(let only):
      let value = try only.value(in: scope)
      return value...value
    case .atMost(let only):
      return .min...(try only.value(in: scope))
    case .atLeast(let only):
      return (try only.value(in: scope))...(.max)
    case .range(let low, let high):
      let (least, most) = (try low.value(in: scope), try high.value(in: scope))
      guard least <= most else {
        throw LawError(
          text: text, message: "it goes from \(least) down to \(most)", place: place)
      }
      return least...most
    }
  }

  /// The number beside the law in a report: its value, or the bound nearest to it.
  ///
  /// - Throws: `LawError` as `bounds(in:)`.
  package func value(in scope: LawScope) throws(LawError) -> Int {
    let bounds = try bounds(in: scope)
    return bounds.upperBound == .max ? bounds.lowerBound : bounds.upperBound
  }

  /// The law with its numbers worked out: `61`, `at most 100`, `2..5`.
  ///
  /// - Throws: `LawError` as `bounds(in:)`.
  package func expectation(in scope: LawScope) throws(LawError) -> String {
    let bounds = try bounds(in: scope)
    switch relation {
    case .equal: return String(bounds.lowerBound)
    case .atMost: return "at most \(bounds.upperBound)"
    case .atLeast: return "at least \(bounds.lowerBound)"
    case .range: return "\(bounds.lowerBound)..\(bounds.upperBound)"
    }
  }

  private static func rest(of word: Word, after prefix: String) -> Word? {
    guard word.text.hasPrefix(prefix + " ") else { return nil }
    return part(of: word, from: prefix.count + 1, to: word.text.count)
  }

  private static func ends(of word: Word) -> (low: Word, high: Word)? {
    let characters = Array(word.text)
    let dots = characters.indices.dropLast().first {
      characters[$0] == "." && characters[$0 + 1] == "."
    }
    guard let dots else { return nil }
    return (
      part(of: word, from: 0, to: dots), part(of: word, from: dots + 2, to: characters.count)
    )
  }

  private static func part(of word: Word, from start: Int, to end: Int) -> Word {
    let text = String(Array(word.text)[start..<end])
    return Word(text, at: word.place(at: start, length: end - start))
  }
}
