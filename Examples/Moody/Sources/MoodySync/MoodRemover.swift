public import Moody
public import OpenCoreData

/// Deletes moods on the server that are marked for it, and then marks them for local deletion.
public final class MoodRemover: ElementChangeProcessor {
  /// The moods for which a removal is in progress.
  public let elementsInProgress = InProgressTracker<Mood>()

  /// Creates a remover.
  public init() {}

  /// Does nothing.
  public func setup(for context: any ChangeProcessorContext) {}

  /// Matches moods that are marked for remote deletion and aren't deleted locally yet.
  public var predicateForLocallyTrackedElements: NSPredicate {
    NSCompoundPredicate(andPredicateWithSubpredicates: [
      Mood.markedForRemoteDeletionPredicate, Mood.notMarkedForLocalDeletionPredicate,
    ])
  }

  /// Deletes moods on the server.
  ///
  /// This includes moods without a remote identifier, because the server may have them: an upload
  /// may be in progress, or its answer may have been lost. A mood without a record name was never
  /// uploaded, so it's marked for local deletion immediately.
  ///
  /// **Cost**: one request, and a delayed save.
  public func processChangedLocalElements(
    _ moods: [Mood], in context: any ChangeProcessorContext
  ) {
    let local = moods.filter { $0.recordID == nil }
    if !local.isEmpty {
      for mood in local { mood.markForLocalDeletion() }
      context.delayedSaveOrRollback { [self] _ in didComplete(local, in: context) }
    }
    let removals = moods.filter { $0.recordID != nil }
    guard !removals.isEmpty else { return }
    let ids = removals.map(\.objectID)
    context.remote.removeMoods(
      removals.compactMap(\.recordID),
      completion: context.perform { [self] (removed: [RemoteRecordID], error: RemoteError?) in
        let moods = elements(with: ids, in: context)
        var deleted = Set(removed)
        // What the server can't delete, such as a record it doesn't have, counts as deleted.
        if case .permanent(let rejected) = error { deleted.formUnion(rejected) }
        for mood in moods where mood.recordID.map(deleted.contains) == true {
          mood.markForLocalDeletion()
        }
        context.delayedSaveOrRollback { [self] _ in didComplete(moods, in: context) }
      })
  }

  /// Does nothing.
  public func processRemoteChanges<Record: RemoteRecord>(
    _ changes: [RemoteRecordChange<Record>], in context: any ChangeProcessorContext,
    completion: @escaping (Bool) -> Void
  ) {
    completion(true)
  }

  /// Does nothing.
  public func fetchLatestRemoteRecords(
    in context: any ChangeProcessorContext, completion: @escaping (Bool) -> Void
  ) {
    completion(true)
  }
}

extension Mood {
  /// The identifier by which the server knows the mood, or will know it.
  var recordID: RemoteRecordID? { remoteIdentifier ?? recordName }
}
