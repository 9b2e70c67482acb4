import ManagedModel

/// The objects a context has, one for each row.
///
/// Holds them strongly. On the context's queue it lets go of the clean ones that nobody else holds:
/// weak references would cost 80 bytes an object, and removal in `deinit` is unsafe when the last
/// reference goes away on another thread.
struct ObjectRegistry: ~Copyable {
  private var tables: [RegistryTable] = []
  /// Registered objects of each entity, sub-entities not included, by layout index.
  private(set) var counts: [Int] = []
  /// The most there were of each entity at once.
  private(set) var peaks: [Int] = []
  private(set) var count = 0
  /// The most there were of all entities together at once.
  private(set) var peak = 0
  /// The count right after the last sweep; a load sweeps once it has doubled.
  private var countAfterSweep = 0

  init() {}

  /// Makes room for the entities of a model.
  mutating func prepare(entityCount: Int, rootCount: Int) {
    guard tables.isEmpty else { return }
    tables = (0..<rootCount).map { _ in RegistryTable() }
    counts = Array(repeating: 0, count: entityCount)
    peaks = counts
  }

  /// The object of a key, if there is one.
  func object(rootIndex: Int, key: Int64) -> NSManagedObject? {
    tables[rootIndex].objects.find(key)?.pointee
  }

  /// Makes room for as many more objects of a root.
  func reserve(rootIndex: Int, _ additional: Int) {
    tables[rootIndex].objects.reserve(additional)
  }

  /// Adds an object under its primary key, which must be free.
  mutating func add(_ object: NSManagedObject) {
    add(object, rootIndex: object.layout.rootIndex, index: object.layout.index)
  }

  /// Adds an object whose layout's indexes the caller has at hand: nothing is counted but the object.
  @inline(__always)
  mutating func add(_ object: NSManagedObject, rootIndex: Int, index: Int) {
    _ = tables[rootIndex].objects.find(object.primaryKey, orInsert: object)
    let registered = counts[index] + 1
    counts[index] = registered
    if registered > peaks[index] { peaks[index] = registered }
    count += 1
    if count > peak { peak = count }
  }

  /// Takes an object out.
  mutating func remove(_ object: NSManagedObject) {
    guard tables[object.layout.rootIndex].objects.remove(object.primaryKey) != nil else { return }
    counts[object.layout.index] -= 1
    count -= 1
  }

  /// Forgets the peaks, so that the next part of a run starts from what is registered now.
  mutating func resetPeaks() {
    peaks = counts
    peak = count
  }

  /// Whether a load should sweep before it registers more.
  var hasDoubled: Bool {
    count > 1024 && count >= countAfterSweep * 2
  }

  /// Lets go of clean objects that nobody else holds, and of those that only they held.
  ///
  /// - Returns: The keys let go, by root, for the row cache.
  mutating func sweep() -> [[Int64]] {
    var released = tables.map { _ in [Int64]() }
    var again = true
    while again {
      again = false
      for (rootIndex, table) in tables.enumerated() {
        table.objects.removeAll { _, slot in
          slot.pointee.state.isDisjoint(with: .changed)
            && isKnownUniquelyReferenced(&slot.pointee)
        } removed: { key, object in
          if object.values?.holdsObjects == true { again = true }
          counts[object.layout.index] -= 1
          count -= 1
          if key > 0 { released[rootIndex].append(key) }
        }
      }
    }
    countAfterSweep = count
    return released
  }

  /// Lets go of those of the named objects that are clean and that nobody else holds.
  mutating func sweep(_ keys: [(rootIndex: Int, key: Int64)]) -> [[Int64]] {
    var released = tables.map { _ in [Int64]() }
    for (rootIndex, key) in keys {
      let table = tables[rootIndex]
      guard let slot = table.objects.find(key),
        slot.pointee.state.isDisjoint(with: .changed), isKnownUniquelyReferenced(&slot.pointee),
        let object = table.objects.remove(key)
      else { continue }
      counts[object.layout.index] -= 1
      count -= 1
      if key > 0 { released[rootIndex].append(key) }
    }
    return released
  }

  /// Gives an object that was saved its permanent key.
  mutating func rekey(_ object: NSManagedObject, from temporary: Int64) {
    let table = tables[object.layout.rootIndex]
    guard let moved = table.objects.remove(temporary) else { return }
    _ = table.objects.find(object.primaryKey, orInsert: moved)
  }

  /// Every object, in no order.
  func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
    for table in tables {
      try table.objects.forEach { _, slot in try body(slot.pointee) }
    }
  }

  /// Takes every object out and returns the permanent keys, by root.
  mutating func removeAll() -> [[Int64]] {
    var released = tables.map { _ in [Int64]() }
    // First, while all are held: else a chain of objects would be freed in one deep recursion.
    forEach { $0.dropRelated() }
    for (rootIndex, table) in tables.enumerated() {
      table.objects.removeAll { _, _ in
        true
      } removed: { key, object in
        if key > 0 { released[rootIndex].append(key) }
        object.context = nil
      }
    }
    counts = counts.map { _ in 0 }
    count = 0
    countAfterSweep = 0
    return released
  }
}

/// The objects below one root entity.
private final class RegistryTable {
  @exclusivity(unchecked) var objects = KeyTable<NSManagedObject>()
}
