public import Moody
public import OpenCoreData

/// Uploads the moods that the server doesn't have.
///
/// An uploaded mood gets its remote identifier, and thus no longer matches. A mood that the server
/// rejects is marked for deletion.
public final class MoodUploader: ElementChangeProcessor {
  /// The moods for which an upload is in progress.
  public let elementsInProgress = InProgressTracker<Mood>()

  /// Creates an uploader.
  public init() {}

  /// Does nothing.
  public func setup(for context: any ChangeProcessorContext) {}

  /// Matches moods without a remote identifier that aren't marked for deletion.
  public var predicateForLocallyTrackedElements: NSPredicate { Mood.waitingForUploadPredicate }

  /// Uploads moods.
  ///
  /// **Cost**: one request, and a delayed save. A mood that has no record name, because it was
  /// inserted before there were any, gets one and is uploaded after the save.
  public func processChangedLocalElements(
    _ moods: [Mood], in context: any ChangeProcessorContext
  ) {
    let unnamed = moods.filter { $0.recordName == nil }
    for mood in unnamed { mood.recordName = UUID().uuidString }
    if !unnamed.isEmpty {
      elementsInProgress.markObjectsAsComplete(unnamed)
      context.delayedSaveOrRollback()
    }
    let insertions = moods.filter { !unnamed.contains($0) }
    guard !insertions.isEmpty else { return }
    let ids = insertions.map(\.objectID)
    context.remote.upload(
      insertions.compactMap(RemoteMood.init),
      completion: context.perform { [self] (uploaded: [RemoteMood], error: RemoteError?) in
        let moods = elements(with: ids, in: context)
        assign(uploaded, to: moods)
        if case .permanent(let rejected) = error { mark(moods, rejected: Set(rejected)) }
        context.delayedSaveOrRollback { [self] _ in didComplete(moods, in: context) }
      })
  }

  /// Sets the identifiers of the moods that the server now has.
  ///
  /// The book compares dates, which two moods can share.
  private func assign(_ uploaded: [RemoteMood], to moods: [Mood]) {
    let byID = Dictionary(uploaded.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    for mood in moods {
      guard let name = mood.recordName, let remote = byID[name] else { continue }
      mood.remoteIdentifier = remote.id
      mood.creatorID = remote.creatorID
    }
  }

  private func mark(_ moods: [Mood], rejected: Set<RemoteRecordID>) {
    for mood in moods where mood.recordName.map(rejected.contains) == true {
      mood.markForLocalDeletion()
    }
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
  /// The predicate for moods that the server doesn't have.
  public static var waitingForUploadPredicate: NSPredicate {
    NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "%K == NULL", remoteIdentifierKey), notMarkedForRemoteDeletionPredicate,
      notMarkedForLocalDeletionPredicate,
    ])
  }
}

extension RemoteMood {
  /// Reads a mood on its context's queue; returns `nil` if it has no record name.
  ///
  /// **Cost**: firing the mood and its country, if they're faults.
  init?(_ mood: Mood) {
    guard let name = mood.recordName else { return nil }
    self.init(
      id: name, creatorID: mood.creatorID, date: mood.date, colors: mood.colors,
      latitude: mood.latitude, longitude: mood.longitude,
      countryCode: mood.country?.numericISO3166Code)
  }
}
