import Moody
public import OpenCoreData

/// Applies the server's changes to local moods.
public final class MoodDownloader: ChangeProcessor {
  /// Creates a downloader.
  public init() {}

  /// Subscribes to changes of the server.
  public func setup(for context: any ChangeProcessorContext) {
    context.remote.setupMoodSubscription { [weak context] in context?.remoteDidChange() }
  }

  /// Does nothing: the downloader doesn't track local objects.
  public func processChangedLocalObjects(
    _ objects: [NSManagedObject], in context: any ChangeProcessorContext
  ) {}

  /// Returns `nil`: the downloader doesn't track local objects.
  public func entityAndPredicateForLocallyTrackedObjects(
    in context: any ChangeProcessorContext
  ) -> EntityAndPredicate? {
    nil
  }

  /// Inserts moods that don't exist locally, and marks deleted ones for local deletion.
  ///
  /// The last of several changes of one mood decides. Applying changes again has no effect.
  ///
  /// **Cost**: one SELECT for the moods and one for their countries. The caller saves.
  public func processRemoteChanges<Record: RemoteRecord>(
    _ changes: [RemoteRecordChange<Record>], in context: any ChangeProcessorContext,
    completion: @escaping (Bool) -> Void
  ) {
    var (order, moods): ([RemoteRecordID], [RemoteRecordID: RemoteMood?]) = ([], [:])
    for change in changes {
      switch change {
      case .insert(let record), .update(let record):
        guard let mood = record as? RemoteMood else { continue }
        if moods.updateValue(.some(mood), forKey: mood.id) == nil { order.append(mood.id) }
      case .delete(let id):
        if moods.updateValue(.none, forKey: id) == nil { order.append(id) }
      }
    }
    completion(apply(order.map { ($0, moods[$0] ?? nil) }, in: context.context))
  }

  /// Inserts the server's latest moods.
  ///
  /// **Cost**: one request, the cost of `processRemoteChanges`, and a delayed save.
  public func fetchLatestRemoteRecords(
    in context: any ChangeProcessorContext, completion: @escaping (Bool) -> Void
  ) {
    context.remote.fetchLatestMoods(
      completion: context.perform { [self] (moods: [RemoteMood], error: RemoteError?) in
        guard error == nil, apply(moods.map { ($0.id, $0) }, in: context.context) else {
          return completion(false)
        }
        context.delayedSaveOrRollback(completion: completion)
      })
  }

  /// Applies the final state of each record: a mood, or `nil` if it's deleted.
  ///
  /// - Returns: Whether all existing objects could be fetched; if not, the changes must be applied
  ///   again.
  private func apply(
    _ records: [(id: RemoteRecordID, mood: RemoteMood?)], in context: NSManagedObjectContext
  ) -> Bool {
    guard !records.isEmpty else { return true }
    do {
      let existing = try existingMoods(records.map(\.id), in: context)
      let countries = try Countries(of: records.compactMap(\.mood), in: context)
      for (id, remote) in records {
        switch (existing[id], remote) {
        case (let mood?, nil): mood.markForLocalDeletion()
        case (let mood?, let remote?): mood.confirmUpload(as: remote)
        case (nil, let remote?): try countries.insert(remote)
        case (nil, nil): break
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Returns the local moods by the identifiers of their records.
  private func existingMoods(
    _ ids: [RemoteRecordID], in context: NSManagedObjectContext
  ) throws -> [RemoteRecordID: Mood] {
    let moods = try Mood.fetch(in: context) { request in
      request.predicate = NSPredicate(
        format: "%K IN %@ OR recordName IN %@", Mood.remoteIdentifierKey, ids, ids)
      request.returnsObjectsAsFaults = false
    }
    return Dictionary(
      moods.compactMap { mood in mood.recordID.map { ($0, mood) } }, uniquingKeysWith: { $1 })
  }
}

extension Mood {
  /// Sets the identifiers of a mood that was uploaded, if the answer to the upload was lost.
  fileprivate func confirmUpload(as remote: RemoteMood) {
    guard remoteIdentifier == nil else { return }
    remoteIdentifier = remote.id
    creatorID = remote.creatorID
  }
}

/// The countries of downloaded moods, fetched at once.
private final class Countries {
  private let context: NSManagedObjectContext
  private var byCode: [Int16: Country] = [:]

  init(of moods: [RemoteMood], in context: NSManagedObjectContext) throws {
    self.context = context
    let codes = Set(moods.compactMap(\.countryCode)).sorted().map(NSNumber.init)
    guard !codes.isEmpty else { return }
    let countries = try Country.fetch(in: context) { request in
      request.predicate = NSPredicate(format: "numericISO3166Code IN %@", codes)
      request.returnsObjectsAsFaults = false
    }
    for country in countries { byCode[country.numericISO3166Code] = country }
  }

  /// Inserts a mood, and its country and continent if they don't exist.
  ///
  /// A country with the number of a continent would replace it, so the mood gets no country.
  ///
  /// **Cost**: see `Country.joinContinent()`, once for each country.
  func insert(_ remote: RemoteMood) throws {
    let mood = Mood(context: context)
    mood.recordName = remote.id
    mood.remoteIdentifier = remote.id
    mood.creatorID = remote.creatorID
    mood.date = remote.date
    mood.colors = remote.colors
    mood.latitude = remote.latitude
    mood.longitude = remote.longitude
    guard let code = remote.countryCode, Country.isCode(code) else { return }
    let country = byCode[code] ?? Country(context: context)
    if byCode.updateValue(country, forKey: code) == nil { country.numericISO3166Code = code }
    try country.joinContinent()
    mood.country = country
  }
}
