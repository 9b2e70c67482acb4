/// A string as a dictionary key that's compared by its bytes.
///
/// Canonically equivalent strings, such as an accented letter and the letter with a combining mark,
/// are equal as strings.
struct ByteText: Hashable {
  private let text: String

  /// Creates a key.
  init(_ text: String) {
    self.text = text
  }

  static func == (left: Self, right: Self) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }
}

/// Writes a binary property list.
struct BinaryPropertyListWriter {
  private typealias Value = BinaryPropertyList.Value

  private enum Node {
    case leaf(BinaryPropertyList.Value)
    /// A collection, with the index of its first reference.
    case group(kind: UInt8, count: Int, start: Int)
  }

  private var nodes: [Node] = []
  /// The references of all collections.
  private var references: [Int] = []
  private var strings: [ByteText: Int] = [:]
  /// The nodes of UIDs, which are most of the values of a keyed archive; -1 for none.
  private var identifiers: [Int] = []
  private var leaves: [BinaryPropertyList.Value: Int] = [:]

  /// Returns a value as a complete property list.
  mutating func write(_ value: BinaryPropertyList.Value) -> [UInt8] {
    _ = add(value)
    let referenceSize = Self.size(of: UInt64(nodes.count))
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    offsets.reserveCapacity(nodes.count)
    for node in nodes {
      offsets.append(bytes.count)
      switch node {
      case .leaf(let value): Self.append(value, to: &bytes)
      case .group(let kind, let count, let start):
        Self.append(marker: kind, count: count, to: &bytes)
        for reference in references[start..<start + (kind == 0xD ? 2 * count : count)] {
          Self.append(UInt64(reference), size: referenceSize, to: &bytes)
        }
      }
    }
    let tableOffset = bytes.count
    let offsetSize = Self.size(of: UInt64(tableOffset))
    for offset in offsets { Self.append(UInt64(offset), size: offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [nodes.count, 0, tableOffset] {
      Self.append(UInt64(number), size: 8, to: &bytes)
    }
    return bytes
  }

  private mutating func add(_ value: BinaryPropertyList.Value) -> Int {
    switch value {
    case .array(let children): return addGroup(kind: 0xA, children: children)
    case .set(let children): return addGroup(kind: 0xC, children: children)
    case .dictionary(let entries):
      let sorted = entries.sorted { $0.key < $1.key }
      let (index, start) = reserveGroup(
        kind: 0xD, count: sorted.count, references: 2 * sorted.count)
      for (place, entry) in sorted.enumerated() { references[start + place] = add(entry.key) }
      for (place, entry) in sorted.enumerated() {
        references[start + sorted.count + place] = add(entry.value)
      }
      return index
    case .string(let text): return add(text)
    case .uid(let number) where number <= UInt16.max: return add(identifier: Int(number))
    default:
      if let known = leaves[value] { return known }
      let index = append(.leaf(value))
      leaves[value] = index
      return index
    }
  }

  private mutating func add(_ text: String) -> Int {
    let key = ByteText(text)
    if let known = strings[key] { return known }
    let index = append(.leaf(.string(text)))
    strings[key] = index
    return index
  }

  private mutating func add(identifier: Int) -> Int {
    if identifier >= identifiers.count {
      identifiers += Array(repeating: -1, count: identifier + 1 - identifiers.count)
    }
    if identifiers[identifier] < 0 {
      identifiers[identifier] = append(.leaf(.uid(UInt32(identifier))))
    }
    return identifiers[identifier]
  }

  private mutating func addGroup(kind: UInt8, children: [BinaryPropertyList.Value]) -> Int {
    let (index, start) = reserveGroup(
      kind: kind, count: children.count, references: children.count)
    for (place, child) in children.enumerated() { references[start + place] = add(child) }
    return index
  }

  private mutating func reserveGroup(
    kind: UInt8, count: Int, references: Int
  ) -> (index: Int, start: Int) {
    let start = self.references.count
    self.references += repeatElement(0, count: references)
    return (append(.group(kind: kind, count: count, start: start)), start)
  }

  private mutating func append(_ node: Node) -> Int {
    nodes.append(node)
    return nodes.count - 1
  }

  private static func append(_ value: BinaryPropertyList.Value, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0x00)
    case .bool(let flag): bytes.append(flag ? 0x09 : 0x08)
    case .integer(let number): append(integer: number, to: &bytes)
    case .unsigned(let number):
      bytes.append(0x14)
      append(0, size: 8, to: &bytes)
      append(number, size: 8, to: &bytes)
    case .real(let number):
      bytes.append(0x23)
      append(number.bitPattern, size: 8, to: &bytes)
    case .date(let seconds):
      bytes.append(0x33)
      append(seconds.bitPattern, size: 8, to: &bytes)
    case .data(let content):
      append(marker: 0x4, count: content.count, to: &bytes)
      bytes += content
    case .string(let text):
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        append(marker: 0x5, count: text.utf8.count, to: &bytes)
        bytes += text.utf8
      } else {
        append(marker: 0x6, count: text.utf16.count, to: &bytes)
        for unit in text.utf16 { append(UInt64(unit), size: 2, to: &bytes) }
      }
    case .uid(let number):
      let size = size(of: UInt64(number))
      bytes.append(0x80 | UInt8(size - 1))
      append(UInt64(number), size: size, to: &bytes)
    case .array, .set, .dictionary:
      fatalError("A group is written through its references.")
    }
  }

  private static func append(integer: Int64, to bytes: inout [UInt8]) {
    let bits = UInt64(bitPattern: integer)
    let size = integer < 0 ? 8 : size(of: bits)
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    append(bits, size: size, to: &bytes)
  }

  private static func append(marker: UInt8, count: Int, to bytes: inout [UInt8]) {
    bytes.append(marker << 4 | UInt8(min(count, 0xF)))
    if count >= 0xF { append(integer: Int64(count), to: &bytes) }
  }

  private static func append(_ number: UInt64, size: Int, to bytes: inout [UInt8]) {
    for index in (0..<size).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
    }
  }

  /// Returns the minimum size for a number: 1, 2, 4, or 8 bytes.
  private static func size(of number: UInt64) -> Int {
    switch number {
    case ...0xFF: 1
    case ...0xFFFF: 2
    case ...0xFFFF_FFFF: 4
    default: 8
    }
  }
}
