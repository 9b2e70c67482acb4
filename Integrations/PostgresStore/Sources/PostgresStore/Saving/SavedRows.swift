import OpenCoreData
import PostgresDriver

/// The rows and links that a save writes, as plain values, read from its objects before the
/// transaction begins.
struct SavedRows {
  /// Rows of one table that are written with the same columns.
  struct Group {
    let table: StoreTable
    let columns: [String]
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
    /// Whether the row is inserted again after others have deleted it.
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

  private(set) var inserted: [String: Group] = [:]
  private(set) var updated: [String: Group] = [:]
  private(set) var deleted: [String: (table: StoreTable, rows: [Comparison])] = [:]
  private(set) var locked: [String: (table: StoreTable, rows: [Comparison])] = [:]
  private(set) var links: [String: Links] = [:]
  /// The relationships whose pairs are removed with deleted objects, with their keys.
  private(set) var cleared: [String: (storage: ToManyMapping.Storage, keys: [Int64])] = [:]

  private let store: PostgresStore
  private let schema: StoreSchema
  /// The columns of entities: of all properties, and of changed ones.
  private var columns: [String: WrittenColumns] = [:]
  private var changedColumns: [ChangedProperties: WrittenColumns] = [:]

  private struct ChangedProperties: Hashable {
    let entity: String
    let properties: Set<String>
  }

  private static let longestBatch = 1_000
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
    let mapping = try schema.mapping(object.entity)
    let columns =
      columns[mapping.name] ?? WrittenColumns(mapping, nil, schema, of: store)
    self.columns[mapping.name] = columns
    let row = Row(
      object: object, key: key, entity: mapping.number, version: version,
      isRestored: !object.isInserted)
    try Self.add(row, columns, to: &inserted, of: store)
    for toMany in mapping.toManys.values {
      try addLinks(of: object, toMany, before: [])
    }
  }

  private mutating func update(_ object: NSManagedObject, _ key: Int64) throws {
    let mapping = try schema.mapping(object.entity)
    let version = store.knownVersion(of: object)
    guard !store.isRestored(object) else { return try insert(object, key, after: version) }
    let changed = Set(object.changedValues().keys)
    let properties = ChangedProperties(entity: mapping.name, properties: changed)
    let columns =
      changedColumns[properties] ?? WrittenColumns(mapping, changed, schema, of: store)
    changedColumns[properties] = columns
    let row = Row(
      object: object, key: key, entity: mapping.number, version: version, isRestored: false)
    try Self.add(row, columns, to: &updated, of: store)
    for name in changed {
      // The rows of the destinations have most relationships: the former destinations aren't read
      // for those.
      guard let toMany = mapping.toManys[name],
        toMany.needsLinks || toMany.relationship.isOrdered
      else { continue }
      let committed = object.committedValues(forKeys: [name])[name]
      try addLinks(of: object, toMany, before: try keys(committed, toMany))
    }
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

  private static func add(
    _ row: Row, _ columns: WrittenColumns, to groups: inout [String: Group],
    of store: PostgresStore
  ) throws {
    // In place: a copy of a batch for each object would take quadratic time.
    func change(_ group: inout Group) throws {
      if group.batches.last?.isFull ?? true {
        group.batches.append(Batch(values: columns.newArrays(capacity: longestBatch)))
      }
      let last = group.batches.count - 1
      group.batches[last].rows.append(row)
      try columns.append(row.object, to: &group.batches[last].values, of: store)
    }
    try change(
      &groups[columns.identity, default: Group(table: columns.table, columns: columns.names)])
  }

  // MARK: Links

  private mutating func addLinks(
    of object: NSManagedObject, _ toMany: ToManyMapping, before: [Int64]
  ) throws {
    guard toMany.needsLinks || toMany.relationship.isOrdered else { return }
    let owner = try key(of: object)
    let name = toMany.relationship.name
    let after = try object.objectIDs(forRelationshipNamed: name).map {
      try key(of: $0, object, name)
    }
    let removed = toMany.needsLinks ? Set(before).subtracting(after) : []
    let added = toMany.needsLinks ? Set(after).subtracting(before) : []
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

  private func keys(_ value: Any?, _ toMany: ToManyMapping) throws -> [Int64] {
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
