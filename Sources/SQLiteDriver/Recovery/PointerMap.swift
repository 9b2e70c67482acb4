/// The pointer map of an auto-vacuum file: the kind of each page, and the page that refers to it.
///
/// Cost: one read for about 800 pages of the file, and five bytes of memory for each.
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

  /// Returns the entry of a page; nil if there's none, or it's invalid.
  subscript(page: UInt32) -> Entry? {
    guard Int(page) < kinds.count else { return nil }
    return Entry(
      kind: kinds[Int(page)], parent: parents[Int(page)], pageCount: kinds.count - 1)
  }
}
