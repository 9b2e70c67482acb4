internal import Foundation

/// A value in a predicate, with one case for all types with the same meaning.
///
/// Equality is that of the `==` operator without options: numbers are compared by value regardless
/// of their type, strings by their bytes.
package enum PredicateValue {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  /// A decimal number, or an unsigned integer that exceeds `Int64.max`.
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case collection(PredicateCollection)
  indirect case dictionary([String: PredicateValue], original: Any)
  /// A managed object, its ID, or a value of a type that can only be tested for equality.
  indirect case object(PredicateObject)
  /// A placeholder such as `%@` or `%d` in a format that was parsed without arguments. It has no
  /// value.
  case placeholder(String)
}

extension PredicateValue {
  /// Whether there's no value.
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether the value is a Boolean or a number.
  package var isNumber: Bool {
    switch self {
    case .bool, .integer, .double, .decimal: true
    default: false
    }
  }

  /// Whether the value is NaN, or a date of it, which a store saves as `nil`.
  package var isNotANumber: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .decimal(let value): value.isNaN
    case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }

  /// The value as a store saves it: `nil` for NaN.
  package var nilIfNotANumber: PredicateValue { isNotANumber ? .null : self }

  /// Replaces NaN with `nil`.
  ///
  /// Other values aren't copied.
  @inline(__always)
  mutating func replaceNotANumber() {
    switch self {
    case .double, .decimal, .date: self = nilIfNotANumber
    default: break
    }
  }

  /// The string, or `nil` if the value isn't one.
  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  /// Whether the value is a scalar with a string form.
  var isScalar: Bool {
    switch self {
    case .collection, .dictionary, .object, .placeholder: false
    default: true
    }
  }

  /// Whether the hash value can't change.
  var isStable: Bool {
    switch self {
    case .object(let object): object.reference?.hasStableIdentity ?? true
    case .dictionary, .collection: false
    default: true
    }
  }

  /// The value for the public API: numbers as `NSNumber`, which can be cast to any Swift number
  /// type that represents it exactly; other values as `original`.
  package var boxed: Any? {
    switch self {
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .collection(let collection): collection.boxed
    default: original
    }
  }

  /// The value for Swift: integers as `Int64`, collections as `[Any]`, with `nil` in them as
  /// `NSNull`.
  package var original: Any? {
    switch self {
    case .null: nil
    case .bool(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .collection(let collection): collection.elements.map { $0.original ?? NSNull() }
    case .dictionary(_, let original): original
    case .object(let object): object.base
    case .placeholder(let text): text
    }
  }

  /// The value like `original`, except that a collection preserves whether it's ordered.
  package var carried: Any? {
    if case .collection(let collection) = self { collection } else { original }
  }

  /// The kind of the value for messages, such as `a string` or `a number`.
  var kindText: String {
    switch self {
    case .null: "nil"
    case .bool: "a Boolean"
    case .integer, .double, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .collection: "a collection"
    case .dictionary: "a dictionary"
    case .object(let object): "a \(type(of: object.base))"
    case .placeholder(let text): "the placeholder \(text)"
    }
  }
}

extension PredicateValue {
  /// The number as an integer, or `nil` if it isn't exactly one.
  package var exactInteger: Int64? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .decimal(let value): Int64("\(value)")
    default: nil
    }
  }

  /// The nearest floating-point number.
  ///
  /// It's the same for equal numbers, regardless of their type.
  package var nearestDouble: Double? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Double("\(value)")
    default: nil
    }
  }

  /// The decimal number with the digits that the value is printed with: the `Double` 0.1 is 0.1.
  package var decimal: Decimal? {
    switch self {
    case .bool(let value): Decimal(value ? 1 : 0)
    case .integer(let value): Decimal(value)
    case .double(let value): value.isFinite ? Decimal(string: "\(value)") : nil
    case .decimal(let value): value
    default: nil
    }
  }

  /// Compares two numbers without loss; returns `nil` for NaN.
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

  /// Compares a number as SQLite does: exactly with an integer, and with another decimal by its
  /// nearest `Double`.
  private static func compareExactly(_ double: Double, _ other: Self) -> ComparisonResult? {
    guard let integer = other.exactInteger else {
      return compare(double, other.nearestDouble ?? .nan)
    }
    if double.isNaN { return nil }
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

extension PredicateValue: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.string(let left), .string(let right)):
      left.hasSameBytes(as: right)
    case (.integer(let left), .integer(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    // As stored: a URL that's relative to a base equals the absolute one.
    case (.url(let left), .url(let right)):
      left.absoluteString.hasSameBytes(as: right.absoluteString)
    case (.object(let left), .object(let right)): left == right
    case (.collection(let left), .collection(let right)): left == right
    case (.dictionary(let left, _), .dictionary(let right, _)): left == right
    case (.placeholder(let left), .placeholder(let right)): left == right
    default:
      left.isNumber && right.isNumber && compareNumbers(left, right) == .orderedSame
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool, .integer, .double, .decimal: hasher.combine(nearestDouble)
    case .string(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .url(let value): hasher.combine(value.absoluteString)
    case .collection(let value): hasher.combine(value)
    case .dictionary(let value, _): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .placeholder(let value): hasher.combine(value)
    }
  }

  /// Compares two values of one kind without string options; returns `nil` if they can't be
  /// compared.
  ///
  /// Strings, data, and UUIDs are compared by their bytes, as in SQLite.
  package static func compare(_ left: Self, _ right: Self) -> ComparisonResult? {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): order(left, right)
    case (.string(let left), .string(let right)): left.orderOfBytes(and: right)
    case (.date(let left), .date(let right)): order(left, right)
    case (.data(let left), .data(let right)): bytes(left, right)
    case (.uuid(let left), .uuid(let right)):
      bytes(left.uuidString.utf8, right.uuidString.utf8)
    case (.url(let left), .url(let right)):
      bytes(left.absoluteString.utf8, right.absoluteString.utf8)
    case (.object(let left), .object(let right)):
      (left.base as? any PredicateOrdered)?.order(relativeTo: right.base)
    default: left.isNumber && right.isNumber ? compareNumbers(left, right) : nil
    }
  }

  /// Returns the order of two values in a total order for sorting: `nil` first, then by kind, then
  /// by value.
  ///
  /// NaN is `nil`, as in a store.
  static func order(_ left: Self, _ right: Self) -> ComparisonResult {
    if left.rank != right.rank { return order(left.rank, right.rank) }
    return compare(left, right) ?? .orderedSame
  }

  /// Returns the order of two objects by their IDs; `nil` for other values.
  static func orderByID(_ left: Self, _ right: Self) -> ComparisonResult? {
    guard case .object(let object) = left, case .object(let other) = right,
      let first = object.reference, let second = other.reference
    else { return nil }
    return order(first.positionByID, second.positionByID)
  }

  private var rank: Int {
    if isNotANumber { return 0 }
    return switch self {
    case .null: 0
    case .bool, .integer, .double, .decimal: 1
    case .string: 2
    case .date: 3
    case .data: 4
    case .uuid: 5
    case .url: 6
    case .collection: 7
    case .dictionary: 8
    case .object: 9
    case .placeholder: 10
    }
  }

  private static func order<T: Comparable>(_ left: T, _ right: T) -> ComparisonResult {
    left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  private static func bytes<T: Sequence>(
    _ left: T, _ right: T
  ) -> ComparisonResult where T.Element == UInt8 {
    var others = right.makeIterator()
    for byte in left {
      guard let other = others.next() else { return .orderedDescending }
      if byte != other { return byte < other ? .orderedAscending : .orderedDescending }
    }
    return others.next() == nil ? .orderedSame : .orderedAscending
  }
}
