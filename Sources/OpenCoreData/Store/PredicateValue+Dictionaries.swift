import ManagedModel

extension PredicateValue {
  /// The value as a dictionary of a fetch holds it, nil for nil.
  ///
  /// Numbers are `NSNumber`s, as Apple's, which cast to every Swift number type that holds them.
  ///
  /// - Parameter type: The type asked for, nil for the value's own.
  func dictionaryValue(_ type: NSAttributeType?) -> Any? {
    guard let type else { return boxed }
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return whole.map { NSNumber(value: $0) } ?? boxed
    case .booleanAttributeType: return whole.map { NSNumber(value: $0 != 0) } ?? boxed
    case .doubleAttributeType, .floatAttributeType:
      return asNumber.nearestDouble.map { NSNumber(value: $0) } ?? boxed
    case .decimalAttributeType:
      return asNumber.decimal.map { NSDecimalNumber(decimal: $0) } ?? boxed
    case .stringAttributeType: return CastTarget.string.cast(self)?.boxed ?? boxed
    case .dateAttributeType: return CastTarget.date.cast(self)?.boxed ?? boxed
    case .UUIDAttributeType: return CastTarget.uuid.cast(self)?.boxed ?? boxed
    case .URIAttributeType: return CastTarget.url.cast(self)?.boxed ?? boxed
    default: return boxed
    }
  }

  /// A date as its number.
  private var asNumber: PredicateValue {
    if case .date = self { return CastTarget.number.cast(self) ?? self }
    return self
  }

  /// The number without what is behind its point.
  private var whole: Int64? {
    let number = asNumber
    return number.exactInteger
      ?? number.nearestDouble.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
  }
}
