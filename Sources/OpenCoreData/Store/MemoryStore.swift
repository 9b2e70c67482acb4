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

  init(model: NSManagedObjectModel, url: URL?, options: [AnyHashable: Any]?) {
    let entities = model.entitiesInNumberingOrder.enumerated().map { index, entity in
      (number: index + 1, description: entity)
    }
    let layouts = StoreLayouts(entities)
    contents = Mutex(
      Contents(
        tables: MemoryTables(rootCount: layouts.rootCount),
        lastKeys: Array(repeating: 0, count: layouts.rootCount)))
    let identifier = UUID().uuidString
    super.init(
      layouts: layouts, type: NSInMemoryStoreType, url: url, identifier: identifier,
      isReadOnly: options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false, options: options,
      metadata: [
        StoreMetadata.storeTypeKey: NSInMemoryStoreType, StoreMetadata.uuidKey: identifier,
        StoreMetadata.hashesKey: model.entityVersionHashesByName,
      ])
  }

  override func beginReading() throws -> any StoreReader {
    let commit = commitNumber
    return MemoryReader(store: self, tables: contents.withLock { $0.tables }, commit: commit)
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
  override func write(_ plan: SavePlan, in scope: ProfileScope) throws -> [Row] {
    let (rows, commit) = try contents.withLock { contents in
      let conflicts = (plan.updated + plan.deleted).compactMap { object -> SaveConflict? in
        let found = contents.tables.row(object.layout.rootIndex, object.primaryKey)?.row.version
        guard found != object.row.version else { return nil }
        return SaveConflict(
          object: object, oldVersion: object.row.version, newVersion: found ?? 0)
      }
      guard conflicts.isEmpty else { throw SaveConflicts(conflicts: conflicts) }
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
      return (rows, commit)
    }
    return remember(plan, rows: rows, commit: commit)
  }
}
