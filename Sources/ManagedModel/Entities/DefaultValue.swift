import Foundation

/// A default value in the Swift type of its attribute.
struct DefaultValue {
  /// The value, or `nil` if there isn't one.
  let value: Any?

  /// Stores a value unchanged.
  init(value: Any?) {
    self.value = value
  }

  /// Converts a value to the Swift type of an attribute type.
  ///
  /// Any number converts to a numeric type that can represent it. Returns `nil` otherwise.
  init?(converting source: Any, to type: NSAttributeType) {
    let converted: Any? =
      switch type {
      case .integer16AttributeType: Self.whole(source).flatMap { Int16(exactly: $0) }
      case .integer32AttributeType: Self.whole(source).flatMap { Int32(exactly: $0) }
      case .integer64AttributeType: Self.whole(source)
      case .booleanAttributeType: Self.boolean(source)
      case .doubleAttributeType: Self.number(source)?.nearestDouble
      case .floatAttributeType: Self.float(source)
      case .decimalAttributeType: Self.number(source)?.decimal
      case .stringAttributeType: source as? String
      case .dateAttributeType: source as? Date
      case .binaryDataAttributeType: Self.bytes(source)
      case .UUIDAttributeType: source as? UUID
      case .URIAttributeType: source as? URL
      case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType,
        .compositeAttributeType:
        source
      }
    guard let converted else { return nil }
    value = converted
  }

  /// Returns a number, Boolean, or decimal as an `NSNumber`, and any other value unchanged.
  static func boxed(_ value: Any) -> Any {
    if type(of: value) is AnyClass { return value }
    let number = PredicateValue(value)
    return switch number {
    case .bool, .integer, .double, .decimal: number.boxed ?? value
    default: value
    }
  }

  private static func number(_ source: Any) -> PredicateValue? {
    let value = PredicateValue(source)
    return value.isNumber ? value : nil
  }

  private static func whole(_ source: Any) -> Int64? {
    number(source)?.exactInteger
  }

  /// Returns the number, or `nil` if it's finite and too large.
  private static func float(_ source: Any) -> Float? {
    guard let value = number(source)?.nearestDouble else { return nil }
    let float = Float(value)
    return float.isInfinite && value.isFinite ? nil : float
  }

  private static func boolean(_ source: Any) -> Bool? {
    if let value = source as? Bool { return value }
    return switch whole(source) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  private static func bytes(_ source: Any) -> Data? {
    (source as? [UInt8]).map { Data($0) } ?? source as? Data
  }
}

/// Parses the default values of a model document.
enum DefaultValueText {
  /// Returns the value of a string in the Swift type of an attribute type; `nil` if it doesn't
  /// match.
  ///
  /// A number can have surrounding spaces. YES and NO, which remain when a Boolean attribute
  /// changes its type, are 1 and 0.
  static func value(_ text: String, type: NSAttributeType) -> Any? {
    guard type.isNumber else { return plainValue(text, type: type) }
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return plainValue(trimmed, type: type)
      ?? ElementReader.flag(trimmed).flatMap { plainValue($0 ? "1" : "0", type: type) }
  }

  private static func plainValue(_ text: String, type: NSAttributeType) -> Any? {
    switch type {
    case .integer16AttributeType: return whole(text).flatMap { Int16(exactly: $0) }
    case .integer32AttributeType: return whole(text).flatMap { Int32(exactly: $0) }
    case .integer64AttributeType: return whole(text)
    case .decimalAttributeType: return decimal(text)
    case .doubleAttributeType: return Double(text)
    case .floatAttributeType: return Float(text)
    case .stringAttributeType: return text
    case .booleanAttributeType:
      return ElementReader.flag(text) ?? Double(text).map { $0 != 0 }
    case .dateAttributeType:
      guard let seconds = Double(text), !seconds.isNaN else { return nil }
      return Date(timeIntervalSinceReferenceDate: seconds)
    case .UUIDAttributeType: return UUID(uuidString: text)
    case .URIAttributeType: return URL(string: text)
    case .undefinedAttributeType, .binaryDataAttributeType, .transformableAttributeType,
      .objectIDAttributeType, .compositeAttributeType:
      return nil
    }
  }

  /// Returns a value as a string, or `nil` if it has no string form.
  static func text(of value: Any) -> String? {
    switch value {
    case let text as String: text
    case let flag as Bool: flag ? "YES" : "NO"
    case let number as any BinaryInteger: "\(number)"
    case let number as Double: text(number)
    case let number as Float: "\(number)"
    case let number as Decimal: number.isNaN ? nil : "\(number)"
    case let uuid as UUID: uuid.uuidString
    case let url as URL: url.absoluteString
    default: nil
    }
  }

  /// Returns a number as a string, without a fraction if it's an integer.
  static func text(_ number: Double) -> String {
    Int64(exactly: number).map { "\($0)" } ?? "\(number)"
  }

  /// Returns the advice on what to write for a type, as a sentence.
  static func hint(_ type: NSAttributeType) -> String {
    switch type {
    case .integer16AttributeType: "Write an integer from -32768 to 32767."
    case .integer32AttributeType: "Write an integer from -2147483648 to 2147483647."
    case .integer64AttributeType: "Write an integer."
    case .decimalAttributeType, .doubleAttributeType, .floatAttributeType: "Write a number."
    case .booleanAttributeType: "Write YES or NO."
    case .dateAttributeType: "Write the seconds since 2001-01-01 UTC."
    case .UUIDAttributeType: "Write a UUID such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F."
    case .URIAttributeType: "Write a URI such as https://example.org."
    case .stringAttributeType: "Write a string."
    case .undefinedAttributeType, .binaryDataAttributeType, .transformableAttributeType,
      .objectIDAttributeType, .compositeAttributeType:
      "Remove it: values of this type have no text form."
    }
  }

  private static func whole(_ text: String) -> Int64? {
    Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
  }

  private static func decimal(_ text: String) -> Decimal? {
    guard let number = Double(text), number.isFinite else { return nil }
    return Decimal(string: text)
  }
}

extension NSAttributeType {
  /// Whether the model editor has fields for the minimum and maximum value.
  var hasLimits: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .decimalAttributeType, .doubleAttributeType, .floatAttributeType, .dateAttributeType,
      .stringAttributeType:
      true
    default: false
    }
  }

  /// Whether a default value of the type has a string form.
  var hasDefaultText: Bool {
    switch self {
    case .undefinedAttributeType, .binaryDataAttributeType, .transformableAttributeType,
      .objectIDAttributeType, .compositeAttributeType:
      false
    default: true
    }
  }
}

extension NSAttributeType {
  var isNumber: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .decimalAttributeType, .doubleAttributeType, .floatAttributeType, .booleanAttributeType:
      true
    default: false
    }
  }
}
