/// An array that grows without moving its elements, and whose copies share them.
///
/// Copying costs one reference for each block of 1,024 elements. Only one copy may append; the
/// others keep the elements that they had.
// Sendable is unchecked: elements below a copy's count never change.
struct BlockArray<Element: Sendable>: RandomAccessCollection, @unchecked Sendable {
  private static var capacity: Int { 1_024 }

  private final class Block {
    let elements = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    var count = 0

    deinit {
      elements.deinitialize(count: count)
      elements.deallocate()
    }
  }

  private var blocks: ContiguousArray<Block> = []
  private(set) var count = 0

  var startIndex: Int { 0 }
  var endIndex: Int { count }
  func index(after index: Int) -> Int { index + 1 }
  func index(before index: Int) -> Int { index - 1 }
  func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
  func distance(from start: Int, to end: Int) -> Int { end - start }

  subscript(index: Int) -> Element {
    unsafeAddress {
      guard index >= 0 && index < count else { fatalError("index out of range") }
      return UnsafePointer(blocks[index / Self.capacity].elements + index % Self.capacity)
    }
  }

  /// Appends an element.
  ///
  /// It's a programmer error to append to two copies.
  mutating func append(_ element: Element) {
    let offset = count % Self.capacity
    if offset == 0 { blocks.append(Block()) }
    let block = blocks[blocks.count - 1]
    guard block.count == offset else { fatalError("another copy has appended") }
    (block.elements + offset).initialize(to: element)
    block.count += 1
    count += 1
  }
}
