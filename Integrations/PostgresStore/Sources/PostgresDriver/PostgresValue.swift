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
    let hasNull = elements.contains { $0.isNull }
    var bytes: [UInt8] = []
    bytes.append(network: Int32(elements.isEmpty ? 0 : 1))
    bytes.append(network: Int32(hasNull ? 1 : 0))
    bytes.append(network: type.oid)
    if !elements.isEmpty {
      bytes.append(network: Int32(elements.count))
      bytes.append(network: Int32(1))
    }
    for element in elements {
      precondition(element.oid == type.oid, "an array's elements are of its type")
      guard let value = element.bytes else {
        bytes.append(network: Int32(-1))
        continue
      }
      bytes.append(network: Int32(value.count))
      bytes += value
    }
    return PostgresValue(type.arrayOID, bytes)
  }

  /// Returns an array of `bigint`.
  package static func integers(_ values: some Sequence<Int64>) -> PostgresValue {
    array(.integer, values.map { .integer($0) })
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
  mutating func append(network value: some FixedWidthInteger) {
    append(contentsOf: value.networkBytes)
  }
}
