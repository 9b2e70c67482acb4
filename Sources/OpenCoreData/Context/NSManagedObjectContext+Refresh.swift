import ManagedModel

extension NSManagedObjectContext {
  /// Drops what an object has loaded, so that it is read anew.
  ///
  /// With `mergeChanges`, an object with unsaved changes keeps them, and its other values become those of
  /// the row cache or, when that has no row, of the database. Otherwise it becomes a fault and unsaved
  /// changes are lost: one side of a relationship may then differ from the other.
  /// Cost: none for a clean object; the row stays cached while somebody holds the object.
  public final func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    endBurst()
    guard !object.isInserted, !object.isFault || object.hasChanges else { return }
    changes.eventRefreshed.insert(object)
    if mergeChanges, object.hasChanges {
      merge(object)
    } else {
      changes.updated.remove(object)
      changes.deleted.remove(object)
      object.turnIntoFault()
    }
  }

  /// Refreshes every registered object; unsaved changes are kept.
  public final func refreshAllObjects() {
    var objects: [NSManagedObject] = []
    registry.forEach { objects.append($0) }
    for object in objects { refresh(object, mergeChanges: true) }
  }

  /// Lets go of every object and every change; objects still held elsewhere must not be used again.
  public final func reset() {
    endBurst()
    changes.removeAll()
    disown(registry.removeAll())
    registry.resetPeaks()
  }

  /// Gives a changed object the row cache's row below its changes, or the database's when that has
  /// none; without either, or when it cannot be read, the object keeps its own.
  private func merge(_ object: NSManagedObject) {
    guard !object.isFault, let store = store(for: object) else { return }
    var row = cachedRow(of: object, in: store, notBefore: -.infinity)
    if row == nil {
      do {
        row = try storedRow(of: object, in: store)
      } catch {
        noteFailure(error, "\(object.objectID) could not be refreshed")
      }
    }
    guard let row else { return }
    object.row.release()
    object.row = row
    object.values?.forgetUnchanged(firstTransient: object.layout.firstTransient)
    object.awake(fromSnapshotEvents: .refresh)
  }
}
