/// The table to which each page of a database file belongs.
///
/// Each page is visited once, whatever its pointers are. The pointer map of an auto-vacuum file
/// confirms the pointers of interior pages, and replaces those of corrupt ones.
package final class PageMap {
  /// A record of a leaf page.
  package struct Row {
    /// The rowid.
    package let rowID: Int64
    /// The values of the record, each nil if its bytes can't be read.
    package let values: [SQLiteValue?]
  }

  /// The records of a leaf page.
  package struct Leaf {
    /// The records that can be decoded.
    package var rows: [Row]
    /// The number of records that can't.
    package var lostCount: Int
  }

  private let pages: DatabasePages
  private let hasPointerMap: Bool
  /// The identifier of each page's table; 0 if it's unknown.
  private var owners: [Int32]
  private var isFree: [Bool]
  /// The leaf page whose record each overflow page belongs to; 0 for none.
  private var overflowOwners: [UInt32]
  private var overflowBudget: Int
  private var cachedMap: (number: UInt32, bytes: [UInt8])?

  /// The number of unreadable pages of each table, by the table's identifier.
  package private(set) var damaged: [Int32: Int] = [:]

  /// Reads the free list and looks for a pointer map.
  ///
  /// Cost: the pages of the free list.
  package init(_ pages: DatabasePages) {
    self.pages = pages
    owners = Array(repeating: 0, count: pages.count + 1)
    isFree = Array(repeating: false, count: pages.count + 1)
    overflowOwners = Array(repeating: 0, count: pages.count + 1)
    // The file is read several times.
    overflowBudget = 16 * pages.count + 1_000
    let second = pages.page(2) ?? []
    let entries = min(pages.usable / 5, max(0, pages.count - 2))
    hasPointerMap =
      entries > 0 && second.count >= pages.usable
      && (0..<entries).allSatisfy { (1...5).contains(second[$0 * 5]) || second[$0 * 5] == 0 }
      && (1...5).contains(second[0])
    readFreeList()
  }

  private func readFreeList() {
    guard let first = pages.page(1) else { return }
    var (trunk, steps) = (first.uint32(at: 32), 0)
    while trunk > 0, trunk <= pages.count, !isFree[Int(trunk)], steps < pages.count {
      guard let bytes = pages.page(trunk) else { return }
      let count = Int(bytes.uint32(at: 4))
      guard count <= pages.usable / 4 - 2 else { return }
      isFree[Int(trunk)] = true
      for index in 0..<count {
        let leaf = Int(bytes.uint32(at: 8 + 4 * index))
        if leaf >= 1, leaf <= pages.count { isFree[leaf] = true }
      }
      trunk = bytes.uint32(at: 0)
      steps += 1
    }
  }

  /// Returns the kind and parent of a page in the pointer map; nil if there's no valid entry.
  private func pointer(of page: UInt32) -> (kind: UInt8, parent: UInt32)? {
    guard hasPointerMap, page > 2 else { return nil }
    let span = UInt32(pages.usable / 5 + 1)
    var map = (page - 2) / span * span + 2
    if map == UInt32(0x4000_0000 / pages.pageSize + 1) { map += 1 }
    guard page > map, map <= pages.count else { return nil }
    if cachedMap?.number != map {
      guard let bytes = pages.page(map) else { return nil }
      cachedMap = (map, bytes)
    }
    let offset = Int(page - map - 1) * 5
    guard let bytes = cachedMap?.bytes, offset + 5 <= pages.usable,
      (1...5).contains(bytes[offset])
    else { return nil }
    let parent = bytes.uint32(at: offset + 1)
    return parent <= pages.count ? (bytes[offset], parent) : nil
  }

  /// Assigns the pages of a b-tree to a table, unless they already belong to one.
  ///
  /// Cost: reads each page once.
  package func assign(root: UInt32, to table: Int32) {
    var stack = [root]
    while let number = stack.popLast() {
      guard number >= 1, number <= pages.count, owners[Int(number)] == 0 else { continue }
      owners[Int(number)] = table
      guard let bytes = pages.page(number) else {
        damaged[table, default: 0] += 1
        continue
      }
      if let interior = TableInterior(bytes, isFirst: number == 1, usable: pages.usable) {
        if !interior.isIntact { damaged[table, default: 0] += 1 }
        stack += interior.children.filter { child in
          guard let pointer = pointer(of: child) else { return true }
          return pointer.kind == 5 && pointer.parent == number
        }
      } else if TableLeaf(bytes, isFirst: number == 1, usable: pages.usable) == nil {
        damaged[table, default: 0] += 1
      }
    }
  }

  /// Returns the table of a page; 0 if neither a b-tree nor the pointer map states it.
  private func owner(of page: UInt32) -> Int32 {
    var (number, steps) = (page, 0)
    while owners[Int(number)] == 0, steps < 64 {
      guard let pointer = pointer(of: number), pointer.kind == 5, pointer.parent >= 1 else {
        return 0
      }
      number = pointer.parent
      steps += 1
    }
    return owners[Int(number)]
  }

  /// The leaf pages of tables, each with its table: first those that are valid and in their b-tree, then
  /// other valid ones, then corrupt ones, so that the most reliable copy of a row comes first.
  ///
  /// Cost: reads the whole file once.
  package func leaves() -> [(number: UInt32, table: Int32)] {
    var groups: [[(number: UInt32, table: Int32)]] = [[], [], []]
    for number in 1...UInt32(pages.count) {
      let isReached = owners[Int(number)] != 0
      guard isReached || !isFree[Int(number)], let bytes = pages.page(number),
        let leaf = TableLeaf(bytes, isFirst: number == 1, usable: pages.usable)
      else { continue }
      if !isReached, let kind = pointer(of: number)?.kind, kind != 5, kind != 1 { continue }
      groups[leaf.isIntact ? (isReached ? 0 : 1) : 2].append((number, owner(of: number)))
    }
    return groups.flatMap(\.self)
  }

  /// Returns the records of a leaf page.
  ///
  /// Cost: reads the page and the overflow pages of its records.
  package func leaf(_ number: UInt32) -> Leaf {
    guard let bytes = pages.page(number),
      let page = TableLeaf(bytes, isFirst: number == 1, usable: pages.usable)
    else { return Leaf(rows: [], lostCount: 0) }
    var leaf = Leaf(rows: [], lostCount: page.invalidCount)
    for cell in page.cells {
      var payload = Array(bytes[cell.local])
      if cell.overflow > 0 {
        payload += overflow(from: cell.overflow, count: cell.size - payload.count, of: number)
      }
      if let values = RecordDecoder.values(payload, size: cell.size, encoding: pages.encoding) {
        leaf.rows.append(Row(rowID: cell.rowID, values: values))
      } else {
        leaf.lostCount += 1
      }
    }
    return leaf
  }

  /// Returns bytes of overflow pages: all of them, or none if the chain is invalid.
  ///
  /// Each overflow page belongs to the records of one leaf page. All chains together have a limited length.
  private func overflow(from first: UInt32, count: Int, of page: UInt32) -> [UInt8] {
    guard count <= pages.count * pages.usable else { return [] }
    var (bytes, chain): ([UInt8], [Int]) = ([], [])
    var (next, previous) = (first, page)
    while bytes.count < count {
      guard next >= 1, next <= pages.count, overflowBudget > 0, !isFree[Int(next)],
        owners[Int(next)] == 0, [0, page].contains(overflowOwners[Int(next)])
      else { return [] }
      if let pointer = pointer(of: next) {
        let kind: UInt8 = chain.isEmpty ? 3 : 4
        guard pointer.kind == kind, pointer.parent == previous else { return [] }
      }
      overflowBudget -= 1
      guard let content = pages.page(next) else { return [] }
      bytes += content[4..<min(pages.usable, 4 + count - bytes.count)]
      chain.append(Int(next))
      (previous, next) = (next, content.uint32(at: 0))
    }
    guard next == 0 else { return [] }
    for number in chain { overflowOwners[number] = page }
    return bytes
  }
}
