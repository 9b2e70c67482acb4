internal import Foundation

extension PredicateValue {
  /// Returns the result of an arithmetic function.
  ///
  /// Returns `nil` for a `nil` operand, a division by zero, NaN, and bitwise operations on values
  /// that aren't integers. The result of integers is an integer: 3 / 2 is 1. As in SQLite, integers
  /// that exceed 64 bits become floating-point numbers.
  static func arithmetic(
    _ function: PredicateFunction, _ left: Self, _ right: Self
  ) -> PredicateValue? {
    if left.isNull || right.isNull { return .null }
    if let result = dates(function, left, right) { return result }
    guard left.isNumber, right.isNumber else { return nil }
    if let left = left.wholeNumber, let right = right.wholeNumber {
      if let result = integers(function, left, right) { return result }
    } else if function.isBitwise {
      guard let left = left.exactInteger, let right = right.exactInteger else { return .null }
      return integers(function, left, right) ?? .null
    } else if !left.isDouble, !right.isDouble, let left = left.decimal, let right = right.decimal,
      let result = decimals(function, left, right)
    {
      return result
    }
    guard let left = left.nearestDouble, let right = right.nearestDouble else { return .null }
    return doubles(function, left, right)
  }

  /// Returns a date with seconds added to or subtracted from it.
  ///
  /// In other operations, a date is its number of seconds since the reference date, as in a store.
  ///
  /// Returns `nil` if no operand is a date, or if one is neither a date nor a number.
  private static func dates(
    _ function: PredicateFunction, _ left: Self, _ right: Self
  ) -> PredicateValue? {
    guard left.isDate || right.isDate, let first = left.seconds, let second = right.seconds,
      let result = doubles(function, first, second)
    else { return nil }
    guard left.isDate != right.isDate, function == .add || function == .subtract,
      case .double(let seconds) = result
    else { return result }
    return .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  private var isDate: Bool {
    if case .date = self { true } else { false }
  }

  private var seconds: Double? {
    if case .date(let date) = self { date.timeIntervalSinceReferenceDate } else { nearestDouble }
  }

  private var isDouble: Bool {
    if case .double = self { true } else { false }
  }

  private var wholeNumber: Int64? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    default: nil
    }
  }

  private static func integers(
    _ function: PredicateFunction, _ left: Int64, _ right: Int64
  ) -> PredicateValue? {
    let result: (partialValue: Int64, overflow: Bool)
    switch function {
    case .add: result = left.addingReportingOverflow(right)
    case .subtract: result = left.subtractingReportingOverflow(right)
    case .multiply: result = left.multipliedReportingOverflow(by: right)
    case .divide:
      if right == 0 { return .null }
      result = left.dividedReportingOverflow(by: right)
    case .modulus:
      if right == 0 { return .null }
      result = left.remainderReportingOverflow(dividingBy: right)
    case .power: return power(left, right).map(Self.integer)
    case .bitwiseAnd: return .integer(left & right)
    case .bitwiseOr: return .integer(left | right)
    case .bitwiseXor: return .integer(left ^ right)
    case .leftShift: return .integer(left << right)
    case .rightShift: return .integer(left >> right)
    default: return nil
    }
    return result.overflow ? nil : .integer(result.partialValue)
  }

  /// Returns the exact power, or `nil` if it isn't a 64-bit integer.
  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    // The reciprocal of another base isn't an integer.
    guard exponent >= 0 else { return Int64(exactly: pow(Double(base), Double(exponent))) }
    var (result, factor, rest) = (Int64(1), base, exponent)
    while true {
      if rest & 1 == 1 {
        let product = result.multipliedReportingOverflow(by: factor)
        if product.overflow { return nil }
        result = product.partialValue
      }
      rest >>= 1
      if rest == 0 { return result }
      let square = factor.multipliedReportingOverflow(by: factor)
      if square.overflow { return nil }
      factor = square.partialValue
    }
  }

  private static func decimals(
    _ function: PredicateFunction, _ left: Decimal, _ right: Decimal
  ) -> PredicateValue? {
    let result: Decimal
    switch function {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left * right
    case .divide:
      if right == 0 { return .null }
      result = left / right
    default: return nil
    }
    return result.isNaN ? nil : .decimal(result)
  }

  private static func doubles(
    _ function: PredicateFunction, _ left: Double, _ right: Double
  ) -> PredicateValue? {
    switch function {
    case .add: real(left + right)
    case .subtract: real(left - right)
    case .multiply: real(left * right)
    case .divide: right == 0 ? .null : real(left / right)
    case .modulus: right == 0 ? .null : real(left.truncatingRemainder(dividingBy: right))
    case .power: real(pow(left, right))
    default: nil
    }
  }

  /// Returns a computed number, or `nil` for NaN, as in SQLite.
  static func real(_ number: Double) -> PredicateValue {
    number.isNaN ? .null : .double(number)
  }
}

extension PredicateFunction {
  var isBitwise: Bool {
    switch self {
    case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift: true
    default: false
    }
  }
}
