/// The unused pages of a database file, which can contain deleted rows.
struct FreeList {
  /// Whether each page is in the list, by number.
  private var isFree: [Bool]
  /// Whether the list has exactly the pages that the header states.
  let isIntact: Bool

  /// Reads the list up to its first invalid page.
  ///
  /// Cost: reads one page for about 1,000 in the list.
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
