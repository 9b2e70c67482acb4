package import Foundation

/// A parameter of a statement, in the protocol's binary format.
package struct PostgresValue: Hashable, Sendable {
  /// The number of its type.
  package let oid: UInt32
  /// Its bytes, most significant first; nil for NULL.
  package let bytes: [UInt8]?

  private init(_ oid: UInt32, _ bytes: [UInt8]?) {
    self.oid = oid
    self.bytes = bytes
  }

  /// Creates an array of a type from its bytes.
  init(array type: PostgresType, _ bytes: [UInt8]) {
    self.init(type.arrayOID, bytes)
  }

  /// Whether it's NULL.
  package var isNull: Bool { bytes == nil }

  /// Returns NULL of a type.
  package static func null(_ type: PostgresType) -> PostgresValue { PostgresValue(type.oid, nil) }

  /// Returns a value in the text form of the type that the server infers; nil for NULL.
  package static func literal(_ text: String?) -> PostgresValue {
    PostgresValue(0, text.map { Array($0.utf8) + [0] })
  }

  /// Whether the bytes are text, with a zero at the end, instead of the binary format.
  var isLiteral: Bool { oid == 0 }

  /// Returns a Boolean.
  package static func boolean(_ value: Bool) -> PostgresValue {
    PostgresValue(PostgresType.boolean.oid, [value ? 1 : 0])
  }

  /// Returns a `bigint`.
  package static func integer(_ value: Int64) -> PostgresValue {
    PostgresValue(PostgresType.integer.oid, value.networkBytes)
  }

  /// Returns a `double precision`, every bit of which is kept.
  package static func real(_ value: Double) -> PostgresValue {
    PostgresValue(PostgresType.real.oid, value.bitPattern.networkBytes)
  }

  /// Returns a string; the server rejects one with the character NUL, with 22021.
  package static func text(_ value: String) -> PostgresValue {
    PostgresValue(PostgresType.text.oid, Array(value.utf8))
  }

  /// Returns data.
  package static func bytes(_ value: Data) -> PostgresValue {
    PostgresValue(PostgresType.bytes.oid, Array(value))
  }

  /// Returns a UUID.
  package static func uuid(_ value: UUID) -> PostgresValue {
    PostgresValue(PostgresType.uuid.oid, withUnsafeBytes(of: value.uuid) { Array($0) })
  }

  /// Returns a decimal number with all its digits.
  package static func numeric(_ value: Decimal) -> PostgresValue {
    PostgresValue(PostgresType.numeric.oid, NumericDigits(value).networkBytes)
  }

  /// Returns an array of one dimension.
  ///
  /// It's a programmer error to pass an element of another type.
  package static func array(
    _ type: PostgresType, _ elements: some Collection<PostgresValue>
  ) -> PostgresValue {
    guard !elements.isEmpty else {
      var bytes: [UInt8] = []
      bytes.append(network: Int32(0))
      bytes.append(network: Int32(0))
      bytes.append(network: type.oid)
      return PostgresValue(array: type, bytes)
    }
    var array = PostgresArray(type, capacity: elements.count)
    for element in elements { array.append(element) }
    return array.finished()
  }

  /// Returns an array of `bigint`.
  package static func integers(_ values: some Sequence<Int64>) -> PostgresValue {
    var array = PostgresArray(.integer, capacity: values.underestimatedCount)
    for value in values { array.append(value) }
    return array.finished()
  }
}

extension FixedWidthInteger {
  /// The bytes in the protocol's order.
  var networkBytes: [UInt8] {
    withUnsafeBytes(of: bigEndian) { Array($0) }
  }

  /// Creates an integer from bytes in the protocol's order; nil if their number isn't its size.
  init?(network bytes: UnsafeRawBufferPointer) {
    guard bytes.count == MemoryLayout<Self>.size else { return nil }
    self = Self(bigEndian: bytes.loadUnaligned(as: Self.self))
  }
}

extension [UInt8] {
  /// Appends an integer in the protocol's order.
  @inline(__always)
  mutating func append(network value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
