package import WorkbenchText

/// The formula that a metric must satisfy, such as `1 + Mood + Country`, `at most 100`,
/// `at least Mood`, or `2..ceil(Mood / 20)`.
package struct CountConstraint: Sendable, Equatable {
  /// The required relation between the metric and the expressions.
  package enum Relation: Sendable, Equatable {
    case equal(CountExpression)
    case atMost(CountExpression)
    case atLeast(CountExpression)
    case range(CountExpression, CountExpression)
  }

  /// The source text of the formula.
  package let text: String
  package let relation: Relation
  /// The source range of the formula.
  package let range: SourceRange

  /// Parses a formula.
  ///
  /// - Throws: A problem at the first character that can't be parsed.
  package init(_ word: Word) throws(LanguageProblem) {
    text = word.text
    range = word.range
    if let bound = CountConstraint.rest(of: word, after: "at most") {
      relation = .atMost(try CountExpression(bound))
    } else if let bound = CountConstraint.rest(of: word, after: "at least") {
      relation = .atLeast(try CountExpression(bound))
    } else if let (low, high) = CountConstraint.ends(of: word) {
      relation = .range(try CountExpression(low), try CountExpression(high))
    } else {
      do {
        relation = .equal(try CountExpression(word))
      } catch {
        var problem = error
        if problem.nextStep == CountExpression.examples {
          problem.nextStep =
            "write, for example, `1 + Mood`, `at most 20`, `at least Mood`, or `2..ceil(Mood / 20)`"
        }
        throw problem
      }
    }
  }

  /// Returns whether two formulas have the same relation; their text and range are ignored.
  package static func == (first: CountConstraint, second: CountConstraint) -> Bool {
    first.relation == second.relation
  }

  /// The expressions of the formula, in source order.
  package var expressions: [CountExpression] {
    switch relation {
    case .equal(let only), .atMost(let only), .atLeast(let only): [only]
    case .range(let low, let high): [low, high]
    }
  }

  /// Returns the range of values that the metric can have.
  ///
  /// - Throws: A `CountExpressionError` if an expression has no value, if the lower bound is
  ///   greater than the upper bound, or if no count can be in the range.
  package func bounds(in scope: CountExpressionScope) throws(CountExpressionError) -> ClosedRange<
    Int
  > {
    let bounds = try limits(in: scope)
    guard bounds.upperBound >= 0 else {
      throw CountExpressionError(
        text: text, message: "a count can't be \(bounds.upperBound)", range: range)
    }
    return bounds
  }

  private func limits(in scope: CountExpressionScope) throws(CountExpressionError) -> ClosedRange<
    Int
  > {
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
        throw CountExpressionError(
          text: text, message: "its lower bound \(least) is greater than its upper bound \(most)",
          range: range)
      }
      return least...most
    }
  }

  /// Returns the number that a report shows next to the formula: its value or, for an inequality or
  /// a range, a bound.
  ///
  /// - Returns: The upper bound if there is one; otherwise, the lower bound.
  /// - Throws: A `CountExpressionError`; see `bounds(in:)`.
  package func value(in scope: CountExpressionScope) throws(CountExpressionError) -> Int {
    let bounds = try bounds(in: scope)
    return bounds.upperBound == .max ? bounds.lowerBound : bounds.upperBound
  }

  /// Returns the formula with its expressions evaluated, such as `61`, `at most 100`, or `2..5`.
  ///
  /// - Throws: A `CountExpressionError`; see `bounds(in:)`.
  package func expectation(in scope: CountExpressionScope) throws(CountExpressionError) -> String {
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
    return Word(text, at: word.range(at: start, length: end - start))
  }
}
