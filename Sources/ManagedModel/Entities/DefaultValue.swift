/// A default value in the Swift type of its attribute.
struct DefaultValue {
  /// The value, or nil if there isn't one.
  let value: Any?

  /// Stores a value unchanged.
  init(value: Any?) {
    self.value = value
  }

  /// Converts a value to the Swift type of an attribute type.
  ///
  /// Any number converts to a numeric type that can represent it. Returns nil otherwise.
  init?(converting source: Any, to type: NSAttributeType) {
    let converted: Any? =
      switch type {
      case .integer16AttributeType: Self.whole(source).flatMap { Int16(exactly: $0) }
      case .integer32AttributeType: Self.whole(source).flatMap { Int32(exactly: $0) }
      case .integer64AttributeType: Self.whole(source)
      case .booleanAttributeType: Self.boolean(source)
      case .doubleAttributeType: Self.number(source)?.doubleValue
      case .floatAttributeType: Self.number(source)?.floatValue
      case .decimalAttributeType: Self.decimal(source)
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

  private static func number(_ source: Any) -> NSNumber? {
    switch source {
    case let value as Bool: NSNumber(value: value)
    case let value as any BinaryInteger: Int64(exactly: value).map { NSNumber(value: $0) }
    case let value as Double: NSNumber(value: value)
    case let value as Float: NSNumber(value: Double(value))
    case let value as Decimal: NSDecimalNumber(decimal: value)
    case let value as NSNumber: value
    default: nil
    }
  }

  private static func whole(_ source: Any) -> Int64? {
    if let value = source as? any BinaryInteger { return Int64(exactly: value) }
    guard let number = number(source) else { return nil }
    let value = number.int64Value
    return Double(value) == number.doubleValue ? value : nil
  }

  private static func boolean(_ source: Any) -> Bool? {
    if let value = source as? Bool { return value }
    return switch whole(source) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  private static func decimal(_ source: Any) -> Decimal? {
    if let value = source as? Decimal { return value }
    if let value = source as? any BinaryInteger { return Int64(exactly: value).map(Decimal.init) }
    return number(source)?.decimalValue
  }

  private static func bytes(_ source: Any) -> Data? {
    (source as? [UInt8]).map { Data($0) } ?? source as? Data
  }
}
