import ManagedModel

// Updates of the row cache by a save, wherever its rows are written.

extension Row {
  /// The version of a row whose version in the store isn't known: an incremental store has saved
  /// it.
  ///
  /// It conflicts with no other.
  static let unknownVersion: Int64 = -1
}

extension CachingStore {
  /// Returns the objects whose version differs from that of their row in the row cache.
  ///
  /// A row that is another entity's by now isn't theirs; writing finds that theirs has gone.
  final func cacheConflicts(_ objects: [NSManagedObject]) -> [SaveConflict] {
    guard !objects.isEmpty else { return [] }
    let changed = withShared { shared in
      objects.compactMap { object -> (object: NSManagedObject, cached: Row)? in
        guard !object.state.contains(.restored) else { return nil }
        let old = object.row.version
        return shared.rows.peek(rootIndex: object.layout.rootIndex, key: object.primaryKey) {
          cached in
          guard cached.version != old, cached.version != Row.unknownVersion,
            old != Row.unknownVersion, cached.layoutIndex == object.layout.index
          else { return nil }
          cached.retain()
          return (object, cached)
        }
      }
    }
    return changed.map { object, cached in
      defer { cached.release() }
      return SaveConflict(
        object: object, location: .rowCache, oldVersion: object.row.version,
        newVersion: cached.version, cached: cached.snapshot(object.layout, self), persisted: nil)
    }
  }

  /// Describes rows that changed since they were read, and updates them in the row cache.
  ///
  /// - Parameter read: Returns an object's row in the store, retained; `nil` if it no longer
  ///   exists.
  final func storeConflicts(
    _ objects: [NSManagedObject], _ read: (NSManagedObject) throws -> Row?
  ) rethrows -> SaveConflicts {
    let commit = commitNumber
    let conflicts = try objects.map { object in
      let (rootIndex, key) = (object.layout.rootIndex, object.primaryKey)
      let row = withShared { shared in
        shared.rows.peek(rootIndex: rootIndex, key: key) { cached -> Row? in
          guard cached.layoutIndex == object.layout.index else { return nil }
          cached.retain()
          return cached
        }
      }
      defer { row?.release() }
      let cached = (row ?? object.row).snapshot(object.layout, self)
      let found = try read(object)
      let persisted = found?.snapshot(object.layout, self)
      let version = found?.version ?? 0
      let timestamp = Date.timeIntervalSinceReferenceDate
      withShared { shared in
        shared.toMany.forget(rootIndex: rootIndex, key: key)
        guard let found else {
          return shared.rows.forget(rootIndex: rootIndex, key: key, commit: commit)
        }
        shared.rows.install(
          found, rootIndex: rootIndex, key: key, commit: commit, timestamp: timestamp
        ).release()
      }
      return SaveConflict(
        object: object, location: .store, oldVersion: object.row.version, newVersion: version,
        cached: cached, persisted: persisted)
    }
    return SaveConflicts(conflicts: conflicts)
  }

  /// Adds the written rows to the row cache, removes deleted ones, and updates the cached to-many
  /// keys for the changed relationships.
  ///
  /// - Parameter rows: The new rows of the written objects; their reference counts are taken over.
  /// - Returns: The rows to use, each retained for the caller.
  final func remember(_ plan: SavePlan, rows: [Row], commit: UInt64) -> [Row] {
    let timestamp = Date.timeIntervalSinceReferenceDate
    var generations: [StoreGeneration] = []
    defer { withExtendedLifetime(generations) {} }
    return withShared { shared in
      if !shared.generations.isEmpty {
        generations = shared.retainedGenerations
        for object in plan.updated + plan.deleted {
          shared.preserve(
            rootIndex: object.layout.rootIndex, key: object.primaryKey, for: generations)
        }
      }
      if !shared.toMany.isEmpty {
        for object in plan.written { object.followLinks(in: &shared.toMany, commit: commit) }
      }
      for object in plan.deleted {
        shared.rows.forget(
          rootIndex: object.layout.rootIndex, key: object.primaryKey, commit: commit)
        shared.toMany.forget(rootIndex: object.layout.rootIndex, key: object.primaryKey)
        object.removeFromLinks(in: &shared.toMany, commit: commit)
      }
      if !shared.toMany.isEmpty { plan.removeDeletedFromLinks(in: &shared.toMany, commit: commit) }
      return zip(plan.written, rows).map { object, row in
        let rootIndex = object.layout.rootIndex
        shared.toMany.adopt(version: row.version, rootIndex: rootIndex, key: object.primaryKey)
        return object.isInserted
          ? shared.rows.addOwner(
            row, rootIndex: rootIndex, key: object.primaryKey, commit: commit, timestamp: timestamp)
          : shared.rows.install(
            row, rootIndex: rootIndex, key: object.primaryKey, commit: commit, timestamp: timestamp)
      }
    }
  }

  /// Returns the rows of written objects; consecutive objects of one entity share a builder.
  ///
  /// Each is retained for the caller.
  ///
  /// - Parameter version: Returns the version of an object's row; `nil` for the next one.
  final func newRows(
    of objects: [NSManagedObject], version: ((NSManagedObject) -> Int64)? = nil
  ) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(objects.count)
    var start = 0
    while start < objects.count {
      let layout = objects[start].layout
      var builder = RowBuilder(layout: layout)
      while start < objects.count, objects[start].layout === layout {
        rows.append(builder.row(of: objects[start], version: version?(objects[start])))
        start += 1
      }
    }
    return rows
  }
}

extension RowBuilder {
  /// Returns the row that an object is saved with: its values, changed or not, and a version, or
  /// else the next one.
  ///
  /// Retained for the caller.
  mutating func row(of object: NSManagedObject, version: Int64? = nil) -> Row {
    reset()
    let row = object.row
    let values = object.values
    for slot in slots {
      guard let changed = values?.changedValue(slot.index) else {
        copy(slot, of: row)
        continue
      }
      switch changed.pointee {
      case .null, .raw(.null): break
      case .raw(.int64(let number)): set(number, at: slot)
      case .raw(.double(let number)): set(number, at: slot)
      case .raw(.text(var text)):
        text.withUTF8 { set(bytes: UnsafeRawBufferPointer($0), at: slot) }
      case .transformed where !object.isInserted && !object.differs(slot): copy(slot, of: row)
      default: set(object.rawValue(slot), at: slot)
      }
    }
    return finish(version: version ?? (object.isInserted ? 1 : row.version &+ 1))
  }
}
