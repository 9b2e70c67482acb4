import ManagedModel
import ProfileEvents
import Synchronization

/// A store in the memory of the process, gone with its coordinator.
///
/// Predicates and sort descriptors are evaluated on the rows, so that whatever evaluates in memory can
/// be fetched by; no statement runs. Apple counterpart: the store of type `NSInMemoryStoreType`.
final class MemoryStore: CachingStore, StoreBackend, @unchecked Sendable {  // what changes is behind a lock
  private let contents: Mutex<Contents>
  /// The document of an XML or binary store, which each save replaces; nil for an in-memory store.
  private let document: AtomicStoreDocument?

  private struct Contents {
    var tables: MemoryTables
    /// The highest key given, by root entity; one for all in a store that is kept in a file.
    var lastKeys: [Int64]

    /// A key that no object has yet.
    mutating func takeKey(rootIndex: Int) -> Int64 {
      let counter = min(rootIndex, lastKeys.count - 1)
      lastKeys[counter] += 1
      return lastKeys[counter]
    }
  }

  /// An empty store.
  convenience init(
    model: NSManagedObjectModel, configuration: String?, place: Int, url: URL?,
    options: [AnyHashable: Any]?
  ) {
    let layouts = MemoryStore.layouts(of: model, configuration: configuration, place: place)
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

  init(
    layouts: StoreLayouts, type: String, url: URL?, identifier: String, configuration: String?,
    options: [AnyHashable: Any]?, metadata: [String: Any], tables: MemoryTables, lastKeys: [Int64],
    document: AtomicStoreDocument? = nil
  ) {
    self.document = document
    contents = Mutex(Contents(tables: tables, lastKeys: lastKeys))
    super.init(
      layouts: layouts, type: type, url: url, identifier: identifier,
      configuration: configuration,
      isReadOnly: options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false, options: options,
      metadata: metadata)
  }

  /// The layouts of a model's entities, numbered as a new SQLite file numbers them.
  static func layouts(
    of model: NSManagedObjectModel, configuration: String?, place: Int
  ) -> StoreLayouts {
    let entities = model.entitiesInNumberingOrder(of: configuration).enumerated().map {
      index, entity in (number: index + 1, description: entity)
    }
    return StoreLayouts(entities, place: place)
  }

  func beginReading() throws -> any StoreReader {
    let commit = commitNumber
    return MemoryReader(store: self, tables: contents.withLock { $0.tables }, commit: commit)
  }

  /// A copy of the tables, whose rows are as near as the row cache's.
  func openGeneration() throws -> StoreGeneration {
    contents.withLock { contents in
      let commit = countCommit()
      let reader = MemoryReader(store: self, tables: contents.tables, commit: commit)
      return StoreGeneration(store: self, commit: commit, reader: reader, sharesCache: false)
    }
  }

  /// No statement: a counter for each root entity.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    contents.withLock { contents in
      for object in objects {
        object.primaryKey = contents.takeKey(rootIndex: object.layout.rootIndex)
      }
    }
  }

  /// No statement: the new tables replace the old ones at once, after they were kept where the store is
  /// kept.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    let (rows, commit) = try contents.withLock { contents in
      let changed = plan.compared.filter { object in
        let found = contents.tables.row(object.layout.rootIndex, object.primaryKey)?.row.version
        if object.state.contains(.restored) { return found != nil }
        return found != object.row.version && !(found == nil && object.isDeleted)
      }
      guard changed.isEmpty else {
        throw storeConflicts(changed) { object in
          let found = contents.tables.row(object.layout.rootIndex, object.primaryKey)
          guard let found, found.layout === object.layout else { return nil }
          found.row.retain()
          return found.row
        }
      }
      try checkConstraints(plan, contents.tables)
      guard let document else {
        try beforeCommit()
        let rows = newRows(of: plan.written)
        return (rows, apply(plan, rows, to: &contents.tables))
      }
      let rows = newRows(of: plan.written)
      var tables = contents.tables
      let commit = apply(plan, rows, to: &tables)
      do {
        try document.write(
          tables, of: self, lastKey: contents.lastKeys.max() ?? 0, beforeCommit: beforeCommit)
      } catch {
        for row in rows { row.release() }
        throw error
      }
      contents.tables = tables
      return (rows, commit)
    }
    return remember(plan, rows: rows, commit: commit)
  }

  /// Brings a save into the tables, and counts it as a commit.
  ///
  /// - Returns: The number of the commit.
  private func apply(_ plan: SavePlan, _ rows: [Row], to tables: inout MemoryTables) -> UInt64 {
    let commit = countCommit()
    for (object, row) in zip(plan.written, rows) {
      row.retain()
      tables.put(MemoryRow(layout: object.layout, primaryKey: object.primaryKey, row: row))
      object.followLinks(in: &tables, commit: commit)
    }
    for object in plan.deleted {
      tables.remove(object.layout, object.primaryKey)
      object.leaveLinks(in: &tables, commit: commit)
    }
    plan.leaveLists(in: &tables, commit: commit)
    return commit
  }

  /// Compares the constrained values of a save with those of all rows: one pass over the rows.
  private func checkConstraints(_ plan: SavePlan, _ tables: MemoryTables) throws {
    let constrained = plan.constrained
    guard !constrained.isEmpty else { return }
    let wanted = Dictionary(constrained.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    var violations: [ConstraintViolation] = []
    for rootIndex in Set(constrained.map(\.object.layout.rootIndex)) {
      for found in tables.rows[rootIndex].values.sorted(by: { $0.primaryKey < $1.primaryKey }) {
        for constraint in found.layout.constraints {
          guard
            let key = constraint.key({ found.row.rawValue(found.layout.slots[$0]) }),
            let candidate = wanted[key], candidate.object.primaryKey != found.primaryKey,
            !plan.frees(key, found.layout, found.primaryKey)
          else { continue }
          violations.append(
            ConstraintViolation(
              constraint: candidate.constraint, objects: [candidate.object],
              stored: found.identity, storedSnapshot: found.row.snapshot(found.layout, self)))
        }
      }
    }
    if !violations.isEmpty { throw ConstraintViolations(violations: violations) }
  }

  /// Stores in memory have no external data files.
  func externalData(_ file: ExternalFile) throws -> Data {
    throw NSError.store("The store has no external data file '\(file.name)'.")
  }

  /// Writes the whole document of an XML or binary store.
  func saveMetadata() throws {
    guard let document, hasUnsavedMetadata else {
      hasUnsavedMetadata = false
      return
    }
    try contents.withLock { contents in
      try document.write(contents.tables, of: self, lastKey: contents.lastKeys.max() ?? 0) {}
    }
  }

  func close() { markRemoved() }
}
