import ManagedModel

/// The objects of a controller's results, in order: all of them retained, or loaded in batches.
protocol FetchedList: AnyObject {
  var count: Int { get }
  /// Returns the object at a position, loading its batch if necessary.
  func object(at position: Int) -> NSManagedObject
  /// Returns the object ID at a position, without loading its batch.
  func objectID(at position: Int) -> NSManagedObjectID
  /// Returns the position of an object; `nil` if it isn't in the list.
  func position(of object: NSManagedObject) -> Int?
  /// Removes objects and inserts others.
  ///
  /// - Parameters:
  ///   - removed: Positions before the edit, ascending.
  ///   - inserted: Objects with their positions after the edit, ascending.
  func edit(removing removed: [Int], inserting inserted: [(object: NSManagedObject, position: Int)])
}

extension Array {
  /// Removes elements and inserts others; positions as in `FetchedList.edit`.
  mutating func edit(removing removed: [Int], inserting inserted: [(Element, Int)]) {
    var result: [Element] = []
    result.reserveCapacity(count - removed.count + inserted.count)
    var (nextRemoved, nextInserted) = (0, 0)
    func insertHere() {
      while nextInserted < inserted.count, inserted[nextInserted].1 == result.count {
        result.append(inserted[nextInserted].0)
        nextInserted += 1
      }
    }
    for (position, element) in enumerated() {
      if nextRemoved < removed.count, removed[nextRemoved] == position {
        nextRemoved += 1
        continue
      }
      insertHere()
      result.append(element)
    }
    insertHere()
    self = result
  }
}

/// A list that retains all objects.
final class RetainedList: FetchedList {
  private var objects: [NSManagedObject]
  /// The positions of the objects, created when they're needed and discarded by an edit.
  private var positions: [ObjectIdentifier: Int]?

  init(_ objects: [NSManagedObject]) {
    self.objects = objects
  }

  var count: Int { objects.count }

  func object(at position: Int) -> NSManagedObject {
    objects[position]
  }

  func objectID(at position: Int) -> NSManagedObjectID {
    objects[position].objectID
  }

  func position(of object: NSManagedObject) -> Int? {
    if positions == nil {
      positions = Dictionary(
        uniqueKeysWithValues: objects.enumerated().map { (ObjectIdentifier($1), $0) })
    }
    return positions?[ObjectIdentifier(object)]
  }

  func edit(
    removing removed: [Int], inserting inserted: [(object: NSManagedObject, position: Int)]
  ) {
    objects.edit(removing: removed, inserting: inserted.map { ($0.object, $0.position) })
    positions = nil
  }
}

/// A list of all primary keys, and the most recently used batches.
///
/// A batch stays loaded when the list is edited, because it consists of objects rather than
/// positions.
final class BatchedList: FetchedList {
  private var keys: [FetchedIdentity]
  /// Objects that haven't been saved, by the key they are listed with.
  private var unsaved: [RowKey: NSManagedObject]
  /// The keys that the objects in `unsaved` are listed with; `nil` after a change of them.
  private var unsavedKeys: [ObjectIdentifier: RowKey]?
  private var loaded: [RowKey: NSManagedObject] = [:]
  /// The keys of each loaded batch, least recently used first.
  private var batches: [[RowKey]] = []
  private var positions: [RowKey: Int]?
  private let plan: FetchPlan
  private let context: NSManagedObjectContext

  /// - Parameter unsaved: The listed objects that haven't been saved.
  init(
    keys: [FetchedIdentity], unsaved: [NSManagedObject], plan: FetchPlan,
    context: NSManagedObjectContext
  ) {
    self.keys = keys
    self.unsaved = Dictionary(
      unsaved.map { (RowKey($0.identity), $0) }, uniquingKeysWith: { first, _ in first })
    self.plan = plan
    self.context = context
  }

  var count: Int { keys.count }

  /// The entity and key of each object, in order.
  var identities: [FetchedIdentity] {
    adoptSavedKeys()
    return keys
  }

  func object(at position: Int) -> NSManagedObject {
    let identity = keys[position]
    let key = RowKey(identity)
    if let object = unsaved[key] { return object }
    if let object = loaded[key] {
      touch(key)
      return object
    }
    load(batchOf: position)
    return loaded[key] ?? context.registered(identity.layout, identity.primaryKey)
  }

  func objectID(at position: Int) -> NSManagedObjectID {
    let key = keys[position]
    return unsaved[RowKey(key)]?.objectID
      ?? NSManagedObjectID(
        layout: key.layout, primaryKey: key.primaryKey, store: context.store(for: key.layout))
  }

  func position(of object: NSManagedObject) -> Int? {
    if let position = position(of: RowKey(object.identity)) { return position }
    guard !unsaved.isEmpty else { return nil }
    // Undoing its insertion gives an object another key.
    let known =
      unsavedKeys
      ?? Dictionary(
        unsaved.map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
    unsavedKeys = known
    return known[ObjectIdentifier(object)].flatMap { position(of: $0) }
  }

  /// Returns whether a row is listed by its key.
  ///
  /// An object that was saved since it was listed may still have its temporary key there; it's
  /// registered.
  func contains(_ identity: FetchedIdentity) -> Bool {
    knownPositions[RowKey(identity)] != nil
  }

  private func position(of key: RowKey) -> Int? {
    adoptSavedKeys()
    return knownPositions[key]
  }

  /// The positions of the keys, which are indexed once after each change of the list.
  private var knownPositions: [RowKey: Int] {
    if let positions { return positions }
    let found = Dictionary(
      keys.enumerated().map { (RowKey($1), $0) }, uniquingKeysWith: { first, _ in first })
    positions = found
    return found
  }

  func edit(
    removing removed: [Int], inserting inserted: [(object: NSManagedObject, position: Int)]
  ) {
    adoptSavedKeys()
    for position in removed { unsaved[RowKey(keys[position])] = nil }
    for (object, _) in inserted where object.primaryKey <= 0 || object.isInserted {
      unsaved[RowKey(object.identity)] = object
    }
    keys.edit(
      removing: removed,
      inserting: inserted.map { ($0.object.identity, $0.position) })
    (positions, unsavedKeys) = (nil, nil)
  }

  /// Lists objects with their new permanent keys, and saved objects by key only.
  private func adoptSavedKeys() {
    func hasChanged(_ key: RowKey, _ object: NSManagedObject) -> Bool {
      object.primaryKey > 0 && (key != RowKey(object.identity) || !object.isInserted)
    }
    guard unsaved.contains(where: { hasChanged($0.key, $0.value) }) else { return }
    for (position, identity) in keys.enumerated() {
      let key = RowKey(identity)
      guard let object = unsaved[key], hasChanged(key, object) else { continue }
      keys[position] = object.identity
      unsaved[key] = nil
      if object.isInserted { unsaved[RowKey(object.identity)] = object }
    }
    (positions, unsavedKeys) = (nil, nil)
  }

  private func load(batchOf position: Int) {
    let start = position / plan.batchSize * plan.batchSize
    let slice = keys[start..<min(start + plan.batchSize, keys.count)].filter {
      loaded[RowKey($0)] == nil && unsaved[RowKey($0)] == nil
    }
    var objects: [NSManagedObject]
    do {
      objects = try context.loadBatch(slice[...], plan, unsaved: [:])
    } catch {
      context.noteFailure(error, "the batch of the object at \(position) couldn't be read")
      objects = slice.map { context.registered($0.layout, $0.primaryKey) }
    }
    for object in objects { loaded[RowKey(object.identity)] = object }
    batches.append(objects.map { RowKey($0.identity) })
    objects = []
    if batches.count > FetchBatches.retained { release(batches.removeFirst()) }
  }

  private func release(_ batch: [RowKey]) {
    for key in batch { loaded[key] = nil }
    context.release(batch.map { ($0.rootIndex, $0.primaryKey) })
  }

  private func touch(_ key: RowKey) {
    guard batches.last?.contains(key) == false,
      let index = batches.firstIndex(where: { $0.contains(key) })
    else { return }
    batches.append(batches.remove(at: index))
  }
}
