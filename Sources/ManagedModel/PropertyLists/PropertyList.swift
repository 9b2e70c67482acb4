/// Reads and writes property lists as Foundation's values.
package enum PropertyList {
  /// Reads an XML or binary property list, or returns `nil` for other data.
  ///
  /// The data can be untrusted: the result is also `nil` for corrupt binary lists, for which
  /// Foundation's reader traps. Numbers are `NSNumber`s, as in Foundation.
  package static func read(_ bytes: some Collection<UInt8>) -> Any? {
    let bytes = Array(bytes)
    if bytes.starts(with: Array("bplist".utf8)) {
      return (try? BinaryPropertyList.read(bytes, limits: limits(for: bytes))).map(value)
    }
    // Foundation would read plain text as a list of the oldest form.
    guard bytes.first(where: { !$0.isBlank }) == UInt8(ascii: "<") else { return nil }
    return try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
  }

  /// Returns values as a binary property list.
  ///
  /// - Throws: Foundation's error for values that a property list can't contain.
  package static func write(_ values: [String: Any]) throws -> [UInt8] {
    if let list = Self.list(values) { return BinaryPropertyList.write(list) }
    return [UInt8](
      try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0))
  }

  /// Returns a value of a common type, or `nil` for other types, which Foundation converts.
  private static func list(_ value: Any) -> BinaryPropertyList.Value? {
    // A cast would convert a number to a Boolean.
    switch type(of: value) {
    case is String.Type: return (value as? String).map { .string($0) }
    case is Bool.Type: return (value as? Bool).map { .bool($0) }
    case is Int.Type: return (value as? Int).map { .integer(Int64($0)) }
    case is Data.Type: return (value as? Data).map { .data([UInt8]($0)) }
    case is Date.Type: return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
    case is [String: Any].Type, is [String: Data].Type, is [String: String].Type:
      guard let values = value as? [String: Any] else { return nil }
      let lists = values.compactMapValues { list($0) }
      return lists.count == values.count ? .dictionary(lists) : nil
    case is [Any].Type, is [String].Type:
      guard let values = value as? [Any] else { return nil }
      let lists = values.compactMap { list($0) }
      return lists.count == values.count ? .array(lists) : nil
    default:
      return (value as? NSNumber).flatMap { list(number: $0) }
    }
  }

  private static func list(number: NSNumber) -> BinaryPropertyList.Value? {
    // The type of Foundation's Booleans is that of a character. That of an integer depends on its
    // value.
    switch UInt8(truncatingIfNeeded: number.objCType.pointee) {
    case UInt8(ascii: "s"), UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "q"):
      return .integer(number.int64Value)
    // Equal values are written once, and -0 equals 0.
    case UInt8(ascii: "d") where number.doubleValue != 0: return .real(number.doubleValue)
    default: return nil
    }
  }

  /// Returns the limits for a list; any number of values is allowed if each has a byte of its own.
  package static func limits(for bytes: [UInt8]) -> BinaryPropertyList.Limits {
    var limits = BinaryPropertyList.Limits()
    limits.values = max(limits.values, bytes.count)
    return limits
  }

  private static func value(_ value: BinaryPropertyList.Value) -> Any {
    switch value {
    case .null: NSNull()
    case .bool(let flag): flag
    case .integer(let number): NSNumber(value: number)
    case .unsigned(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): Data(bytes)
    case .string(let text): text
    case .uid(let number): NSNumber(value: number)
    case .array(let values), .set(let values): values.map { Self.value($0) }
    case .dictionary(let values): values.mapValues { Self.value($0) }
    }
  }
}

extension UInt8 {
  /// Whether the byte is a space, a tab, a line ending, or part of UTF-8's byte order mark.
  fileprivate var isBlank: Bool {
    self == 0x20 || (0x09...0x0D).contains(self) || [0xEF, 0xBB, 0xBF].contains(self)
  }
}

/// The binary property list format, with the UIDs that keyed archives need.
///
/// Foundation reads the format but doesn't expose the values of UIDs.
package enum BinaryPropertyList {
  /// A value of a property list.
  package enum Value: Sendable, Hashable {
    /// No value.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// An integer that's too large for `integer`.
    case unsigned(UInt64)
    /// A floating-point number.
    case real(Double)
    /// A point in time, in seconds since 2001-01-01 UTC.
    case date(Double)
    /// Binary data.
    case data([UInt8])
    /// A string.
    case string(String)
    /// The index of an object of a keyed archive.
    case uid(UInt32)
    /// An ordered collection.
    case array([Value])
    /// An unordered collection.
    case set([Value])
    /// Values by name.
    case dictionary([String: Value])
  }

  /// An error in the bytes of a property list, with its position.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    /// The message, as a sentence.
    package let message: String
    /// The offset in the bytes.
    package let offset: Int

    /// The message with the offset.
    package var description: String { "\(message) (byte \(offset))" }
  }

  /// The limits beyond which a list is rejected.
  package struct Limits: Sendable {
    /// The maximum number of values; a value that occurs twice is counted twice.
    package var values = ModelLimits.propertyListValues
    /// The maximum nesting depth of arrays, sets, and dictionaries.
    package var depth = ModelLimits.propertyListDepth

    /// Creates the default limits, which are those of `ModelLimits`.
    package init() {}
  }

  /// Reads a property list.
  ///
  /// Takes time and memory in proportion to the bytes and within the limits, even for invalid
  /// bytes.
  ///
  /// - Parameters:
  ///   - bytes: A complete list, from header to trailer.
  ///   - limits: The limits beyond which the list is rejected.
  package static func read(
    _ bytes: [UInt8], limits: Limits = Limits()
  ) throws(Failure) -> Value {
    var reader = try BinaryPropertyListReader(bytes, limits: limits)
    return try reader.topValue()
  }

  /// Writes a property list.
  ///
  /// Equal scalar values are written once; keys are sorted.
  ///
  /// - Parameter value: The root value.
  /// - Returns: The bytes of the file.
  package static func write(_ value: Value) -> [UInt8] {
    var writer = BinaryPropertyListWriter()
    return writer.write(value)
  }
}

/// Reads the bytes of a binary property list.
///
/// Every offset and count is checked before use.
struct BinaryPropertyListReader {
  private typealias Value = BinaryPropertyList.Value
  private typealias Failure = BinaryPropertyList.Failure

  private static let trailerSize = 32

  private let bytes: [UInt8]
  private let limits: BinaryPropertyList.Limits
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let topObject: Int
  private let tableOffset: Int
  private var values = 0
  /// The strings and data, by their numbers; the memory of one is shared by all references to it.
  private var leaves: [Int: BinaryPropertyList.Value] = [:]

  /// Creates a reader, and checks the header and the trailer.
  init(
    _ bytes: [UInt8], limits: BinaryPropertyList.Limits
  ) throws(BinaryPropertyList.Failure) {
    guard bytes.count >= 8 + Self.trailerSize, bytes.starts(with: Array("bplist0".utf8)) else {
      throw Failure(message: "The bytes aren't a binary property list.", offset: 0)
    }
    let trailer = bytes.count - Self.trailerSize
    func number(_ offset: Int) -> Int? {
      let value = bytes[offset..<offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int(exactly: value)
    }
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      let count = number(trailer + 8), let top = number(trailer + 16),
      let table = number(trailer + 24), table >= 8, table <= trailer,
      count <= (trailer - table) / offsetSize, top < count
    else {
      throw Failure(message: "The trailer of the list is invalid.", offset: trailer)
    }
    self.bytes = bytes
    self.limits = limits
    objectCount = count
    topObject = top
    tableOffset = table
  }

  /// Reads the root value.
  mutating func topValue() throws(BinaryPropertyList.Failure) -> BinaryPropertyList.Value {
    try value(ofObject: topObject, depth: 0)
  }

  private func number(at offset: Int, size: Int) throws(BinaryPropertyList.Failure) -> UInt64 {
    guard offset >= 0, size <= tableEnd - offset else {
      throw Failure(message: "A number is out of bounds.", offset: offset)
    }
    var value: UInt64 = 0
    for index in offset..<offset + size { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  private var tableEnd: Int { bytes.count - Self.trailerSize }

  private mutating func value(
    ofObject object: Int, depth: Int
  ) throws(BinaryPropertyList.Failure) -> BinaryPropertyList.Value {
    if let leaf = leaves[object] {
      try count(object)
      return leaf
    }
    let entry = try number(at: tableOffset + object * offsetSize, size: offsetSize)
    guard let offset = Int(exactly: entry), offset >= 8, offset < tableOffset else {
      throw Failure(message: "An object is out of bounds.", offset: tableOffset)
    }
    try count(offset)
    guard depth <= limits.depth else {
      throw Failure(
        message: "The list is nested more than \(limits.depth) levels deep.", offset: offset)
    }
    let marker = bytes[offset]
    switch marker >> 4 {
    case 0xA: return .array(try children(at: offset, depth: depth))
    case 0xC: return .set(try children(at: offset, depth: depth))
    case 0xD: return .dictionary(try dictionary(at: offset, depth: depth))
    default:
      let leaf = try leaf(marker, at: offset)
      if (0x4...0x6).contains(marker >> 4) { leaves[object] = leaf }
      return leaf
    }
  }

  private mutating func count(_ offset: Int) throws(BinaryPropertyList.Failure) {
    values += 1
    if values > limits.values {
      throw Failure(message: "The list has more than \(limits.values) values.", offset: offset)
    }
  }

  private func leaf(
    _ marker: UInt8, at offset: Int
  ) throws(BinaryPropertyList.Failure) -> BinaryPropertyList.Value {
    let low = Int(marker & 0xF)
    switch marker >> 4 {
    case 0 where low == 0: return .null
    case 0 where low == 8: return .bool(false)
    case 0 where low == 9: return .bool(true)
    case 1 where low <= 4: return try integer(at: offset + 1, size: 1 << low)
    case 2 where low == 2:
      let bits = UInt32(truncatingIfNeeded: try number(at: offset + 1, size: 4))
      return .real(Double(Float(bitPattern: bits)))
    case 2 where low == 3:
      return .real(Double(bitPattern: try number(at: offset + 1, size: 8)))
    case 3 where low == 3:
      return .date(Double(bitPattern: try number(at: offset + 1, size: 8)))
    case 4: return .data(Array(try content(at: offset, width: 1)))
    case 5: return .string(String(decoding: try content(at: offset, width: 1), as: UTF8.self))
    case 6:
      let content = try content(at: offset, width: 2)
      let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map {
        UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
      }
      return .string(String(decoding: units, as: UTF16.self))
    case 8:
      guard let uid = UInt32(exactly: try number(at: offset + 1, size: low + 1, atMost: 8)) else {
        throw Failure(message: "A UID is too large.", offset: offset)
      }
      return .uid(uid)
    default:
      throw Failure(message: "An object has the unknown marker \(marker).", offset: offset)
    }
  }

  private func number(
    at offset: Int, size: Int, atMost limit: Int
  ) throws(BinaryPropertyList.Failure) -> UInt64 {
    guard size <= limit else {
      throw Failure(message: "A number has \(size) bytes.", offset: offset)
    }
    return try number(at: offset, size: size)
  }

  private func integer(
    at offset: Int, size: Int
  ) throws(BinaryPropertyList.Failure) -> BinaryPropertyList.Value {
    guard size == 16 else {
      let bits = try number(at: offset, size: size)
      return .integer(Int64(bitPattern: bits))
    }
    let high = try number(at: offset, size: 8)
    let low = try number(at: offset + 8, size: 8)
    let isSigned = low >> 63 == 1
    if high == (isSigned ? UInt64.max : 0) { return .integer(Int64(bitPattern: low)) }
    guard high == 0 else {
      throw Failure(message: "An integer is too large.", offset: offset)
    }
    return .unsigned(low)
  }

  /// Returns the number of elements of an object, and the offset of the first.
  private func extent(
    at offset: Int, width: Int
  ) throws(BinaryPropertyList.Failure) -> (start: Int, count: Int) {
    var start = offset + 1
    var count = Int(bytes[offset] & 0xF)
    if count == 0xF {
      guard start < tableOffset, bytes[start] >> 4 == 1, bytes[start] & 0xF <= 3 else {
        throw Failure(message: "The length of an object is invalid.", offset: offset)
      }
      let size = 1 << Int(bytes[start] & 0xF)
      let length = try number(at: start + 1, size: size)
      start += 1 + size
      count = Int(exactly: length) ?? Int.max
    }
    guard start <= tableOffset, count <= (tableOffset - start) / width else {
      throw Failure(message: "An object is longer than the list.", offset: offset)
    }
    return (start, count)
  }

  private func content(
    at offset: Int, width: Int
  ) throws(BinaryPropertyList.Failure) -> ArraySlice<UInt8> {
    let (start, count) = try extent(at: offset, width: width)
    return bytes[start..<start + count * width]
  }

  private func reference(at offset: Int) throws(BinaryPropertyList.Failure) -> Int {
    let value = try number(at: offset, size: referenceSize)
    guard value < objectCount else {
      throw Failure(message: "A reference is outside of the list.", offset: offset)
    }
    return Int(value)
  }

  private mutating func children(
    at offset: Int, depth: Int
  ) throws(BinaryPropertyList.Failure) -> [BinaryPropertyList.Value] {
    let (start, count) = try extent(at: offset, width: referenceSize)
    var children: [BinaryPropertyList.Value] = []
    children.reserveCapacity(min(count, limits.values - values))
    for index in 0..<count {
      let object = try reference(at: start + index * referenceSize)
      children.append(try value(ofObject: object, depth: depth + 1))
    }
    return children
  }

  private mutating func dictionary(
    at offset: Int, depth: Int
  ) throws(BinaryPropertyList.Failure) -> [String: BinaryPropertyList.Value] {
    let (start, count) = try extent(at: offset, width: 2 * referenceSize)
    var dictionary: [String: BinaryPropertyList.Value] = [:]
    dictionary.reserveCapacity(min(count, limits.values - values))
    for index in 0..<count {
      let key = try reference(at: start + index * referenceSize)
      let object = try reference(at: start + (count + index) * referenceSize)
      guard case .string(let name) = try value(ofObject: key, depth: depth + 1) else {
        throw Failure(message: "A key isn't a string.", offset: offset)
      }
      dictionary[name] = try value(ofObject: object, depth: depth + 1)
    }
    return dictionary
  }
}
