/// Builds a parameter that is an array of one dimension.
package struct PostgresArray {
  private let type: PostgresType
  private var bytes: [UInt8]
  private var count: Int32 = 0
  private var hasNull = false

  /// The bytes before the elements: the dimensions, whether there is NULL, the type, the count, and
  /// the first index.
  private static let headerSize = 20

  /// Creates an empty array with room for a number of elements.
  package init(_ type: PostgresType, capacity: Int) {
    self.type = type
    bytes = []
    bytes.reserveCapacity(Self.headerSize + 12 * capacity)
    bytes.append(contentsOf: repeatElement(0, count: Self.headerSize))
  }

  /// The number of bytes.
  package var size: Int { bytes.count }

  /// Appends a `bigint`; it's a programmer error if the elements have another type, as for the
  /// other functions.
  package mutating func append(_ value: Int64) {
    guard type == .integer else { fatalError("an array's elements are of its type") }
    append(UInt64(bitPattern: value))
  }

  /// Appends an element of eight bytes with its length, in one step.
  private mutating func append(_ bits: UInt64) {
    count += 1
    let words = (
      UInt32(8).bigEndian, UInt32(truncatingIfNeeded: bits >> 32).bigEndian,
      UInt32(truncatingIfNeeded: bits).bigEndian
    )
    Swift.withUnsafeBytes(of: words) { bytes.append(contentsOf: $0) }
  }

  /// Appends a `double precision`.
  package mutating func append(_ value: Double) {
    guard type == .real else { fatalError("an array's elements are of its type") }
    append(value.bitPattern)
  }

  /// Appends a string, and returns false for one with the character NUL, which the server rejects.
  package mutating func append(_ value: String) -> Bool {
    guard type == .text else { fatalError("an array's elements are of its type") }
    count += 1
    var value = value
    return value.withUTF8 { text in
      bytes.append(network: Int32(text.count))
      bytes.append(contentsOf: text)
      return !text.contains(0)
    }
  }

  /// Appends NULL.
  package mutating func appendNull() {
    count += 1
    hasNull = true
    bytes.append(network: Int32(-1))
  }

  /// Appends a value.
  package mutating func append(_ value: PostgresValue) {
    guard value.oid == type.oid else { fatalError("an array's elements are of its type") }
    guard let element = value.bytes else { return appendNull() }
    count += 1
    bytes.append(network: Int32(element.count))
    bytes.append(contentsOf: element)
  }

  /// Returns the array.
  package func finished() -> PostgresValue {
    guard count > 0 else { return .array(type, []) }
    var header: [UInt8] = []
    header.append(network: Int32(1))
    header.append(network: Int32(hasNull ? 1 : 0))
    header.append(network: type.oid)
    header.append(network: count)
    header.append(network: Int32(1))
    var bytes = bytes
    bytes.replaceSubrange(0..<Self.headerSize, with: header)
    return PostgresValue(array: type, bytes)
  }
}
