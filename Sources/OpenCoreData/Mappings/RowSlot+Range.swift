extension RowSlot.Kind {
  /// Returns whether a number can be converted to an attribute of this kind without losing its
  /// magnitude.
  ///
  /// Fractions can be lost. Integers that are too wide for their type aren't detected here:
  /// validation rejects them. Any value that isn't a number can be, and any number as a Boolean.
  func canRepresent(_ value: Any?) -> Bool {
    switch self {
    case .float:
      guard case .double(let number)? = RowValue(value, kind: .double) else { return true }
      // Infinity is a value of both types.
      return !number.isFinite || Float(number).isFinite
    case .int16, .int32, .int64:
      guard let number = Self.fraction(value) else { return true }
      return number >= -0x1p63 && number < 0x1p63
    case .decimal:
      guard let number = value as? Double ?? (value as? Float).map(Double.init) else { return true }
      return number.isFinite && !Decimal(number).isNaN
    default: return true
    }
  }

  /// Returns a number of a type with fractions; `nil` for any other value.
  private static func fraction(_ value: Any?) -> Double? {
    value as? Double ?? (value as? Float).map(Double.init)
      ?? (value as? Decimal).map { NSDecimalNumber(decimal: $0).doubleValue }
  }
}
