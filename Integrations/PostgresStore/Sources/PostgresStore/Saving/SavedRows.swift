import OpenCoreData
import PostgresDriver

import class ManagedModel.NSEntityDescription

/// The rows and links that a save writes, as plain values, read from its objects before the
/// transaction begins.
struct SavedRows {
  /// Rows of one table that are written with the same columns.
  struct Group {
    let columns: WrittenColumns
    fileprivate(set) var batches: [Batch] = []
  }

  /// Rows that one statement writes, in the order of their keys.
  struct Batch {
    fileprivate(set) var rows: [Row] = []
    /// The values: an array for each column.
    fileprivate(set) var values: [PostgresArray]

    /// The parameters for the values.
    var parameters: [PostgresValue] { values.map { $0.finished() } }

    fileprivate var isFull: Bool {
      guard rows.count < SavedRows.longestBatch else { return true }
      var size = 0
      for array in values { size += array.size }
      return size >= SavedRows.largestBatch
    }
  }

  /// A row to insert or to update.
  struct Row {
    let object: NSManagedObject
    let key: Int64
    let entity: Int64
    /// The expected version; nil to accept any, or for a new row.
    let version: Int64?
    let isNew: Bool
    /// Whether a new row takes the place of one that others have deleted.
    let isRestored: Bool
  }

  /// A row to delete, or whose version is compared.
  struct Comparison {
    let object: NSManagedObject
    let key: Int64
    let version: Int64?
  }

  /// A pair of a many-to-many, or a destination and its owner.
  struct Link: Hashable {
    let source: Int64
    let target: Int64
  }

  /// The changes of one relationship.
  struct Links {
    let storage: ToManyMapping.Storage
    var removed: Set<Link> = []
    var added: Set<Link> = []
    /// The pairs of ordered relationships, in order.
    var lists: [[Link]] = []
  }

  private(set) var inserted: [Group] = []
  private(set) var updated: [Group] = []
  private(set) var deleted: [String: (table: StoreTable, rows: [Comparison])] = [:]
  private(set) var locked: [String: (table: StoreTable, rows: [Comparison])] = [:]
  private(set) var links: [String: Links] = [:]
  /// The relationships whose pairs are removed with deleted objects, with their keys.
  private(set) var cleared: [String: (storage: ToManyMapping.Storage, keys: [Int64])] = [:]

  private let store: PostgresStore
  private let schema: StoreSchema
  private var insertions: [String: Target] = [:]
  private var updates: [ChangedProperties: Target] = [:]
  private var lastMapping: (entity: NSEntityDescription, mapping: EntityMapping)?

  /// Where the objects of one entity with the same changed properties are written.
  private struct Target {
    let columns: WrittenColumns
    /// The index of the group of their rows.
    let group: Int
    /// The changed relationships whose pairs are written.
    let toManys: [ToManyMapping]
  }

  fileprivate static let longestBatch = 1_000
  private static let largestBatch = 8 << 20

  /// Reads the objects of a request.
  ///
  /// - Throws: 134030 for a value that the server can't have, and for a destination in another
  ///   store.
  init(_ request: NSSaveChangesRequest, of store: PostgresStore) throws {
    self.store = store
    schema = try store.open.schema
    for (object, key) in try sorted(request.insertedObjects) { try insert(object, key) }
    for (object, key) in try sorted(request.updatedObjects) { try update(object, key) }
    for object in request.deletedObjects ?? [] { try delete(object) }
    for object in request.lockedObjects ?? [] {
      let (mapping, comparison) = try comparison(object)
      locked[mapping.table.name, default: (mapping.table, [])].rows.append(comparison)
    }
  }

  // MARK: Rows

  /// Returns objects in the order of their keys.
  private func sorted(
    _ objects: Set<NSManagedObject>?
  ) throws -> [(object: NSManagedObject, key: Int64)] {
    try (objects ?? []).map { ($0, try key(of: $0)) }.sorted { $0.key < $1.key }
  }

  private mutating func insert(
    _ object: NSManagedObject, _ key: Int64, after version: Int64? = nil
  ) throws {
    let mapping = try mapping(of: object)
    let target: Target
    if let known = insertions[mapping.name] {
      target = known
    } else {
      target = newTarget(mapping, nil, in: &inserted)
      insertions[mapping.name] = target
    }
    let row = Row(
      object: object, key: key, entity: mapping.number, version: version, isNew: true,
      isRestored: !object.isInserted)
    try inserted[target.group].append(row, target.columns, of: store)
    for toMany in target.toManys { try addLinks(of: object, toMany, isNew: true) }
  }

  private mutating func update(_ object: NSManagedObject, _ key: Int64) throws {
    let version = store.knownVersion(of: object)
    guard !store.isRestored(object) else { return try insert(object, key, after: version) }
    let mapping = try mapping(of: object)
    let properties = store.changedProperties(of: object)
    let target: Target
    if let known = updates[properties] {
      target = known
    } else {
      target = newTarget(mapping, properties.names, in: &updated)
      updates[properties] = target
    }
    let row = Row(
      object: object, key: key, entity: mapping.number, version: version, isNew: false,
      isRestored: false)
    try updated[target.group].append(row, target.columns, of: store)
    for toMany in target.toManys { try addLinks(of: object, toMany, isNew: false) }
  }

  /// Returns where objects of an entity are written.
  ///
  /// - Parameters:
  ///   - properties: The changed properties; nil for all.
  ///   - groups: Those of the inserted or of the updated rows.
  private func newTarget(
    _ mapping: EntityMapping, _ properties: Set<String>?, in groups: inout [Group]
  ) -> Target {
    let columns = WrittenColumns(mapping, properties, schema, of: store)
    let index = groups.firstIndex { $0.columns.identity == columns.identity }
    if index == nil { groups.append(Group(columns: columns)) }
    // The rows of the destinations have the other relationships.
    let toManys = mapping.toManys.values.filter { toMany in
      (toMany.needsLinks || toMany.relationship.isOrdered)
        && properties?.contains(toMany.relationship.name) ?? true
    }
    return Target(columns: columns, group: index ?? groups.count - 1, toManys: toManys)
  }

  private mutating func mapping(of object: NSManagedObject) throws -> EntityMapping {
    let entity = object.entity
    if let lastMapping, lastMapping.entity === entity { return lastMapping.mapping }
    let mapping = try schema.mapping(entity)
    lastMapping = (entity, mapping)
    return mapping
  }

  private mutating func delete(_ object: NSManagedObject) throws {
    let (mapping, comparison) = try comparison(object)
    deleted[mapping.table.name, default: (mapping.table, [])].rows.append(comparison)
    for toMany in mapping.toManys.values where toMany.needsLinks {
      cleared[toMany.identity, default: (toMany.storage, [])].keys.append(comparison.key)
      // A relationship that is its own inverse has each pair in both directions.
      if case .join(let table, let source, let target, _) = toMany.storage,
        toMany.relationship.inverseRelationship === toMany.relationship
      {
        let back = ToManyMapping.Storage.join(table, source: target, target: source, order: nil)
        cleared["\(toMany.identity),\(target)", default: (back, [])].keys.append(comparison.key)
      }
    }
  }

  private func comparison(
    _ object: NSManagedObject
  ) throws -> (EntityMapping, Comparison) {
    let key = try key(of: object)
    return (
      try schema.mapping(object.entity),
      Comparison(object: object, key: key, version: store.knownVersion(of: object))
    )
  }

  // MARK: Links

  private mutating func addLinks(
    of object: NSManagedObject, _ toMany: ToManyMapping, isNew: Bool
  ) throws {
    let owner = try key(of: object)
    let name = toMany.relationship.name
    let after = try object.objectIDs(forRelationshipNamed: name).map {
      try key(of: $0, object, name)
    }
    var (removed, added): (Set<Int64>, Set<Int64>) = ([], [])
    if toMany.needsLinks {
      let before =
        isNew ? [] : keys(object.committedValues(forKeys: [name])[name])
      removed = Set(before).subtracting(after)
      added = Set(after).subtracting(before)
    }
    guard !removed.isEmpty || !added.isEmpty || toMany.relationship.isOrdered else { return }
    // In place: a copy for each object would take quadratic time.
    func change(_ links: inout Links) {
      for key in removed { links.removed.insert(Link(source: owner, target: key)) }
      for key in added { links.added.insert(Link(source: owner, target: key)) }
      guard toMany.relationship.isOrdered, !after.isEmpty else { return }
      links.lists.append(after.map { Link(source: owner, target: $0) })
    }
    change(&links[toMany.identity, default: Links(storage: toMany.storage)])
  }

  private func keys(_ value: Any?) -> [Int64] {
    let objects: [NSManagedObject] =
      switch value {
      case let set as Set<NSManagedObject>: Array(set)
      case let list as [NSManagedObject]: list
      case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
      default: []
      }
    // A destination that was never saved has no row, so nothing is removed for it.
    return objects.compactMap { store.key(of: $0.objectID) }
  }

  // MARK: Keys

  private func key(of object: NSManagedObject) throws -> Int64 {
    guard let key = store.key(of: object.objectID) else {
      throw StoreError.make(
        NSPersistentStoreSaveError, "\(object.objectID) isn't an object of the store.",
        [NSAffectedObjectsErrorKey: [object]])
    }
    return key
  }

  private func key(
    of destination: NSManagedObjectID, _ object: NSManagedObject, _ name: String
  ) throws -> Int64 {
    guard destination.persistentStore === store, let key = store.key(of: destination) else {
      throw failure(object, name, "has a destination that isn't in the store")
    }
    return key
  }

  private func failure(_ object: NSManagedObject, _ name: String, _ reason: String) -> NSError {
    StoreError.make(
      NSPersistentStoreSaveError, "'\(name)' of '\(object.entity.name ?? "")' \(reason).",
      [NSAffectedObjectsErrorKey: [object], NSValidationKeyErrorKey: name])
  }
}

extension SavedRows.Group {
  /// Appends a row in place: a copy of a batch for each object would take quadratic time.
  fileprivate mutating func append(
    _ row: SavedRows.Row, _ columns: WrittenColumns, of store: PostgresStore
  ) throws {
    if batches.last?.isFull ?? true {
      batches.append(SavedRows.Batch(values: columns.newArrays(capacity: SavedRows.longestBatch)))
    }
    let last = batches.count - 1
    batches[last].rows.append(row)
    try columns.append(row.object, to: &batches[last].values, of: store)
  }
}

extension ToManyMapping {
  /// Whether a change of the relationship itself is written, because the destinations' rows don't
  /// have it.
  var needsLinks: Bool {
    switch storage {
    case .join: true
    case .column: relationship.inverseRelationship == nil
    }
  }

  /// The relationship's columns.
  var identity: String {
    switch storage {
    case .column(let table, let column, _): "\(table.name),\(column)"
    case .join(let table, let source, _, _): "\(table),\(source)"
    }
  }
}

extension PostgresStore {
  /// Returns the version that an object's row must have; nil if any will do.
  func knownVersion(of object: NSManagedObject) -> Int64? {
    version(of: object).map { Int64(clamping: $0) }
  }

  /// Returns the value of an attribute, or of an element of a composite attribute.
  static func value(of object: NSManagedObject, _ path: [String]) -> Any? {
    guard path.count > 1 else { return object.primitiveValue(forKey: path[0]) }
    var value = object.value(forKey: path[0])
    for name in path.dropFirst() { value = (value as? [String: Any])?[name] }
    return value
  }
}
