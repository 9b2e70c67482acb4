/// An open-addressing table from primary keys to values: the registry and the row cache stand on it.
///
/// Fibonacci hashing of groups of eight keys, linear probing, removal by shifting back. Neighbouring
/// keys, which is what a table's rows have, lie side by side: filling a large table in the order of the
/// keys misses the processor's cache once a group. Several times faster than
/// `Dictionary<Int64, Value>` on random lookups, because nothing is hashed by SipHash and nothing is
/// boxed. `Int64.min` is no key.
struct KeyTable<Value>: ~Copyable {
  private var keys: UnsafeMutablePointer<Int64>
  private var values: UnsafeMutablePointer<Value>
  private var mask: Int
  private var shift: UInt64
  private(set) var count = 0

  private static var empty: Int64 { .min }

  /// An empty table with room for 16 entries.
  init() {
    (keys, values) = KeyTable.allocate(capacity: 16)
    mask = 15
    shift = 63
  }

  deinit {
    for index in 0...mask where keys[index] != KeyTable.empty {
      (values + index).deinitialize(count: 1)
    }
    keys.deallocate()
    values.deallocate()
  }

  /// Where a key's value lies, until the table changes; nil when there is none.
  func find(_ key: Int64) -> UnsafeMutablePointer<Value>? {
    var index = home(key)
    while true {
      let found = keys[index]
      if found == key { return values + index }
      if found == KeyTable.empty { return nil }
      index = (index + 1) & mask
    }
  }

  /// Where a key's value lies, made by `value` when there was none.
  mutating func find(
    _ key: Int64, orInsert value: @autoclosure () -> Value
  ) -> UnsafeMutablePointer<Value> {
    if (count + 1) * 4 > (mask + 1) * 3 { grow() }
    var index = home(key)
    while keys[index] != KeyTable.empty {
      if keys[index] == key { return values + index }
      index = (index + 1) & mask
    }
    keys[index] = key
    (values + index).initialize(to: value())
    count += 1
    return values + index
  }

  /// Makes room for `additional` more entries, so that adding them moves nothing.
  mutating func reserve(_ additional: Int) {
    while (count + additional) * 4 > (mask + 1) * 3 { grow() }
  }

  /// Takes a key's value out of the table.
  @discardableResult
  mutating func remove(_ key: Int64) -> Value? {
    var index = home(key)
    while keys[index] != key {
      if keys[index] == KeyTable.empty { return nil }
      index = (index + 1) & mask
    }
    return remove(at: index)
  }

  /// Visits every entry; the body may change the value but not the table.
  func forEach(_ body: (Int64, UnsafeMutablePointer<Value>) throws -> Void) rethrows {
    guard count > 0 else { return }
    for index in 0...mask where keys[index] != KeyTable.empty {
      try body(keys[index], values + index)
    }
  }

  /// Takes out every entry the condition is true for, handing each to `removed`.
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

  /// Where the search for a key begins: a place in the block of its group.
  private func home(_ key: Int64) -> Int {
    let group = UInt64(bitPattern: key &>> 3) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (group &>> shift) &<< 3 | UInt64(bitPattern: key & 7))
  }

  private mutating func remove(at start: Int) -> Value {
    let value = (values + start).move()
    keys[start] = KeyTable.empty
    count -= 1
    var hole = start
    var index = (start + 1) & mask
    while keys[index] != KeyTable.empty {
      let distance = (index - home(keys[index])) & mask
      if distance >= (index - hole) & mask {
        keys[hole] = keys[index]
        (values + hole).moveInitialize(from: values + index, count: 1)
        keys[index] = KeyTable.empty
        hole = index
      }
      index = (index + 1) & mask
    }
    return value
  }

  private mutating func grow() {
    let (oldKeys, oldValues, oldMask) = (keys, values, mask)
    let capacity = (mask + 1) * 2
    (keys, values) = KeyTable.allocate(capacity: capacity)
    mask = capacity - 1
    shift -= 1
    for index in 0...oldMask where oldKeys[index] != KeyTable.empty {
      var target = home(oldKeys[index])
      while keys[target] != KeyTable.empty { target = (target + 1) & mask }
      keys[target] = oldKeys[index]
      (values + target).moveInitialize(from: oldValues + index, count: 1)
    }
    oldKeys.deallocate()
    oldValues.deallocate()
  }

  private static func allocate(
    capacity: Int
  ) -> (UnsafeMutablePointer<Int64>, UnsafeMutablePointer<Value>) {
    let keys = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
    keys.initialize(repeating: empty, count: capacity)
    return (keys, UnsafeMutablePointer<Value>.allocate(capacity: capacity))
  }
}
