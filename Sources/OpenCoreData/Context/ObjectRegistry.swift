import ManagedModel

/// The registered objects of a context, one for each row.
///
/// Keeps strong references. On the context's queue, it releases unchanged objects that aren't
/// retained elsewhere: weak references would cost 80 bytes for each object, and removal in `deinit`
/// is unsafe if the last reference is released on another thread.
struct ObjectRegistry: ~Copyable {
  private var tables = FixedArray<KeyTable<NSManagedObject>>(count: 0) { KeyTable() }
  /// By layout index.
  private var tallies = FixedArray<Tally>(count: 0) { Tally() }
  private(set) var count = 0
  /// The peak number of objects of all entities.
  private(set) var peak = 0
  /// The count right after the last sweep; a load sweeps once it has doubled.
  private var countAfterSweep = 0

  /// Registered objects of one entity, subentities not included.
  struct Tally {
    var count = 0
    /// The peak number of objects.
    var peak = 0
  }

  init() {}

  /// Reserves room for the entities of a model in the given number of stores.
  ///
  /// Registered objects stay registered.
  mutating func prepare(entityCount: Int, rootCount: Int, storeCount: Int = 1) {
    let (roots, entities) = (rootCount * storeCount, entityCount * storeCount)
    guard tables.count < roots else { return }
    var oldTables = FixedArray<KeyTable<NSManagedObject>>(count: roots) { KeyTable() }
    swap(&tables, &oldTables)
    for index in 0..<oldTables.count {
      oldTables[index].forEach { key, object in
        _ = tables[index].find(key, orInsert: object.pointee)
      }
    }
    var oldTallies = FixedArray<Tally>(count: entities) { Tally() }
    swap(&tallies, &oldTallies)
    for index in 0..<oldTallies.count { tallies[index] = oldTallies[index] }
  }

  /// Returns the current and peak number of objects of one entity, by its layout's index.
  func tally(_ index: Int) -> Tally {
    tallies[index]
  }

  /// Returns the object with a key, if there is one.
  func object(rootIndex: Int, key: Int64) -> NSManagedObject? {
    tables[rootIndex].find(key)?.pointee
  }

  /// Reserves room for the given number of additional objects of a root entity.
  func reserve(rootIndex: Int, _ additional: Int) {
    tables[rootIndex].reserve(additional)
  }

  /// Adds an object under its primary key; it's a programmer error if another one has it.
  mutating func add(_ object: NSManagedObject) {
    add(object, rootIndex: object.layout.rootIndex, index: object.layout.index)
  }

  /// Adds an object whose layout's indexes the caller has read: retains only the object.
  @inline(__always)
  mutating func add(_ object: NSManagedObject, rootIndex: Int, index: Int) {
    let registered = tables[rootIndex].find(object.primaryKey, orInsert: object).pointee
    assert(registered === object, "another object has the key")
    tallies[index].count += 1
    tallies[index].peak = max(tallies[index].peak, tallies[index].count)
    count += 1
    if count > peak { peak = count }
  }

  /// Removes an object; does nothing if another one has its key.
  mutating func remove(_ object: NSManagedObject) {
    let rootIndex = object.layout.rootIndex
    guard tables[rootIndex].find(object.primaryKey)?.pointee === object else { return }
    tables[rootIndex].remove(object.primaryKey)
    tallies[object.layout.index].count -= 1
    count -= 1
  }

  /// Whether a load should sweep before it registers more.
  var hasDoubled: Bool {
    count > 1024 && count >= countAfterSweep * 2
  }

  /// Releases unchanged objects that aren't retained elsewhere.
  ///
  /// The caller repeats it while released objects had retained others.
  mutating func sweep() -> SweptObjects {
    var swept = SweptObjects(rootCount: tables.count)
    var removedCount = 0
    for rootIndex in 0..<tables.count {
      tables[rootIndex].removeAll { _, slot in
        slot.pointee.state.isDisjoint(with: .changed)
          && isKnownUniquelyReferenced(&slot.pointee)
      } removed: { key, object in
        tallies[object.layout.index].count -= 1
        removedCount += 1
        swept.add(object, key, rootIndex)
      }
    }
    count -= removedCount
    countAfterSweep = count
    return swept
  }

  /// Releases those of the given objects that are unchanged and not retained elsewhere.
  mutating func sweep(_ keys: [(rootIndex: Int, key: Int64)]) -> SweptObjects {
    var swept = SweptObjects(rootCount: tables.count)
    for (rootIndex, key) in keys {
      guard let slot = tables[rootIndex].find(key),
        slot.pointee.state.isDisjoint(with: .changed), isKnownUniquelyReferenced(&slot.pointee),
        let object = tables[rootIndex].remove(key)
      else { continue }
      tallies[object.layout.index].count -= 1
      count -= 1
      swept.add(object, key, rootIndex)
    }
    return swept
  }

  /// Reregisters a saved object under its permanent key.
  ///
  /// - Returns: The object that had the key and is no longer registered; usually `nil`.
  mutating func rekey(_ object: NSManagedObject, from temporary: Int64) -> NSManagedObject? {
    let rootIndex = object.layout.rootIndex
    guard let moved = tables[rootIndex].remove(temporary) else { return nil }
    let place = tables[rootIndex].find(object.primaryKey, orInsert: moved)
    if place.pointee === moved { return nil }
    let replaced = place.pointee
    place.pointee = moved
    tallies[replaced.layout.index].count -= 1
    count -= 1
    return replaced
  }

  /// Calls the body with every object, in no particular order.
  func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
    for rootIndex in 0..<tables.count {
      try tables[rootIndex].forEach { _, slot in try body(slot.pointee) }
    }
  }

  /// Removes every object, and returns the permanent keys by root and the objects that are retained
  /// elsewhere.
  ///
  /// - Parameter includingOwn: Whether realized objects of custom classes are returned too.
  mutating func removeAll(includingOwn: Bool = false) -> (
    keys: [[Int64]], survivors: [NSManagedObject]
  ) {
    var released = [[Int64]](repeating: [], count: tables.count)
    var survivors: [NSManagedObject] = []
    // First, while all are retained: otherwise a chain of objects would be freed in a deep
    // recursion.
    forEach { $0.dropRelated() }
    for rootIndex in 0..<tables.count {
      tables[rootIndex].removeAll { _, slot in
        if !isKnownUniquelyReferenced(&slot.pointee)
          || includingOwn && slot.pointee.layout.hasOwnClass && !slot.pointee.isFault
        {
          survivors.append(slot.pointee)
        }
        return true
      } removed: { key, object in
        if key > 0 { released[rootIndex].append(key) }
        object.context = nil
      }
    }
    for index in 0..<tallies.count { tallies[index].count = 0 }
    count = 0
    countAfterSweep = 0
    return (released, survivors)
  }
}

/// The objects that a sweep removed from the registry.
struct SweptObjects {
  /// The released keys, by root, for the row cache.
  private(set) var keys: [[Int64]]
  /// Realized objects of custom classes, which are notified of their release.
  private(set) var notified: [NSManagedObject] = []
  /// Whether one of them retained others, which may be releasable now.
  private(set) var referencedOthers = false

  init(rootCount: Int) {
    keys = Array(repeating: [], count: rootCount)
  }

  mutating func add(_ object: NSManagedObject, _ key: Int64, _ rootIndex: Int) {
    if key > 0 { keys[rootIndex].append(key) }
    if object.values?.retainsObjects == true { referencedOthers = true }
    if object.layout.hasOwnClass, !object.isFault { notified.append(object) }
  }
}
