/// As many elements as were made at first, in memory of its own: reading one counts no reference.
///
/// For tables that cannot be copied, which Swift's arrays do not take. Positions are checked in debug
/// builds.
struct FixedArray<Element: ~Copyable>: ~Copyable {
  private let elements: UnsafeMutablePointer<Element>
  let count: Int

  /// Makes each element anew.
  init(count: Int, _ make: () -> Element) {
    elements = .allocate(capacity: max(count, 1))
    for index in 0..<count { (elements + index).initialize(to: make()) }
    self.count = count
  }

  deinit {
    elements.deinitialize(count: count)
    elements.deallocate()
  }

  subscript(index: Int) -> Element {
    unsafeAddress {
      assert(index >= 0 && index < count)
      return UnsafePointer(elements + index)
    }
    nonmutating unsafeMutableAddress {
      assert(index >= 0 && index < count)
      return elements + index
    }
  }
}
