internal import Foundation

extension PredicateValue {
  /// Creates a value from any Swift or Foundation value.
  ///
  /// Optionals are unwrapped, `NSNull` is nil, and `NSNumber`, `NSString`, and other Foundation
  /// objects become the corresponding Swift values.
  package init(_ value: Any?) {
    guard let value else {
      self = .null
      return
    }
    self =
      Self.swiftValue(value) ?? Self.foundationValue(value) ?? Self.collectionValue(value)
      ?? .object(PredicateObject(value))
  }

  /// A value that stays in a predicate: sets are sorted, long lists indexed.
  init(constant value: Any?) {
    self.init(value)
    if case .collection(let collection) = self {
      self = .collection(
        PredicateCollection(
          constant: collection.elements, isOrdered: collection.isOrdered, isSet: collection.isSet))
    }
  }

  /// Converts frequent types, identified by their exact type because dynamic casts are much slower.
  private static func swiftValue(_ value: Any) -> PredicateValue? {
    let type = type(of: value)
    if type == String.self { return (value as? String).map(Self.string) }
    if type == Int64.self { return (value as? Int64).map(Self.integer) }
    if type == Int.self { return (value as? Int).map { .integer(Int64($0)) } }
    if type == Double.self { return (value as? Double).map(Self.double) }
    if type == Bool.self { return (value as? Bool).map(Self.bool) }
    if type == Date.self { return (value as? Date).map(Self.date) }
    if type == Int32.self { return (value as? Int32).map { .integer(Int64($0)) } }
    if type == Int16.self { return (value as? Int16).map { .integer(Int64($0)) } }
    if type == Data.self { return (value as? Data).map(Self.data) }
    if type == UUID.self { return (value as? UUID).map(Self.uuid) }
    if type == Decimal.self { return (value as? Decimal).map(Self.decimal) }
    if type == URL.self { return (value as? URL).map(Self.url) }
    if type == Float.self { return (value as? Float).map { .double(Double($0)) } }
    if type is AnyClass { return nil }
    if type == PredicateCollection.self {
      return (value as? PredicateCollection).map(Self.collection)
    }
    if let integer = value as? any FixedWidthInteger { return Self.whole(integer) }
    if let float = value as? any BinaryFloatingPoint { return .double(Double(float)) }
    if let text = value as? any StringProtocol { return .string(String(text)) }
    if let character = value as? Character { return .string(String(character)) }
    if let optional = value as? any OptionalValue { return PredicateValue(optional.anyValue) }
    if let hashable = value as? AnyHashable, type == AnyHashable.self {
      return PredicateValue(hashable.base)
    }
    return nil
  }

  private static func whole(_ value: some FixedWidthInteger) -> PredicateValue {
    if let exact = Int64(exactly: value) { return .integer(exact) }
    return Decimal(string: String(value)).map(Self.decimal) ?? .double(Double(value))
  }

  private static func foundationValue(_ value: Any) -> PredicateValue? {
    guard type(of: value) is AnyClass else { return nil }
    switch value {
    case is any ManagedObjectReference: return .object(PredicateObject(value))
    case is NSNull: return .null
    case let value as NSString: return .string(String(describing: value))
    case let value as NSDecimalNumber: return .decimal(value.decimalValue)
    case let value as NSNumber: return number(value)
    case let value as NSDate:
      return .date(Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate))
    case let value as NSData: return .data(Data(referencing: value))
    case let value as NSUUID: return UUID(uuidString: value.uuidString).map(Self.uuid)
    case let value as NSURL: return URL(string: value.absoluteString).map(Self.url)
    case let value as NSOrderedSet: return elements(value.array, isOrdered: true, isSet: true)
    case let value as NSSet: return elements(value.allObjects, isOrdered: false)
    case let value as NSArray: return elements(value.map { $0 }, isOrdered: true)
    case let value as NSDictionary: return dictionary(value)
    default: return nil
    }
  }

  private static func number(_ value: NSNumber) -> PredicateValue {
    switch UInt8(bitPattern: value.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): .double(value.doubleValue)
    case UInt8(ascii: "Q"): whole(value.uint64Value)
    default: .integer(value.int64Value)
    }
  }

  private static func dictionary(_ value: NSDictionary) -> PredicateValue {
    var entries: [String: PredicateValue] = [:]
    for (key, entry) in value {
      if let key = key as? String { entries[key] = PredicateValue(entry) }
    }
    return .dictionary(entries, original: value)
  }

  private static func collectionValue(_ value: Any) -> PredicateValue? {
    if let value = value as? [String: Any] {
      return .dictionary(value.mapValues { PredicateValue($0) }, original: value)
    }
    if let value = value as? any SetAlgebra, let elements = value as? any Collection {
      return Self.elements(elements, isOrdered: false)
    }
    // A type that is read by key is one object, even if it is a collection as well.
    if value is any KeyValueReadable { return nil }
    return (value as? any Collection).map { Self.elements($0, isOrdered: true) }
  }

  private static func elements(
    _ elements: some Collection, isOrdered: Bool, isSet: Bool = false
  ) -> PredicateValue {
    .collection(
      PredicateCollection(
        elements.map { PredicateValue($0) }, isOrdered: isOrdered, isSet: isSet))
  }
}

/// Opens an optional that was put into an `Any`.
protocol OptionalValue {
  var anyValue: Any? { get }
}

extension Optional: OptionalValue {
  var anyValue: Any? {
    map { $0 }
  }
}

extension PredicateValue {
  /// Applies one of the arithmetic functions.
  ///
  /// Nil for a nil operand, a division by zero, and bitwise operations on values that aren't
  /// integers. The result of integers is an integer: 3 / 2 is 1. Integers that exceed 64 bits
  /// become decimals.
  static func arithmetic(
    _ function: PredicateFunction, _ left: Self, _ right: Self
  ) -> PredicateValue? {
    if left.isNull || right.isNull { return .null }
    if let result = dates(function, left, right) { return result }
    guard left.isNumber, right.isNumber else { return nil }
    if let left = left.wholeNumber, let right = right.wholeNumber,
      let result = integers(function, left, right)
    {
      return result
    }
    if function.isBitwise {
      guard let left = left.exactInteger, let right = right.exactInteger else { return .null }
      return integers(function, left, right) ?? .null
    }
    if !left.isDouble, !right.isDouble, let left = left.decimal, let right = right.decimal,
      let result = decimals(function, left, right)
    {
      return result
    }
    guard let left = left.nearestDouble, let right = right.nearestDouble else { return .null }
    return doubles(function, left, right)
  }

  /// Adds seconds to a date or subtracts them from it.
  ///
  /// In other operations, a date is its number of seconds since the reference date, as in a store.
  ///
  /// Nil if no operand is a date, or if one is neither a date nor a number.
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
    case .power:
      return Int64(exactly: pow(Double(left), Double(right))).map(Self.integer)
    case .bitwiseAnd: return .integer(left & right)
    case .bitwiseOr: return .integer(left | right)
    case .bitwiseXor: return .integer(left ^ right)
    case .leftShift: return .integer(left << right)
    case .rightShift: return .integer(left >> right)
    default: return nil
    }
    return result.overflow ? nil : .integer(result.partialValue)
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
    case .add: .double(left + right)
    case .subtract: .double(left - right)
    case .multiply: .double(left * right)
    case .divide: right == 0 ? .null : .double(left / right)
    case .modulus: right == 0 ? .null : .double(left.truncatingRemainder(dividingBy: right))
    case .power: .double(pow(left, right))
    default: nil
    }
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

// Comparisons of values of different kinds follow the rules of a column: a constant is converted to
// the kind of the other value, as SQL binds it by the type of the column.
extension PredicateValue {
  /// The kinds of value that compare with one another as they are.
  enum Family {
    case null, number, date, string, url, uuid, data
    /// Collections, dictionaries, and objects, which can only be tested for equality.
    case other
  }

  var family: Family {
    switch self {
    case .null: .null
    case .bool, .integer, .double, .decimal: .number
    case .string: .string
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .url: .url
    case .collection, .dictionary, .object, .placeholder: .other
    }
  }

  /// Whether the two compare as they are.
  func fits(_ value: PredicateValue) -> Bool {
    let (family, other) = (family, value.family)
    return family == other || family == .null || other == .null || family == .other
      || other == .other
  }

  /// A constant in the kind of the value it's compared with; nil if it can't be of that kind.
  func converted(toFit value: PredicateValue) -> PredicateValue? {
    switch (value.family, family) {
    case (.number, .string): Self.number(of: string ?? "", as: value)
    case (.date, .number):
      nearestDouble.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case (.string, .url), (.string, .uuid), (.string, .number), (.url, .uuid), (.url, .number):
      columnText.map(Self.string)
    case (.url, .string): self
    case (.uuid, .string): string.flatMap(UUID.init(uuidString:)).map(Self.uuid)
    case (.uuid, .data): self
    case (.data, .uuid): bytes.map(Self.data)
    default: nil
    }
  }

  /// The stored form of a row's value, which can be compared with other kinds that a column stores
  /// in the same way: dates as seconds, URLs as text, UUIDs as bytes.
  var asStored: PredicateValue {
    switch self {
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    case .url(let url): .string(url.absoluteString)
    case .uuid: bytes.map(Self.data) ?? self
    default: self
    }
  }

  /// The text of a string or URL, which are stored in the same way.
  var searchText: String? {
    switch self {
    case .string(let text): text
    case .url(let url): url.absoluteString
    default: nil
    }
  }

  /// The value as stored in a text column; nil if it can't be.
  package var columnText: String? {
    switch self {
    case .string(let text): text
    case .url(let url): url.absoluteString
    case .uuid(let uuid): uuid.uuidString
    case .bool(let value): value ? "1" : "0"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    default: nil
    }
  }

  /// Returns the number in a string; nil if it isn't one.
  package static func number(of text: String) -> PredicateValue? {
    if let integer = Int64(text) { return .integer(integer) }
    let isDecimal = text.utf8.allSatisfy { byte in
      byte.isDigit || "+-.eE".utf8.contains(byte)
    }
    guard isDecimal, let double = Double(text), double.isFinite else { return nil }
    return .double(double)
  }

  /// Returns the number in a string, with all digits if it's compared with a decimal.
  private static func number(of text: String, as value: PredicateValue) -> PredicateValue? {
    guard let number = number(of: text) else { return nil }
    guard case .decimal = value else { return number }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(Self.decimal)
      ?? number
  }

  private var bytes: Data? {
    switch self {
    case .data(let data): data
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Data($0) }
    default: nil
    }
  }
}
