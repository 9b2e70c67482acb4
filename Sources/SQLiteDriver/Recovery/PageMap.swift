/// The table to which each page of a database file belongs.
///
/// Each page is visited once, whatever its pointers are. The pointer map of an auto-vacuum file
/// confirms the pointers of interior pages, and replaces those of corrupt ones.
package final class PageMap {
  /// A record of a leaf page.
  package struct Row {
    /// The rowid.
    package let rowID: Int64
    /// The values of the record, each `nil` if its bytes can't be read.
    package let values: [SQLiteValue?]
  }

  /// The records of a leaf page.
  package struct Leaf {
    /// The records that can be decoded.
    package var rows: [Row]
    /// The number of records that can't.
    package var lostCount: Int
  }

  /// A page with records.
  package struct LeafPage {
    /// The page's number.
    package let number: UInt32
    /// The identifier of its table; 0 if neither a b-tree nor the pointer map states it.
    package let table: Int32
    /// How reliable the page is.
    package let grade: Grade
  }

  /// How reliable a page is.
  package enum Grade: Int, Comparable {
    /// The page is valid, and in its b-tree at the position of its rowids.
    case trusted
    /// The page is valid, but its b-tree doesn't confirm its rowids.
    case misplaced
    /// The page is valid, but in no b-tree that can be read. Its rows can be deleted ones if the
    /// list of free pages is corrupt too.
    case detached
    /// The page's structure is invalid.
    case corrupt

    package static func < (one: Grade, two: Grade) -> Bool { one.rawValue < two.rawValue }
  }

  private let pages: DatabasePages
  private let pointers: PointerMap
  private let freeList: FreeList
  /// The identifier of each page's table; 0 if it's unknown.
  private var owners: [Int32]
  private var isVisited: [Bool]
  private var isMisplaced: [Bool]
  /// The record that each overflow page belongs to: the leaf page, and the cell in the lower 16
  /// bits.
  private var overflowOwners: [UInt64]
  private var overflowBudget: Int

  /// The number of corrupt pages of each table, by the table's identifier.
  ///
  /// They include pages that aren't those of the table, and those that don't exist.
  package private(set) var corrupt: [Int32: Int] = [:]

  /// Reads the pointer map and the list of free pages.
  package init(_ pages: DatabasePages) {
    self.pages = pages
    pointers = PointerMap(pages)
    freeList = FreeList(pages)
    owners = Array(repeating: 0, count: pages.count + 1)
    isVisited = Array(repeating: false, count: pages.count + 1)
    isMisplaced = Array(repeating: false, count: pages.count + 1)
    overflowOwners = Array(repeating: 0, count: pages.count + 1)
    // The file is read several times.
    overflowBudget = 16 * pages.count + 1_000
  }

  /// Assigns the pages of a b-tree to a table, unless they already belong to one.
  ///
  /// **Cost:** reads each page once.
  package func assign(root: UInt32, to table: Int32) {
    typealias Visit = (number: UInt32, parent: UInt32, lower: Int64?, upper: Int64?)
    var stack: [Visit] = [(root, 0, nil, nil)]
    while let (number, parent, lower, upper) = stack.popLast() {
      guard number >= 1, number <= pages.count, !isVisited[Int(number)],
        let bytes = pages.page(number), !isContradicted(number, parent: parent, .child)
      else {
        corrupt[table, default: 0] += 1
        continue
      }
      if let leaf = TableLeaf(bytes, isFirst: number == 1, usable: pages.usable) {
        isVisited[Int(number)] = true
        owners[Int(number)] = table
        isMisplaced[Int(number)] = !leaf.cells.allSatisfy { cell in
          lower.map { $0 < cell.rowID } ?? true && upper.map { $0 >= cell.rowID } ?? true
        }
        if !leaf.isIntact || isMisplaced[Int(number)] { corrupt[table, default: 0] += 1 }
      } else if let interior = TableInterior(bytes, isFirst: number == 1, usable: pages.usable) {
        isVisited[Int(number)] = true
        owners[Int(number)] = table
        if !interior.isIntact { corrupt[table, default: 0] += 1 }
        stack += interior.children.map { child in
          guard interior.isIntact else { return (child.number, number, lower, upper) }
          return (child.number, number, child.lower ?? lower, child.upper ?? upper)
        }
      } else {
        isVisited[Int(number)] = true
        corrupt[table, default: 0] += 1
      }
    }
  }

  /// Returns whether the pointer map assigns a page to another one, which refers to it too.
  ///
  /// If the other one doesn't, the map is corrupt.
  private func isContradicted(
    _ page: UInt32, parent: UInt32, _ kind: PointerMap.Kind
  ) -> Bool {
    guard parent > 0, let entry = pointers[page], entry.kind != kind || entry.parent != parent
    else {
      return false
    }
    if entry.kind == .free { return freeList.isIntact && freeList.contains(page) }
    guard let other = pages.page(entry.parent) else { return entry.kind == .root }
    let isFirst = entry.parent == 1
    switch entry.kind {
    case .free, .root: return true
    case .overflow: return other.uint32(at: 0) == page
    case .firstOverflow:
      guard let leaf = TableLeaf(other, isFirst: isFirst, usable: pages.usable) else {
        // An index refers to it.
        return [0x02, 0x0A].contains(other[isFirst ? 100 : 0])
      }
      return leaf.cells.contains { $0.overflow == page }
    case .child:
      guard let interior = TableInterior(other, isFirst: isFirst, usable: pages.usable) else {
        return other[isFirst ? 100 : 0] == 0x02
      }
      return interior.children.contains { $0.number == page }
    }
  }

  /// Returns the table of a page; 0 if neither a b-tree nor the pointer map states it.
  private func owner(of page: UInt32) -> Int32 {
    var (number, steps) = (page, 0)
    while owners[Int(number)] == 0, steps < 64 {
      guard let entry = pointers[number], entry.kind == .child else { return 0 }
      number = entry.parent
      steps += 1
    }
    return owners[Int(number)]
  }

  /// Returns the leaf pages of tables, the most reliable first, so that the first copy of a row is
  /// the best.
  ///
  /// **Cost:** reads the whole file once.
  package func leaves() -> [LeafPage] {
    var leaves: [LeafPage] = []
    for number in 1...UInt32(pages.count) {
      let isReached = owners[Int(number)] != 0
      guard isReached || !freeList.contains(number), let bytes = pages.page(number),
        let leaf = TableLeaf(bytes, isFirst: number == 1, usable: pages.usable)
      else { continue }
      if !isReached, let kind = pointers[number]?.kind, kind != .child, kind != .root { continue }
      let grade: Grade =
        if !leaf.isIntact { .corrupt } else if !isReached { .detached } else {
          isMisplaced[Int(number)] ? .misplaced : .trusted
        }
      leaves.append(LeafPage(number: number, table: owner(of: number), grade: grade))
    }
    // The sort is stable: pages of a grade are in the order of the file.
    return leaves.sorted { $0.grade < $1.grade }
  }

  /// Returns the records of a leaf page.
  ///
  /// **Cost:** reads the page and the overflow pages of its records.
  package func leaf(_ number: UInt32) -> Leaf {
    guard let bytes = pages.page(number),
      let page = TableLeaf(bytes, isFirst: number == 1, usable: pages.usable)
    else { return Leaf(rows: [], lostCount: 0) }
    var leaf = Leaf(rows: [], lostCount: page.invalidCount)
    for cell in page.cells {
      var payload = Array(bytes[cell.local])
      if cell.overflow > 0 {
        payload += overflow(of: cell, on: number)
      }
      if let values = RecordDecoder.values(payload, size: cell.size, encoding: pages.encoding) {
        leaf.rows.append(Row(rowID: cell.rowID, values: values))
      } else {
        leaf.lostCount += 1
      }
    }
    return leaf
  }

  /// Returns the bytes of a record on overflow pages: all of them, or none if the chain is invalid.
  ///
  /// Each overflow page belongs to one record, so that the values of a page aren't larger than the
  /// file. All chains together have a limited length.
  private func overflow(of cell: TableLeaf.Cell, on page: UInt32) -> [UInt8] {
    let count = cell.size - cell.local.count
    let record = UInt64(page) << 16 | UInt64(cell.index)
    guard count <= pages.count * pages.usable else { return [] }
    var (bytes, chain): ([UInt8], [Int]) = ([], [])
    var (next, previous) = (cell.overflow, page)
    while bytes.count < count {
      guard next >= 2, next <= pages.count, overflowBudget > 0, owners[Int(next)] == 0,
        !(freeList.isIntact && freeList.contains(next)),
        [0, record].contains(overflowOwners[Int(next)]),
        !isContradicted(
          next, parent: previous, chain.isEmpty ? .firstOverflow : .overflow),
        let content = pages.page(next)
      else { return [] }
      overflowBudget -= 1
      bytes += content[4..<min(pages.usable, 4 + count - bytes.count)]
      chain.append(Int(next))
      (previous, next) = (next, content.uint32(at: 0))
    }
    guard next == 0 else { return [] }
    for number in chain { overflowOwners[number] = record }
    return bytes
  }
}

/// The unused pages of a database file, which can contain deleted rows.
struct FreeList {
  /// Whether each page is in the list, by number.
  private var isFree: [Bool]
  /// Whether the list has exactly the pages that the header states.
  let isIntact: Bool

  /// Reads the list up to its first invalid page.
  ///
  /// **Cost:** reads one page for about 1,000 in the list.
  init(_ pages: DatabasePages) {
    isFree = Array(repeating: false, count: pages.count + 1)
    guard let header = pages.page(1) else {
      isIntact = false
      return
    }
    var (trunk, found, isValid) = (header.uint32(at: 32), 0, true)
    while trunk > 0 {
      guard let bytes = pages.page(trunk), !isFree[Int(trunk)] else {
        isValid = false
        break
      }
      let count = Int(bytes.uint32(at: 4))
      let leaves = (0..<min(count, pages.usable / 4 - 2)).map { bytes.uint32(at: 8 + 4 * $0) }
      guard count == leaves.count, leaves.allSatisfy({ $0 >= 2 && $0 <= pages.count }) else {
        isValid = false
        break
      }
      isFree[Int(trunk)] = true
      for leaf in leaves { isFree[Int(leaf)] = true }
      found += 1 + count
      trunk = bytes.uint32(at: 0)
    }
    isIntact = isValid && found == Int(header.uint32(at: 36))
  }

  /// Returns whether a page is in the list, as far as it can be read.
  func contains(_ page: UInt32) -> Bool { isFree[Int(page)] }
}

/// The pointer map of an auto-vacuum file: the kind of each page, and the page that refers to it.
///
/// **Cost:** one read for about 800 pages of the file, and five bytes of memory for each.
struct PointerMap {
  /// What a page is used for.
  enum Kind: UInt8 {
    case root = 1
    case free
    /// The parent is the page with the record.
    case firstOverflow
    /// The parent is the preceding overflow page.
    case overflow
    /// The parent is an interior page.
    case child
  }

  /// The kind of a page, and the page that refers to it; 0 for a root or free page.
  struct Entry {
    let kind: Kind
    let parent: UInt32

    init?(kind: UInt8, parent: UInt32, pageCount: Int) {
      guard let kind = Kind(rawValue: kind) else { return nil }
      let hasParent = kind != .root && kind != .free
      guard hasParent ? parent >= 1 && parent <= pageCount : parent == 0 else { return nil }
      self.kind = kind
      self.parent = parent
    }
  }

  private var kinds: [UInt8] = []
  private var parents: [UInt32] = []

  /// Reads the map; one without entries if the file has none, or its first page is corrupt.
  init(_ pages: DatabasePages) {
    let span = pages.usable / 5
    guard pages.count > 2, let second = pages.page(2) else { return }
    let expected = min(span, pages.count - 2)
    let valid = (0..<expected).count { Self.entry(second, $0, pages.count) != nil }
    guard valid * 10 >= expected * 9 else { return }
    kinds = Array(repeating: 0, count: pages.count + 1)
    parents = Array(repeating: 0, count: pages.count + 1)
    let lockPage = 0x4000_0000 / pages.pageSize + 1
    for base in stride(from: 2, through: pages.count, by: span + 1) {
      // SQLite doesn't use the page at 1 GiB.
      let map = base == lockPage ? base + 1 : base
      guard map <= pages.count, let bytes = pages.page(UInt32(map)) else { continue }
      for index in 0..<span {
        let page = map + 1 + index
        guard page <= pages.count, page < base + span + 1 else { break }
        guard let entry = Self.entry(bytes, index, pages.count) else { continue }
        kinds[page] = entry.kind.rawValue
        parents[page] = entry.parent
      }
    }
  }

  private static func entry(_ bytes: [UInt8], _ index: Int, _ pageCount: Int) -> Entry? {
    Entry(kind: bytes[index * 5], parent: bytes.uint32(at: index * 5 + 1), pageCount: pageCount)
  }

  /// Returns the entry of a page; `nil` if there's none, or it's invalid.
  subscript(page: UInt32) -> Entry? {
    guard Int(page) < kinds.count else { return nil }
    return Entry(
      kind: kinds[Int(page)], parent: parents[Int(page)], pageCount: kinds.count - 1)
  }
}
