package import WorkbenchText

/// What a metric must be: `1 + Mood + Country`, `at most 100`, `at least Mood`, `2..ceil(Mood / 20)`.
package struct CountConstraint: Sendable, Equatable {
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
  package let place: SourceRange

  /// Reads a formula.
  ///
  /// - Throws: a problem at the first character that cannot be understood.
  package init(_ word: Word) throws(LanguageProblem) {
    text = word.text
    place = word.place
    if let bound = CountConstraint.rest(of: word, after: "at most") {
      relation = .atMost(try CountExpression(bound))
    } else if let bound = CountConstraint.rest(of: word, after: "at least") {
      relation = .atLeast(try CountExpression(bound))
    } else if let (low, high) = CountConstraint.ends(of: word) {
      relation = .range(try CountExpression(low), try CountExpression(high))
    } else {
      relation = .equal(try CountExpression(word))
    }
  }

  package static func == (first: CountConstraint, second: CountConstraint) -> Bool {
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
  /// - Throws: `CountExpressionError` as its expressions, when the least is more than the most, and when no count
  ///   could be within them.
  package func bounds(in scope: CountExpressionScope) throws(CountExpressionError) -> ClosedRange<
    Int
  > {
    let bounds = try range(in: scope)
    guard bounds.upperBound >= 0 else {
      throw CountExpressionError(
        text: text, message: "no count can be \(bounds.upperBound)", place: place)
    }
    return bounds
  }

  private func range(in scope: CountExpressionScope) throws(CountExpressionError) -> ClosedRange<
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
          text: text, message: "it goes from \(least) down to \(most)", place: place)
      }
      return least...most
    }
  }

  /// The number next to the formula in a report: its value, or the bound nearest to it.
  ///
  /// - Throws: `CountExpressionError` as `bounds(in:)`.
  package func value(in scope: CountExpressionScope) throws(CountExpressionError) -> Int {
    let bounds = try bounds(in: scope)
    return bounds.upperBound == .max ? bounds.lowerBound : bounds.upperBound
  }

  /// The formula with its numbers worked out: `61`, `at most 100`, `2..5`.
  ///
  /// - Throws: `CountExpressionError` as `bounds(in:)`.
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
    return Word(text, at: word.place(at: start, length: end - start))
  }
}

/// What the names of an expression stand for.
package struct CountExpressionScope: Sendable, Equatable {
  /// Rows of each entity, those of its subentities included.
  package var rows: [String: Int]
  /// The number given by `--scale`.
  package var scale: Int

  package init(rows: [String: Int] = [:], scale: Int = 1) {
    self.rows = rows
    self.scale = scale
  }

  /// The value of a name; nil when it names nothing.
  package func value(of name: String) -> Int? {
    name == "scale" ? scale : rows[name]
  }
}

/// An expression that has no whole value.
package struct CountExpressionError: Error, Sendable, CustomStringConvertible {
  /// The expression as written.
  package let text: String
  /// Why it has none, and what to do.
  package let message: String
  /// Where the expression is written.
  package let place: SourceRange

  package var description: String { "`\(text)`: \(message)" }
}

/// An exact number between two whole ones, so that `Mood / 20` loses nothing before `ceil()`.
struct Fraction: Sendable, Equatable {
  private(set) var numerator: Int
  /// Greater than 0.
  private(set) var denominator: Int

  init(_ whole: Int) {
    numerator = whole
    denominator = 1
  }

  private init?(_ numerator: Int?, over denominator: Int?) {
    guard var numerator, var denominator, denominator != 0, numerator != .min, denominator != .min
    else { return nil }
    if denominator < 0 {
      (numerator, denominator) = (-numerator, -denominator)
    }
    let divisor = Fraction.greatestCommonDivisor(abs(numerator), denominator)
    self.numerator = numerator / divisor
    self.denominator = denominator / divisor
  }

  /// The number, when it is whole.
  var whole: Int? {
    denominator == 1 ? numerator : nil
  }

  /// The smallest integer that is not below.
  var ceiling: Int {
    let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
    return remainder > 0 ? quotient + 1 : quotient
  }

  /// `7` or `7/2`, for messages.
  var text: String {
    if let whole { return String(whole) }
    return "\(numerator)/\(denominator)"
  }

  /// Each of these is nil when the result does not fit, or would divide by nothing.
  func adding(_ other: Fraction) -> Fraction? {
    Fraction(
      Fraction.sum(
        Fraction.product(numerator, other.denominator),
        Fraction.product(other.numerator, denominator)),
      over: Fraction.product(denominator, other.denominator))
  }

  func multiplied(by other: Fraction) -> Fraction? {
    Fraction(
      Fraction.product(numerator, other.numerator),
      over: Fraction.product(denominator, other.denominator))
  }

  func divided(by other: Fraction) -> Fraction? {
    Fraction(
      Fraction.product(numerator, other.denominator),
      over: Fraction.product(denominator, other.numerator))
  }

  var negated: Fraction? {
    Fraction(-numerator, over: denominator)
  }

  private static func product(_ first: Int, _ second: Int) -> Int? {
    let (result, isOver) = first.multipliedReportingOverflow(by: second)
    return isOver ? nil : result
  }

  private static func sum(_ first: Int?, _ second: Int?) -> Int? {
    guard let first, let second else { return nil }
    let (result, isOver) = first.addingReportingOverflow(second)
    return isOver ? nil : result
  }

  private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
    var (larger, smaller) = (first, second)
    while smaller != 0 {
      (larger, smaller) = (smaller, larger % smaller)
    }
    return max(1, larger)
  }
}
