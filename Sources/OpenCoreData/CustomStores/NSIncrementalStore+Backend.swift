import ManagedModel
import ProfileEvents

extension NSIncrementalStore {
  /// Throws an error: an incremental store is read for a context, and has no snapshot without one.
  func beginReading() throws -> any StoreReader {
    throw NSError.coreData(
      NSPersistentStoreUnsupportedRequestTypeError,
      "The store of the type '\(type)' is incremental: it has no snapshots.")
  }

  func beginReading(for context: NSManagedObjectContext) throws -> any StoreReader {
    IncrementalReader(self, context)
  }

  func openGeneration() throws -> StoreGeneration {
    throw NSError.coreData(
      NSPersistentStoreUnsupportedRequestTypeError,
      "The store of the type '\(type)' is incremental: it has no query generations.")
  }

  func externalData(_ file: ExternalFile) throws -> Data {
    throw NSError.store("The store has no external data file '\(file.name)'.")
  }

  /// Executes an `NSSaveChangesRequest` without objects, with which the store writes its metadata.
  func saveMetadata() throws {
    let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
    request.affectedStores = [self]
    let scope = ProfileScope(hub: persistentStoreCoordinator?.eventHub ?? EventHub())
    _ = try saving(in: scope) { _ = try execute(request, with: nil) }
    noteMetadataSaved()
  }

  func close() { markRemoved() }

  func loadContents() throws {}

  func newIdentifier(at url: URL) -> String {
    "\(Swift.type(of: self).identifierForNewStore(at: url))"
  }

  /// Calls `obtainPermanentIDs(for:)`.
  func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    let ids = try calling(in: scope) { try obtainPermanentIDs(for: objects) }
    let fit = zip(objects, ids).allSatisfy { object, id in
      id.handle === handle && id.primaryKey > 0 && id.layout === object.layout
    }
    guard ids.count == objects.count, fit, Set(ids).count == ids.count else {
      throw NSError.store(
        "obtainPermanentIDs(for:) of \(Swift.type(of: self)) must return one new ID of this store for "
          + "each of \(objects.count) objects, in their order, with their entities.")
    }
    for (object, id) in zip(objects, ids) { object.primaryKey = id.primaryKey }
  }

  /// Executes an `NSSaveChangesRequest`; its rows are read again, unless the store has updated
  /// their nodes.
  func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void
  ) throws -> [Row] {
    try beforeCommit()
    let context = (plan.written.first ?? plan.deleted.first)?.context
    let reported: SavedNodes
    do {
      reported = try saving(plan.written.count, in: scope) {
        _ = try execute(NSSaveChangesRequest(plan, for: self), with: context)
      }
    } catch {
      throw conflicts(of: error as NSError) ?? error
    }
    noteMetadataSaved()
    let (nodes, versions) = (reported.nodes, reported.versions)
    var unversioned: [NSManagedObject] = []
    let rows = newRows(of: plan.written) { object in
      let key = RowKey(object.identity)
      if let version = versions[key] { return version }
      unversioned.append(object)
      return nodes[key].map { Int64(bitPattern: $0.version) } ?? Row.unknownVersion
    }
    let commit = countCommit()
    let saved = remember(plan, rows: rows, commit: commit)
    withShared { shared in
      for object in unversioned {
        shared.rows.forget(
          rootIndex: object.layout.rootIndex, key: object.primaryKey, commit: commit)
      }
    }
    for node in nodes.values { cacheValues(of: node) }
    return saved
  }

  /// Returns the conflicts that a failed save reports, for the merge policy; `nil` for other
  /// errors.
  ///
  /// The rows in conflict are removed from the row cache, so that the policy reads the newest.
  private func conflicts(of error: NSError) -> (any Error)? {
    guard error.domain == NSCocoaErrorDomain,
      let list = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSObject]
    else { return nil }
    switch error.code {
    case NSManagedObjectMergeError:
      let conflicts = list.compactMap { $0 as? NSMergeConflict }
      guard !conflicts.isEmpty else { return nil }
      discard(conflicts.map(\.sourceObject.identity))
      return SaveConflicts(conflicts: conflicts.map(SaveConflict.init))
    case NSManagedObjectConstraintMergeError:
      let violations = list.compactMap { ($0 as? NSConstraintConflict)?.violation }
      return violations.isEmpty ? nil : ConstraintViolations(violations: violations)
    default: return nil
    }
  }
}

extension SaveConflict {
  /// Creates the conflict that a store has found.
  fileprivate init(_ conflict: NSMergeConflict) {
    self.init(
      object: conflict.sourceObject,
      location: conflict.objectSnapshot == nil ? .store : .rowCache,
      oldVersion: Int64(conflict.oldVersionNumber), newVersion: Int64(conflict.newVersionNumber),
      cached: conflict.cachedSnapshot, persisted: conflict.persistedSnapshot)
  }
}

extension NSConstraintConflict {
  /// The violation of a constraint that a store has found; `nil` if the model has no such
  /// constraint.
  fileprivate var violation: ConstraintViolation? {
    guard let object = conflictingObjects.first,
      let known = object.layout.constraints.first(where: { $0.names == constraint })
    else { return nil }
    return ConstraintViolation(
      constraint: known, objects: conflictingObjects, stored: databaseObject?.identity,
      storedSnapshot: databaseSnapshot)
  }
}
