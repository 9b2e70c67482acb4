import ManagedModel
import ProfileEvents
import Synchronization

/// A store in the memory of the process, discarded when it's removed, or with its coordinator.
///
/// Predicates and sort descriptors are evaluated for the rows, so a fetch supports everything that
/// can be evaluated in memory; it runs no statements. This is also the base class of stores whose
/// data is read and written as a whole: XML and binary stores, and a program's `NSAtomicStore`.
/// Apple counterpart: the store of type `NSInMemoryStoreType`.
open class MemoryStore: CachingStore, StoreBackend, @unchecked Sendable {
  // `contents` is guarded by its lock
  final let contents: Mutex<Contents>
  /// Held while a save is written, before the lock of `contents`, and while a program's own store
  /// is called.
  ///
  /// What the save waits for, such as another store, can read this one.
  final let writing = NSRecursiveLock()
  /// Whether the document is being written, in a state without what would be saved now; under
  /// `writing`.
  private final var isWritingDocument = false
  /// The document of an XML or binary store, which each save replaces; `nil` for an in-memory
  /// store.
  final let document: AtomicStoreDocument?

  struct Contents {
    var tables: MemoryTables
    /// The highest primary key assigned, by root entity; one for all in an XML or binary store.
    var lastKeys: [Int64]

    /// Returns an unused primary key.
    mutating func takeKey(rootIndex: Int) -> Int64 {
      let counter = min(rootIndex, lastKeys.count - 1)
      lastKeys[counter] += 1
      return lastKeys[counter]
    }
  }

  /// Creates an empty store.
  convenience init(
    model: NSManagedObjectModel, configuration: String?, storeIndex: Int, url: URL?,
    options: [AnyHashable: Any]?
  ) {
    let layouts = MemoryStore.layouts(
      of: model, configuration: configuration, storeIndex: storeIndex)
    let identifier = UUID().uuidString
    self.init(
      layouts: layouts, type: NSInMemoryStoreType, url: url, identifier: identifier,
      configuration: configuration, options: options,
      metadata: [
        StoreMetadata.storeTypeKey: NSInMemoryStoreType, StoreMetadata.uuidKey: identifier,
        StoreMetadata.hashesKey: model.versionHashes(of: configuration),
      ],
      tables: MemoryTables(rootCount: layouts.rootCount),
      lastKeys: Array(repeating: 0, count: layouts.rootCount))
  }

  /// Creates a store with the contents of a document.
  ///
  /// - Throws: 134020 if its objects don't fit the model.
  convenience init(
    _ document: StoreDocument, model: NSManagedObjectModel, configuration: String?, storeIndex: Int,
    url: URL?, options: [AnyHashable: Any]?
  ) throws {
    let layouts = MemoryStore.layouts(
      of: model, configuration: configuration, storeIndex: storeIndex)
    let tables: MemoryTables
    do {
      tables = try document.tables(layouts)
    } catch {
      throw NSError.coreData(NSPersistentStoreIncompatibleSchemaError, error.message)
    }
    var metadata = document.metadata
    metadata[StoreMetadata.storeTypeKey] = NSInMemoryStoreType
    metadata[StoreMetadata.uuidKey] = document.uuid
    self.init(
      layouts: layouts, type: NSInMemoryStoreType, url: url, identifier: document.uuid,
      configuration: configuration, options: options, metadata: metadata, tables: tables,
      lastKeys: Array(repeating: document.lastKey, count: layouts.rootCount))
  }

  init(
    layouts: StoreLayouts, type: String, url: URL?, identifier: String, configuration: String?,
    options: [AnyHashable: Any]?, metadata: [String: Any], tables: MemoryTables, lastKeys: [Int64],
    document: AtomicStoreDocument? = nil, references: ObjectReferences? = nil
  ) {
    self.document = document
    contents = Mutex(Contents(tables: tables, lastKeys: lastKeys))
    super.init(
      layouts: layouts, type: type, url: url, identifier: identifier,
      configuration: configuration,
      isReadOnly: options.isSet(NSReadOnlyPersistentStoreOption), options: options,
      metadata: metadata, references: references)
  }

  /// Returns the layouts of a model's entities, numbered as in a new SQLite file.
  static func layouts(
    of model: NSManagedObjectModel, configuration: String?, storeIndex: Int
  ) -> StoreLayouts {
    let entities = model.entitiesInNumberingOrder(of: configuration).enumerated().map {
      index, entity in (number: index + 1, description: entity)
    }
    return StoreLayouts(entities, of: model, storeIndex: storeIndex)
  }

  func beginReading() throws -> any StoreReader {
    let commit = commitNumber
    let tables = try contents.withLock { contents -> MemoryTables in
      guard !isRemoved else { throw NSError.removedStore(self) }
      return contents.tables
    }
    return MemoryReader(store: self, tables: tables, commit: commit)
  }

  /// Returns a copy of the tables, whose rows are as fast to access as the row cache's.
  func openGeneration() throws -> StoreGeneration {
    try contents.withLock { contents in
      guard !isRemoved else { throw NSError.removedStore(self) }
      let commit = countCommit()
      let reader = MemoryReader(store: self, tables: contents.tables, commit: commit)
      return StoreGeneration(store: self, commit: commit, reader: reader, sharesCache: false)
    }
  }

  override func withoutSaves<R>(_ body: () throws -> R) rethrows -> R {
    try writing.withLock(body)
  }

  /// Reserves keys with a counter for each root entity, without statements.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    contents.withLock { contents in
      for object in objects {
        object.primaryKey = contents.takeKey(rootIndex: object.layout.rootIndex)
      }
    }
  }

  /// Writes a save without statements: the new tables replace the old ones at once, after the
  /// document of an XML or binary store was written.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    try writeToDocument(plan, beforeCommit: beforeCommit)
  }

  /// Throws an error: in-memory stores have no external data files.
  func externalData(_ file: ExternalFile) throws -> Data {
    throw NSError.store("The store has no external data file '\(file.name)'.")
  }

  /// Writes the complete document of an XML or binary store.
  func saveMetadata() throws {
    guard let document else { return noteMetadataSaved() }
    guard hasUnsavedMetadata else { return }
    try writing.withLock {
      try checkIsNotMoving()
      // Its tables are empty, and would replace the document.
      guard !isRemoved else { throw NSError.removedStore(self) }
      let (tables, lastKeys) = contents.withLock { ($0.tables, $0.lastKeys) }
      try writingDocument {
        try document.write(tables, of: self, lastKey: lastKeys.max() ?? 0) {}
      }
    }
  }

  /// Runs a body that writes the document; the caller has the lock `writing`.
  ///
  /// - Throws: 134070 if the body of another call has caused this one: it would replace the
  ///   document afterward, without what is written now.
  final func writingDocument<R>(_ body: () throws -> R) throws -> R {
    guard !isWritingDocument else {
      throw NSError.store(
        "The store \(url?.path ?? "in memory") is being saved together with a program's own store, whose "
          + "class can't save to it in the meantime. Save again afterward.")
    }
    isWritingDocument = true
    defer { isWritingDocument = false }
    return try body()
  }

  /// Releases the rows; contexts can use the store itself for longer.
  func close() {
    markRemoved()
    // Open snapshots aren't read again.
    _ = countCommit()
    writing.withLock {
      contents.withLock { $0.tables = MemoryTables(rootCount: layouts.rootCount) }
    }
  }
}

/// The rows and to-many keys of an in-memory store: a value type, so that a copy is a snapshot.
struct MemoryTables: LinkTable, Sendable {
  /// By root entity, then by key.
  private(set) var rows: [[Int64: MemoryRow]]
  private(set) var links: [ToManyKey: LinkedRows] = [:]

  init(rootCount: Int) {
    rows = [[Int64: MemoryRow]](repeating: [:], count: rootCount)
  }

  func row(_ rootIndex: Int, _ key: Int64) -> MemoryRow? {
    rows[rootIndex][key]
  }

  mutating func put(_ row: MemoryRow) {
    rows[row.layout.rootIndex][row.primaryKey] = row
  }

  /// Removes a row and its pairs in many-to-many relationships.
  ///
  /// The inverse of a to-one is kept: rows that still refer to the removed one are found from it,
  /// as by their foreign keys in SQL.
  mutating func remove(_ layout: EntityLayout, _ key: Int64) {
    rows[layout.rootIndex][key] = nil
    for relationship in layout.toMany
    where relationship.inverseRelationship?.isToMany != false {
      links[
        ToManyKey(rootIndex: layout.rootIndex, primaryKey: key, relationship: relationship.name)] =
        nil
    }
  }

  mutating func edit(_ key: ToManyKey, adding: FetchedIdentity?, removing: Int64?, commit: UInt64) {
    if let removing {
      links[key]?.remove(removing)
      if links[key]?.list.isEmpty == true { links[key] = nil }
    }
    if let adding { links[key, default: LinkedRows([])].add(adding) }
  }

  /// Sets all destinations of an owner, as a document or a node has them.
  mutating func replace(_ key: ToManyKey, by list: [FetchedIdentity]) {
    links[key] = LinkedRows(list)
  }

  mutating func arrange(_ key: ToManyKey, as order: SavedOrder, commit: UInt64) {
    links[key, default: LinkedRows([])].arrange(as: order)
  }

  /// Does nothing: reading excludes objects without a row.
  mutating func doubt(_ key: ToManyKey) {}

  mutating func removeEverywhere(
    _ rows: [String: Set<RowKey>], ofRoot rootIndex: Int?, layout: EntityLayout?, commit: UInt64
  ) {
    for key in links.keys where rootIndex == nil || key.rootIndex == rootIndex {
      guard let removed = rows[key.relationship], let present = links[key]?.list else { continue }
      if let layout, let owner = row(key.rootIndex, key.primaryKey),
        !owner.layout.entity.isKind(of: layout.entity)
      {
        continue
      }
      links[key] = LinkedRows(present.filter { !removed.contains(RowKey($0)) })
    }
  }
}

/// A row of an in-memory store; it retains the row once.
final class MemoryRow: Sendable {
  let layout: EntityLayout
  let primaryKey: Int64
  let row: Row

  /// Creates a row and takes over its reference count.
  init(layout: EntityLayout, primaryKey: Int64, row: Row) {
    self.layout = layout
    self.primaryKey = primaryKey
    self.row = row
  }

  deinit {
    row.release()
  }

  /// The row, retained for the caller.
  var fetched: FetchedRow {
    row.retain()
    return FetchedRow(layout: layout, primaryKey: primaryKey, row: row)
  }

  var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }
}

/// A row of an in-memory store as predicates and sort descriptors read it.
///
/// Relationships are read as records; no object is created and no fault fires.
final class MemoryRecord: PredicateRecord {
  let row: MemoryRow
  private let reader: MemoryReader

  init(_ row: MemoryRow, _ reader: MemoryReader) {
    self.row = row
    self.reader = reader
  }

  func value(forKey key: String) -> Any? {
    let layout = row.layout
    switch layout.position(of: key) {
    case .slot(let index):
      let slot = layout.slots[index]
      return slot.kind.isToOne ? destination(slot) : layout.value(slot, in: row.row)
    case .toMany(let index):
      return predicateValue(at: UInt32(layout.slots.count + index)).carried
    case .composite(let index):
      return layout.gathered(index) { layout.value($0, in: row.row) }
    case .transient, nil:
      switch key {
      case "objectID": return objectID
      case "entity": return layout.entity
      case _ where key.hasPrefix(MemoryRecord.orderKeyPrefix):
        return index(inInverseOf: String(key.dropFirst(MemoryRecord.orderKeyPrefix.count)))
      default:
        if reader.unknownKey == nil { reader.unknownKey = (key, layout.entityName) }
        return nil
      }
    }
  }

  /// The number of the row's layout, and a bit that objects don't have: at other positions, they
  /// have transient properties, and they read properties with accessors of their class by name.
  var placesNumber: UInt32 { row.layout.number | 1 << 31 }

  func position(ofKey key: String) -> UInt32? {
    switch row.layout.position(of: key) {
    case .slot(let index): UInt32(index)
    case .toMany(let index): UInt32(row.layout.slots.count + index)
    case .transient, .composite, nil: nil
    }
  }

  func predicateValue(at position: UInt32) -> PredicateValue {
    let layout = row.layout
    let index = Int(position)
    guard index < layout.slots.count else {
      let relationship = layout.toMany[index - layout.slots.count]
      return .collection(
        PredicateCollection(
          destinations(relationship).map { .object(PredicateObject(reference: $0)) },
          isOrdered: relationship.isOrdered, isSet: true))
    }
    let slot = layout.slots[index]
    if slot.kind.isToOne {
      return destination(slot).map { .object(PredicateObject(reference: $0)) } ?? .null
    }
    return row.row.predicateValue(slot) ?? PredicateValue(layout.value(slot, in: row.row))
  }

  var referenceIdentity: AnyHashable { AnyHashable(objectID) }

  var hasStableIdentity: Bool { true }

  var positionByID: UInt64 { NSManagedObjectID.positionByID(of: row.primaryKey) }

  var objectID: NSManagedObjectID {
    NSManagedObjectID(layout: row.layout, primaryKey: row.primaryKey, store: reader.store)
  }

  /// The prefix of a to-one's name that reads the order key in the inverse's list.
  static let orderKeyPrefix = "Z_FOK_"

  private func index(inInverseOf name: String) -> Int? {
    guard case .slot(let index)? = row.layout.position(of: name) else { return nil }
    let slot = row.layout.slots[index]
    guard !row.row.isNull(slot), let inverse = slot.relationship.inverseRelationship,
      let entity = slot.relationship.destinationEntity
    else { return nil }
    let key = ToManyKey(
      rootIndex: EntityLayout.of(entity).rootIndex &+ row.layout.rootOffset,
      primaryKey: row.row.int64(slot),
      relationship: inverse.name)
    return reader.tables.links[key]?.list.firstIndex { $0.primaryKey == row.primaryKey }
  }

  private func destination(_ slot: RowSlot) -> MemoryRecord? {
    guard !row.row.isNull(slot), let entity = slot.relationship.destinationEntity else {
      return nil
    }
    let rootIndex = EntityLayout.of(entity).rootIndex &+ row.layout.rootOffset
    return reader.tables.row(rootIndex, row.row.int64(slot))
      .map { MemoryRecord($0, reader) }
  }

  private func destinations(_ relationship: NSRelationshipDescription) -> [MemoryRecord] {
    let key = ToManyKey(
      rootIndex: row.layout.rootIndex, primaryKey: row.primaryKey, relationship: relationship.name)
    return (reader.tables.links[key]?.list ?? []).compactMap { identity in
      reader.tables.row(identity.layout.rootIndex, identity.primaryKey)
        .map { MemoryRecord($0, reader) }
    }
  }
}
