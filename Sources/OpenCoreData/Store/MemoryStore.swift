import ManagedModel
import ProfileEvents
import Synchronization

/// A store in the memory of the process, gone with its coordinator.
///
/// Predicates and sort descriptors are evaluated on the rows, so that whatever evaluates in memory can
/// be fetched by; no statement runs. Apple counterpart: the store of type `NSInMemoryStoreType`.
final class MemoryStore: RowStore, @unchecked Sendable {  // what changes is behind a lock
  private let contents: Mutex<Contents>

  private struct Contents {
    var tables: MemoryTables
    /// The highest key given, by root entity.
    var lastKeys: [Int64]
  }

  init(
    model: NSManagedObjectModel, configuration: String?, place: Int, url: URL?,
    options: [AnyHashable: Any]?
  ) {
    let entities = model.entitiesInNumberingOrder(of: configuration).enumerated().map {
      index, entity in (number: index + 1, description: entity)
    }
    let layouts = StoreLayouts(entities, place: place)
    contents = Mutex(
      Contents(
        tables: MemoryTables(rootCount: layouts.rootCount),
        lastKeys: Array(repeating: 0, count: layouts.rootCount)))
    let identifier = UUID().uuidString
    super.init(
      layouts: layouts, type: NSInMemoryStoreType, url: url, identifier: identifier,
      configuration: configuration,
      isReadOnly: options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false, options: options,
      metadata: [
        StoreMetadata.storeTypeKey: NSInMemoryStoreType, StoreMetadata.uuidKey: identifier,
        StoreMetadata.hashesKey: model.versionHashes(of: configuration),
      ])
  }

  override func beginReading() throws -> any StoreReader {
    let commit = commitNumber
    return MemoryReader(store: self, tables: contents.withLock { $0.tables }, commit: commit)
  }

  /// A copy of the tables, whose rows are as near as the row cache's.
  override func openGeneration() throws -> StoreGeneration {
    contents.withLock { contents in
      let commit = countCommit()
      let reader = MemoryReader(store: self, tables: contents.tables, commit: commit)
      return StoreGeneration(store: self, commit: commit, reader: reader, sharesCache: false)
    }
  }

  /// No statement: a counter for each root entity.
  override func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    contents.withLock { contents in
      for object in objects {
        contents.lastKeys[object.layout.rootIndex] += 1
        object.primaryKey = contents.lastKeys[object.layout.rootIndex]
      }
    }
  }

  /// No statement: the new tables replace the old ones at once.
  override func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void = {}
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
      try beforeCommit()
      let rows = newRows(of: plan.written)
      let commit = countCommit()
      for (object, row) in zip(plan.written, rows) {
        row.retain()
        contents.tables.put(
          MemoryRow(layout: object.layout, primaryKey: object.primaryKey, row: row))
        object.followLinks(in: &contents.tables, commit: commit)
      }
      for object in plan.deleted {
        contents.tables.remove(object.layout, object.primaryKey)
        object.leaveLinks(in: &contents.tables, commit: commit)
      }
      plan.leaveLists(in: &contents.tables, commit: commit)
      return (rows, commit)
    }
    return remember(plan, rows: rows, commit: commit)
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
}
