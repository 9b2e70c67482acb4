/// Corrupts bytes, runs of bytes, numbers, database pages, and XML documents.
struct ByteCorruptor {
  var generator: FuzzGenerator

  /// Returns the bytes with some of them changed, starting at an offset.
  mutating func changed(_ bytes: [UInt8], from first: Int = 0) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<generator.randomElement(of: [1, 1, 2, 3, 5, 8, 20]) where bytes.count > first + 1 {
      let offset = first + generator.below(bytes.count - first)
      switch generator.below(8) {
      case 0: bytes[offset] = UInt8(generator.below(256))
      case 1: bytes[offset] ^= 1 << UInt8(generator.below(8))
      case 2: bytes[offset] = generator.randomElement(of: [0, 1, 2, 5, 10, 13, 0x7F, 0x80, 0xFF])
      case 3: copyRun(in: &bytes, to: offset, from: first)
      case 4:
        let end = min(bytes.count, offset + 1 + generator.below(200))
        for index in offset..<end { bytes[index] = generator.randomElement(of: [0, 0xFF]) }
      case 5: putNumber(in: &bytes, at: offset)
      case 6: bytes[offset] &+= generator.randomElement(of: [1, 0xFF])
      default:
        if generator.below(10) == 0 { bytes.removeSubrange(offset...) }
      }
    }
    return bytes
  }

  private mutating func copyRun(in bytes: inout [UInt8], to offset: Int, from first: Int) {
    let source = first + generator.below(bytes.count - first)
    let count = min(1 + generator.below(64), bytes.count - source, bytes.count - offset)
    let run = Array(bytes[source..<source + count])
    bytes.replaceSubrange(offset..<offset + count, with: run)
  }

  /// Writes the largest, smallest, or another extreme number of a width.
  private mutating func putNumber(in bytes: inout [UInt8], at offset: Int) {
    let width = generator.randomElement(of: [1, 2, 4, 8])
    let (first, rest) = generator.randomElement(of: [(0xFF, 0xFF), (0, 0), (0x7F, 0xFF), (0x80, 0)])
    guard offset + width <= bytes.count else { return }
    for index in 0..<width { bytes[offset + index] = UInt8(index == 0 ? first : rest) }
  }

  /// Returns a database with changed page headers or cells, or with pages replaced by others.
  mutating func changedPages(_ bytes: [UInt8], pageSize: Int = 4_096) -> [UInt8] {
    var bytes = bytes
    let pages = bytes.count / pageSize
    for _ in 0..<(1 + generator.below(5)) where pages > 0 {
      let page = generator.below(pages)
      let start = page * pageSize + (page == 0 ? 100 : 0)
      switch generator.below(3) {
      case 0: bytes[start + generator.below(12)] = UInt8(generator.below(256))
      case 1:
        // A byte in the record of a cell: its size, rowid, serial types, or a value.
        let cells = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        let pointer = start + 8 + 2 * generator.below(min(cells, 200))
        let cell = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
        let offset = page * pageSize + min(pageSize - 1, cell + generator.below(40))
        bytes[offset] = UInt8(generator.below(256))
      default:
        let other = generator.below(pages) * pageSize
        let moved = Array(bytes[other..<other + pageSize])
        bytes.replaceSubrange(page * pageSize..<(page + 1) * pageSize, with: moved)
      }
    }
    return bytes
  }

  /// Returns a document with swapped, repeated, removed, and invalid attributes and tags.
  mutating func changedDocument(_ bytes: [UInt8]) -> [UInt8] {
    var text = String(decoding: bytes, as: UTF8.self)
    for _ in 0..<generator.randomElement(of: [1, 1, 2, 4, 8]) {
      let attributes = text.matches(of: /([A-Za-z]+)="([^"]*)"/)
      let tags = text.matches(of: /<([A-Za-z]+)[^>]*>/)
      guard !attributes.isEmpty, !tags.isEmpty else { break }
      let (attribute, other) = (
        generator.randomElement(of: attributes), generator.randomElement(of: attributes)
      )
      let (tag, second) = (generator.randomElement(of: tags), generator.randomElement(of: tags))
      switch generator.below(8) {
      case 0: text.replaceSubrange(range(of: attribute.output.2), with: other.output.2)
      case 1: text.removeSubrange(attribute.range)
      case 2:
        text.replaceSubrange(
          range(of: attribute.output.2), with: generator.randomElement(of: Self.oddValues))
      case 3: text.replaceSubrange(attribute.range, with: other.output.0)
      case 4: text.insert(contentsOf: tag.output.0, at: second.range.lowerBound)
      case 5: text.removeSubrange(tag.range)
      case 6: text.replaceSubrange(range(of: attribute.output.1), with: other.output.1)
      default: text.replaceSubrange(range(of: tag.output.1), with: second.output.1)
      }
    }
    return Array(text.utf8)
  }

  /// Returns the range of a substring.
  private func range(of piece: Substring) -> Range<String.Index> {
    piece.startIndex..<piece.endIndex
  }

  private static let oddValues = [
    "", "-1", String(repeating: "9", count: 30), "YES", "Composite", "nan", "inf", "1e400",
    "Undefined", "&#0;", "&amp;", "&lt;", "(((", "%@", "Transformable", "@count", "a.b.c.@sum.d",
    "now()", "FUNCTION(1, 2)", "SELF == %K", String(repeating: "😀", count: 50), "Object ID",
  ]
}
