import ManagedModel

// What a save means for the row cache, wherever its rows are written.

extension RowStore {
  /// The objects whose row in the row cache is of another version than theirs.
  final func cacheConflicts(_ objects: [NSManagedObject]) -> [SaveConflict] {
    withShared { shared in
      objects.compactMap { object in
        let old = object.row.version
        let cached = shared.rows.peek(
          rootIndex: object.layout.rootIndex, key: object.primaryKey, { $0.version })
        guard let cached, cached != old else { return nil }
        return SaveConflict(object: object, oldVersion: old, newVersion: cached)
      }
    }
  }

  /// Empties the entries of rows that a save found changed, so that they are read anew.
  final func forget(_ conflicts: SaveConflicts) {
    withShared { shared in
      for conflict in conflicts.conflicts {
        let (rootIndex, key) = (conflict.object.layout.rootIndex, conflict.object.primaryKey)
        if shared.rowVersion(rootIndex: rootIndex, key: key) != conflict.newVersion {
          shared.rows.forget(rootIndex: rootIndex, key: key, commit: 0)
          shared.toMany.forget(rootIndex: rootIndex, key: key)
        }
      }
    }
  }

  /// Empties the entries of rows that somebody else has written, and drops every to-many: any of them
  /// may have changed.
  final func forget(_ changes: MergedChanges) {
    let commit = countCommit()
    withShared { shared in
      for identity in changes.all {
        shared.rows.forget(
          rootIndex: identity.layout.rootIndex, key: identity.primaryKey, commit: commit)
      }
      shared.toMany.removeAll()
    }
  }

  /// Whether a key is owned and its row has not been read.
  final func isUnread(rootIndex: Int, key: Int64) -> Bool {
    withShared { shared in
      shared.rows.hasEntry(rootIndex: rootIndex, key: key)
        && shared.rows.peek(rootIndex: rootIndex, key: key) { _ in true } == nil
    }
  }

  /// Puts the written rows into the row cache, takes deleted ones out, and follows the changed
  /// relationships in the keys kept beside the rows.
  ///
  /// - Parameter rows: As `newRows` gave them; their counts are taken over.
  /// - Returns: The rows to use, each with a count for the caller.
  final func remember(_ plan: SavePlan, rows: [Row], commit: UInt64) -> [Row] {
    let timestamp = Date.timeIntervalSinceReferenceDate
    return withShared { shared in
      for object in plan.written { object.followLinks(in: &shared.toMany, commit: commit) }
      for object in plan.deleted {
        shared.rows.forget(
          rootIndex: object.layout.rootIndex, key: object.primaryKey, commit: commit)
        shared.toMany.forget(rootIndex: object.layout.rootIndex, key: object.primaryKey)
        object.leaveLinks(in: &shared.toMany, commit: commit)
      }
      return zip(plan.written, rows).map { object, row in
        let rootIndex = object.layout.rootIndex
        if object.isInserted { shared.rows.own(rootIndex: rootIndex, key: object.primaryKey) }
        shared.toMany.adopt(version: row.version, rootIndex: rootIndex, key: object.primaryKey)
        return shared.rows.install(
          row, rootIndex: rootIndex, key: object.primaryKey, commit: commit, timestamp: timestamp)
      }
    }
  }

  /// The rows of written objects, one builder serving the objects of one entity in a row.
  ///
  /// The caller owns a count of each.
  final func newRows(of objects: [NSManagedObject]) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(objects.count)
    var start = 0
    while start < objects.count {
      let layout = objects[start].layout
      var builder = RowBuilder(layout: layout)
      while start < objects.count, objects[start].layout === layout {
        let object = objects[start]
        builder.reset()
        for slot in layout.slots { builder.set(object.rawValue(slot), at: slot) }
        rows.append(
          builder.finish(version: object.isInserted ? 1 : object.row.version &+ 1))
        start += 1
      }
    }
    return rows
  }
}
