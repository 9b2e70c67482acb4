/// An exact rational number, so that `Mood / 20` isn't rounded before `ceil()` is applied.
struct Fraction: Sendable, Equatable {
  private(set) var numerator: Int
  /// The denominator, greater than 0.
  ///
  /// The fraction is in lowest terms.
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

  /// The integer value, or `nil` if the fraction isn't an integer.
  var whole: Int? {
    denominator == 1 ? numerator : nil
  }

  /// The smallest integer that isn't less than the fraction.
  var ceiling: Int {
    let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
    return remainder > 0 ? quotient + 1 : quotient
  }

  /// The text for messages, such as `7` or `7/2`.
  var text: String {
    if let whole { return String(whole) }
    return "\(numerator)/\(denominator)"
  }

  /// Returns the sum, or `nil` on overflow.
  ///
  /// The other operations also return `nil` on overflow, and `divided(by:)` if the divisor is 0.
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
