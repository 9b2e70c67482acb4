import Foundation

/// A leaf page of a table's b-tree.
package struct TableLeaf {
  /// A cell that lies within the page.
  struct Cell {
    let rowID: Int64
    /// The size of the record in bytes.
    let size: Int
    /// The part of the record on this page.
    let local: Range<Int>
    /// The first overflow page; 0 if the record is on this page only.
    let overflow: UInt32
    /// The index of the cell's pointer.
    let index: Int
  }

  /// The cells that lie within the page, in the order of their pointers.
  let cells: [Cell]
  /// The number of cells that don't.
  let invalidCount: Int
  /// Whether the page's structure is valid: ascending rowids, and cells and free blocks that fill
  /// the content area without overlapping.
  let isIntact: Bool

  /// Reads a page; `nil` if it isn't a leaf page of a table.
  init?(_ bytes: [UInt8], isFirst: Bool, usable: Int) {
    let start = isFirst ? 100 : 0
    guard bytes.count >= usable, bytes[start] == 0x0D else { return nil }
    let declared = bytes.uint16(at: start + 3)
    let count = min(declared, (usable - start - 8) / 6)
    let pointersEnd = start + 8 + 2 * count
    var cells: [Cell] = []
    var extents: [Range<Int>] = []
    for index in 0..<count {
      let offset = bytes.uint16(at: start + 8 + 2 * index)
      guard offset >= pointersEnd,
        let (cell, end) = Self.cell(bytes, at: offset, index, usable: usable)
      else { continue }
      cells.append(cell)
      extents.append(offset..<end)
    }
    let isAscending = zip(cells, cells.dropFirst()).allSatisfy { $0.rowID < $1.rowID }
    let content = bytes.uint16(at: start + 5) == 0 ? 65_536 : bytes.uint16(at: start + 5)
    let blocks = Self.freeBlocks(bytes, from: bytes.uint16(at: start + 1), usable: usable)
    self.cells = cells
    // A corrupt header can declare more cells than fit.
    invalidCount = count - cells.count
    isIntact =
      declared == cells.count && isAscending && content >= pointersEnd && content <= usable
      && blocks.map { blocks in
        let all = (extents + blocks).sorted { $0.lowerBound < $1.lowerBound }
        let used = all.reduce(Int(bytes[start + 7])) { $0 + $1.count }
        return used == usable - content
          && zip(all, all.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
      } == true
  }

  private static func cell(
    _ bytes: [UInt8], at offset: Int, _ index: Int, usable: Int
  ) -> (Cell, end: Int)? {
    guard let payload = bytes.varint(at: offset, before: usable),
      let key = bytes.varint(at: payload.end, before: usable),
      payload.value > 0, payload.value <= StoreLimits.recordSize
    else { return nil }
    let size = Int(payload.value)
    let largest = usable - 35
    var local = size
    if size > largest {
      let least = (usable - 12) * 32 / 255 - 23
      let wanted = least + (size - least) % (usable - 4)
      local = wanted <= largest ? wanted : least
    }
    let end = key.end + local + (local < size ? 4 : 0)
    guard end <= usable else { return nil }
    let cell = Cell(
      rowID: Int64(bitPattern: key.value), size: size, local: key.end..<(key.end + local),
      overflow: local < size ? bytes.uint32(at: key.end + local) : 0, index: index)
    return (cell, max(end, offset + 4))
  }

  /// Returns the free blocks of a page; `nil` if their chain is invalid.
  private static func freeBlocks(
    _ bytes: [UInt8], from first: Int, usable: Int
  ) -> [Range<Int>]? {
    var (blocks, next): ([Range<Int>], Int) = ([], first)
    while next != 0 {
      guard next + 4 <= usable else { return nil }
      let size = bytes.uint16(at: next + 2)
      let following = bytes.uint16(at: next)
      guard size >= 4, next + size <= usable, following == 0 || following >= next + size else {
        return nil
      }
      blocks.append(next..<(next + size))
      next = following
    }
    return blocks
  }
}

/// An interior page of a table's b-tree.
struct TableInterior {
  /// A page with rowids greater than `lower` and not greater than `upper`; `nil` for no limit.
  struct Child {
    let number: UInt32
    let lower: Int64?
    let upper: Int64?
  }

  let children: [Child]
  /// Whether all cells lie within the page, with ascending rowids.
  let isIntact: Bool

  /// Reads a page; `nil` if it isn't an interior page of a table.
  init?(_ bytes: [UInt8], isFirst: Bool, usable: Int) {
    let start = isFirst ? 100 : 0
    guard bytes.count >= usable, bytes[start] == 0x05 else { return nil }
    let declared = bytes.uint16(at: start + 3)
    let count = min(declared, (usable - start - 12) / 7)
    var (children, isAscending, lower): ([Child], Bool, Int64?) = ([], true, nil)
    for index in 0..<count {
      let offset = bytes.uint16(at: start + 12 + 2 * index)
      guard offset >= start + 12 + 2 * count, offset + 5 <= usable,
        let key = bytes.varint(at: offset + 4, before: usable)
      else { continue }
      let upper = Int64(bitPattern: key.value)
      if let lower, lower >= upper { isAscending = false }
      children.append(Child(number: bytes.uint32(at: offset), lower: lower, upper: upper))
      lower = upper
    }
    isIntact = children.count == declared && isAscending
    children.append(Child(number: bytes.uint32(at: start + 8), lower: lower, upper: nil))
    self.children = children
  }
}

/// Decodes records in SQLite's format.
enum RecordDecoder {
  /// Returns the values of a record, each `nil` if its bytes are missing; `nil` if the record is
  /// invalid.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the record, or the first of them.
  ///   - size: The size of the whole record, which must be exactly that of its values.
  ///   - encoding: The encoding of text.
  static func values(
    _ bytes: [UInt8], size: Int, encoding: String.Encoding
  ) -> [SQLiteValue?]? {
    guard let header = bytes.varint(at: 0, before: bytes.count),
      header.value >= 1, header.value <= UInt64(min(size, bytes.count))
    else { return nil }
    let headerEnd = Int(header.value)
    var types: [UInt64] = []
    var (offset, bodyEnd) = (header.end, headerEnd)
    while offset < headerEnd {
      guard let type = bytes.varint(at: offset, before: headerEnd), type.value != 10,
        type.value != 11, type.value <= UInt64(size) * 2 + 14
      else { return nil }
      types.append(type.value)
      bodyEnd += length(of: type.value)
      guard bodyEnd <= size else { return nil }
      offset = type.end
    }
    guard bodyEnd == size else { return nil }
    var start = headerEnd
    return types.map { type in
      let range = start..<(start + length(of: type))
      start = range.upperBound
      return range.upperBound <= bytes.count
        ? value(bytes[range], type: type, encoding: encoding) : nil
    }
  }

  private static func length(of type: UInt64) -> Int {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    default: (Int(type) - 12) / 2
    }
  }

  private static func value(
    _ bytes: ArraySlice<UInt8>, type: UInt64, encoding: String.Encoding
  ) -> SQLiteValue? {
    switch type {
    case 0: return .null
    case 8, 9: return .integer(Int64(type) - 8)
    case 1...6:
      let isNegative = (bytes.first ?? 0) & 0x80 != 0
      return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
    case 7:
      return .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    case let type where type.isMultiple(of: 2): return .blob(Array(bytes))
    default:
      // Foundation would remove a byte order mark from UTF-8.
      let text =
        encoding == .utf8
        ? String(validating: bytes, as: UTF8.self) : String(bytes: bytes, encoding: encoding)
      return text.map { .text($0) }
    }
  }
}
