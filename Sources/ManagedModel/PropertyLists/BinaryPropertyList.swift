/// The binary property list format, with the UIDs that keyed archives need.
///
/// Foundation reads the format too, but keeps the values of UIDs to itself.
package enum BinaryPropertyList {
  /// A value of a property list.
  package enum Value: Sendable, Hashable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number that is too large for `integer`.
    case unsigned(UInt64)
    /// A floating point number.
    case real(Double)
    /// A point in time, in seconds since 2001-01-01 UTC.
    case date(Double)
    /// Bytes.
    case data([UInt8])
    /// A text.
    case string(String)
    /// The number of an object of a keyed archive.
    case uid(UInt32)
    /// Values in order.
    case array([Value])
    /// Values without order.
    case set([Value])
    /// Values by name.
    case dictionary([String: Value])
  }

  /// Says what is wrong with the bytes of a list, and where.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    /// What is wrong, as one sentence.
    package let message: String
    /// The offset in the bytes.
    package let offset: Int

    /// The sentence with the offset.
    package var description: String { "\(message) (byte \(offset))" }
  }

  /// How much of a list is read before it is refused.
  package struct Limits: Sendable {
    /// The greatest number of values, one that occurs twice counted twice.
    package var values = 1_000_000
    /// How deep arrays, sets and dictionaries may be nested.
    package var depth = 64

    /// Makes the usual limits: a million values, 64 levels.
    package init() {}
  }

  /// Reads a list.
  ///
  /// Takes time and memory in proportion to the bytes and within the limits, whatever the bytes
  /// are.
  ///
  /// - Parameters:
  ///   - bytes: A whole list, header to trailer.
  ///   - limits: How much is read before the list is refused.
  package static func read(
    _ bytes: [UInt8], limits: Limits = Limits()
  ) throws(Failure) -> Value {
    var reader = try BinaryPropertyListReader(bytes, limits: limits)
    return try reader.topValue()
  }

  /// Writes a list.
  ///
  /// Equal values that hold no others are written once; keys are sorted.
  ///
  /// - Parameter value: The top value.
  /// - Returns: The bytes, header to trailer.
  package static func write(_ value: Value) -> [UInt8] {
    var writer = BinaryPropertyListWriter()
    return writer.write(value)
  }
}
