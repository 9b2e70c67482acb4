/// An open-addressing table from primary keys to values, used by the registry and the row cache.
///
/// Fibonacci hashing of groups of eight keys, linear probing, backward-shift deletion. Neighboring
/// keys, which a table's rows have, are adjacent: filling a large table in key order misses the
/// processor's cache once per group. Several times faster than `Dictionary<Int64, Value>` on random
/// lookups, because it doesn't use SipHash and boxes nothing. A key is stored before its value, so
/// that a random lookup waits for memory once. `Int64.min` isn't a key.
struct KeyTable<Value>: ~Copyable {
  private var entries: Entries
  private var mask: Int
  private var shift: UInt64
  private(set) var count = 0

  private static var empty: Int64 { .min }

  /// Slots for a key and a value; if the key is `empty`, there's no value.
  private struct Entries {
    private let base: UnsafeMutableRawPointer

    /// Creates empty slots; those of a large table begin at a line of the processor's cache.
    init(capacity: Int) {
      let size = capacity * Entries.stride
      base = .allocate(byteCount: size, alignment: size < 1024 ? 16 : 64)
      for index in 0..<capacity { key(index).initialize(to: KeyTable.empty) }
    }

    private static var offset: Int {
      let alignment = MemoryLayout<Value>.alignment
      return (MemoryLayout<Int64>.size + alignment - 1) / alignment * alignment
    }

    private static var stride: Int {
      let alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<Int64>.alignment)
      return (offset + MemoryLayout<Value>.size + alignment - 1) / alignment * alignment
    }

    @inline(__always)
    func key(_ index: Int) -> UnsafeMutablePointer<Int64> {
      (base + index * Entries.stride).assumingMemoryBound(to: Int64.self)
    }

    @inline(__always)
    func value(_ index: Int) -> UnsafeMutablePointer<Value> {
      (base + (index * Entries.stride + Entries.offset)).assumingMemoryBound(to: Value.self)
    }

    func deallocate() {
      base.deallocate()
    }
  }

  /// Creates an empty table with room for 16 entries.
  init() {
    entries = Entries(capacity: 16)
    mask = 15
    shift = 63
  }

  deinit {
    for index in 0...mask where entries.key(index).pointee != KeyTable.empty {
      entries.value(index).deinitialize(count: 1)
    }
    entries.deallocate()
  }

  /// Returns the address of a key's value, valid until the table changes; `nil` if there's none.
  func find(_ key: Int64) -> UnsafeMutablePointer<Value>? {
    var index = home(key)
    while true {
      let found = entries.key(index).pointee
      if found == key { return entries.value(index) }
      if found == KeyTable.empty { return nil }
      index = (index + 1) & mask
    }
  }

  /// Returns the address of a key's value, created by `value` if there was none.
  mutating func find(
    _ key: Int64, orInsert value: @autoclosure () -> Value
  ) -> UnsafeMutablePointer<Value> {
    if (count + 1) * 4 > (mask + 1) * 3 { grow(to: (mask + 1) * 2) }
    var index = home(key)
    while entries.key(index).pointee != KeyTable.empty {
      if entries.key(index).pointee == key { return entries.value(index) }
      index = (index + 1) & mask
    }
    entries.key(index).pointee = key
    entries.value(index).initialize(to: value())
    count += 1
    return entries.value(index)
  }

  /// Reserves room for `additional` more entries, so that adding them moves nothing.
  mutating func reserve(_ additional: Int) {
    var capacity = mask + 1
    while (count + additional) * 4 > capacity * 3 { capacity *= 2 }
    if capacity > mask + 1 { grow(to: capacity) }
  }

  /// Removes a key's value from the table.
  @discardableResult
  mutating func remove(_ key: Int64) -> Value? {
    var index = home(key)
    while entries.key(index).pointee != key {
      if entries.key(index).pointee == KeyTable.empty { return nil }
      index = (index + 1) & mask
    }
    return remove(at: index)
  }

  /// Visits every entry; the body may change the value but not the table.
  func forEach(_ body: (Int64, UnsafeMutablePointer<Value>) throws -> Void) rethrows {
    guard count > 0 else { return }
    for index in 0...mask where entries.key(index).pointee != KeyTable.empty {
      try body(entries.key(index).pointee, entries.value(index))
    }
  }

  /// Removes every entry that satisfies the condition, passing each to `removed`.
  mutating func removeAll(
    where condition: (Int64, UnsafeMutablePointer<Value>) -> Bool, removed: (Int64, Value) -> Void
  ) {
    guard count > 0 else { return }
    var doomed: [Int64] = []
    forEach { key, value in
      if condition(key, value) { doomed.append(key) }
    }
    for key in doomed {
      if let value = remove(key) { removed(key, value) }
    }
  }

  /// Returns the start of the search for a key: a slot in the block of its group.
  private func home(_ key: Int64) -> Int {
    let group = UInt64(bitPattern: key &>> 3) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (group &>> shift) &<< 3 | UInt64(bitPattern: key & 7))
  }

  private mutating func remove(at start: Int) -> Value {
    let value = entries.value(start).move()
    entries.key(start).pointee = KeyTable.empty
    count -= 1
    var hole = start
    var index = (start + 1) & mask
    while entries.key(index).pointee != KeyTable.empty {
      let distance = (index - home(entries.key(index).pointee)) & mask
      if distance >= (index - hole) & mask {
        entries.key(hole).pointee = entries.key(index).pointee
        entries.value(hole).moveInitialize(from: entries.value(index), count: 1)
        entries.key(index).pointee = KeyTable.empty
        hole = index
      }
      index = (index + 1) & mask
    }
    return value
  }

  /// Moves all entries to a table with room for a power of two of them.
  private mutating func grow(to capacity: Int) {
    let (old, oldMask) = (entries, mask)
    entries = Entries(capacity: capacity)
    shift -= UInt64((capacity / (mask + 1)).trailingZeroBitCount)
    mask = capacity - 1
    for index in 0...oldMask where old.key(index).pointee != KeyTable.empty {
      var target = home(old.key(index).pointee)
      while entries.key(target).pointee != KeyTable.empty { target = (target + 1) & mask }
      entries.key(target).pointee = old.key(index).pointee
      entries.value(target).moveInitialize(from: old.value(index), count: 1)
    }
    old.deallocate()
  }
}

/// A fixed number of elements in separate memory: reading one doesn't change reference counts.
///
/// For tables that can't be copied, which Swift's arrays don't support. Indexes are checked in
/// debug builds.
struct FixedArray<Element: ~Copyable>: ~Copyable {
  private let elements: UnsafeMutablePointer<Element>
  let count: Int

  /// Creates each element.
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
