internal import Foundation

extension PredicateValue {
  /// The number as an integer, if it is one exactly.
  package var exactInteger: Int64? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .decimal(let value): Int64("\(value)")
    default: nil
    }
  }

  /// The nearest floating point number.
  ///
  /// Equal numbers have the same, whatever their type.
  package var nearestDouble: Double? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Double("\(value)")
    default: nil
    }
  }

  /// The decimal number with the digits that the value is written with: the `Double` 0.1 is 0.1.
  package var decimal: Decimal? {
    switch self {
    case .bool(let value): Decimal(value ? 1 : 0)
    case .integer(let value): Decimal(value)
    case .double(let value): value.isFinite ? Decimal(string: "\(value)") : nil
    case .decimal(let value): value
    default: nil
    }
  }

  /// Compares two numbers without loss; nil with not-a-number.
  static func compareNumbers(_ left: Self, _ right: Self) -> ComparisonResult? {
    switch (left, right) {
    case (.double(let left), .double(let right)): compare(left, right)
    case (.double(let double), _): compareExactly(double, right)
    case (_, .double(let double)): compareExactly(double, left).map(reverse)
    case (.decimal, _), (_, .decimal):
      compareDecimals(left, right)
    default:
      if let left = left.exactInteger, let right = right.exactInteger {
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
      } else {
        nil
      }
    }
  }

  private static func compareDecimals(_ left: Self, _ right: Self) -> ComparisonResult? {
    guard let left = left.decimal, let right = right.decimal else { return nil }
    return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  private static func compareExactly(_ double: Double, _ other: Self) -> ComparisonResult? {
    if case .decimal(let decimal) = other {
      if let exact = Self.double(double).decimal {
        return compareDecimals(.decimal(exact), .decimal(decimal))
      }
      return compare(double, other.nearestDouble ?? .nan)
    }
    guard let integer = other.exactInteger, !double.isNaN else { return nil }
    if double >= 0x1p63 { return .orderedDescending }
    if double < -0x1p63 { return .orderedAscending }
    let whole = Int64(double.rounded(.down))
    if whole != integer { return whole < integer ? .orderedAscending : .orderedDescending }
    return double > double.rounded(.down) ? .orderedDescending : .orderedSame
  }

  private static func compare(_ left: Double, _ right: Double) -> ComparisonResult? {
    if left.isNaN || right.isNaN { return nil }
    return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  private static func reverse(_ result: ComparisonResult) -> ComparisonResult {
    switch result {
    case .orderedAscending: .orderedDescending
    case .orderedSame: .orderedSame
    case .orderedDescending: .orderedAscending
    }
  }
}
