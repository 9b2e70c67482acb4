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

  /// The smallest whole number that is not below.
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
