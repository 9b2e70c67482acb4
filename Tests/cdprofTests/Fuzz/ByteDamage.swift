/// Damages bytes: single ones, runs, numbers, pages of a database, the text of a document.
struct ByteDamage {
  var numbers: FuzzNumbers

  /// Changes some bytes, from an offset on.
  mutating func changed(_ bytes: [UInt8], from first: Int = 0) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<numbers.one(of: [1, 1, 2, 3, 5, 8, 20]) where bytes.count > first + 1 {
      let place = first + numbers.below(bytes.count - first)
      switch numbers.below(8) {
      case 0: bytes[place] = UInt8(numbers.below(256))
      case 1: bytes[place] ^= 1 << UInt8(numbers.below(8))
      case 2: bytes[place] = numbers.one(of: [0, 1, 2, 5, 10, 13, 0x7F, 0x80, 0xFF])
      case 3: copyRun(in: &bytes, to: place, from: first)
      case 4:
        let end = min(bytes.count, place + 1 + numbers.below(200))
        for index in place..<end { bytes[index] = numbers.one(of: [0, 0xFF]) }
      case 5: putNumber(in: &bytes, at: place)
      case 6: bytes[place] &+= numbers.one(of: [1, 0xFF])
      default:
        if numbers.below(10) == 0 { bytes.removeSubrange(place...) }
      }
    }
    return bytes
  }

  private mutating func copyRun(in bytes: inout [UInt8], to place: Int, from first: Int) {
    let source = first + numbers.below(bytes.count - first)
    let count = min(1 + numbers.below(64), bytes.count - source, bytes.count - place)
    let run = Array(bytes[source..<source + count])
    bytes.replaceSubrange(place..<place + count, with: run)
  }

  /// A number that is as large, as small or as negative as its width allows.
  private mutating func putNumber(in bytes: inout [UInt8], at place: Int) {
    let width = numbers.one(of: [1, 2, 4, 8])
    let (first, rest) = numbers.one(of: [(0xFF, 0xFF), (0, 0), (0x7F, 0xFF), (0x80, 0)])
    guard place + width <= bytes.count else { return }
    for index in 0..<width { bytes[place + index] = UInt8(index == 0 ? first : rest) }
  }

  /// Changes headers and cells of a database's pages, or puts one page in the place of another.
  mutating func changedPages(_ bytes: [UInt8], pageSize: Int = 4_096) -> [UInt8] {
    var bytes = bytes
    let pages = bytes.count / pageSize
    for _ in 0..<(1 + numbers.below(5)) where pages > 0 {
      let page = numbers.below(pages)
      let start = page * pageSize + (page == 0 ? 100 : 0)
      switch numbers.below(3) {
      case 0: bytes[start + numbers.below(12)] = UInt8(numbers.below(256))
      case 1:
        // Somewhere in the record of a cell: its size, its key, the types of its values, a value.
        let cells = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        let pointer = start + 8 + 2 * numbers.below(min(cells, 200))
        let cell = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
        let place = page * pageSize + min(pageSize - 1, cell + numbers.below(40))
        bytes[place] = UInt8(numbers.below(256))
      default:
        let other = numbers.below(pages) * pageSize
        let moved = Array(bytes[other..<other + pageSize])
        bytes.replaceSubrange(page * pageSize..<(page + 1) * pageSize, with: moved)
      }
    }
    return bytes
  }

  /// Exchanges, doubles, cuts and invents attributes and tags of a document.
  mutating func changedDocument(_ bytes: [UInt8]) -> [UInt8] {
    var text = String(decoding: bytes, as: UTF8.self)
    for _ in 0..<numbers.one(of: [1, 1, 2, 4, 8]) {
      let attributes = text.matches(of: /([A-Za-z]+)="([^"]*)"/)
      let tags = text.matches(of: /<([A-Za-z]+)[^>]*>/)
      guard !attributes.isEmpty, !tags.isEmpty else { break }
      let (attribute, other) = (numbers.one(of: attributes), numbers.one(of: attributes))
      let (tag, second) = (numbers.one(of: tags), numbers.one(of: tags))
      switch numbers.below(8) {
      case 0: text.replaceSubrange(range(of: attribute.output.2), with: other.output.2)
      case 1: text.removeSubrange(attribute.range)
      case 2:
        text.replaceSubrange(
          range(of: attribute.output.2), with: numbers.one(of: Self.oddValues))
      case 3: text.replaceSubrange(attribute.range, with: other.output.0)
      case 4: text.insert(contentsOf: tag.output.0, at: second.range.lowerBound)
      case 5: text.removeSubrange(tag.range)
      case 6: text.replaceSubrange(range(of: attribute.output.1), with: other.output.1)
      default: text.replaceSubrange(range(of: tag.output.1), with: second.output.1)
      }
    }
    return Array(text.utf8)
  }

  /// Where a piece of a text lies in it.
  private func range(of piece: Substring) -> Range<String.Index> {
    piece.startIndex..<piece.endIndex
  }

  private static let oddValues = [
    "", "-1", String(repeating: "9", count: 30), "YES", "Composite", "nan", "inf", "1e400",
    "Undefined", "&#0;", "&amp;", "&lt;", "(((", "%@", "Transformable", "@count", "a.b.c.@sum.d",
    "now()", "FUNCTION(1, 2)", "SELF == %K", String(repeating: "😀", count: 50), "Object ID",
  ]
}
