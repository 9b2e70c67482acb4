public import MoodyHTTP
public import MoodySync
public import OpenCoreData

/// A record in the server's store.
///
/// A removed record stays, without values, so that an upload that arrives after its removal doesn't
/// bring it back.
final class Record: NSManagedObject {
  @Managed("identifier") var identifier: String
  @Managed("isRemoved") var isRemoved: Bool
  @Managed("creatorID") var creatorID: String?
  @Managed("date") var date: Date?
  @Managed("colors") var colors: Data?
  @Managed("latitude") var latitude: Double?
  @Managed("longitude") var longitude: Double?
  @Managed("countryCode") var countryCode: Int64?

  /// The mood, or `nil` if the record was removed.
  var mood: RemoteMood? {
    guard !isRemoved, let date, let colors else { return nil }
    return RemoteMood(
      id: identifier, creatorID: creatorID, date: date, colors: colors, latitude: latitude,
      longitude: longitude, countryCode: countryCode.flatMap(Int16.init(exactly:)))
  }

  func set(_ mood: RemoteMood, by user: String) {
    creatorID = user
    date = mood.date
    colors = mood.colors
    latitude = mood.latitude
    longitude = mood.longitude
    countryCode = mood.countryCode.map(Int64.init)
  }

  func remove() {
    isRemoved = true
    (creatorID, date, colors) = (nil, nil, nil)
    (latitude, longitude, countryCode) = (nil, nil, nil)
  }

  static func model() -> NSManagedObjectModel {
    registerClass()
    func attribute(
      _ name: String, _ type: NSAttributeType, isOptional: Bool = true
    ) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = isOptional
      if type == .booleanAttributeType { attribute.defaultValue = false }
      return attribute
    }
    let entity = NSEntityDescription()
    entity.name = "Record"
    entity.managedObjectClassName = "Record"
    entity.properties = [
      attribute("identifier", .stringAttributeType, isOptional: false),
      attribute("isRemoved", .booleanAttributeType, isOptional: false),
      attribute("creatorID", .stringAttributeType), attribute("date", .dateAttributeType),
      attribute("colors", .binaryDataAttributeType), attribute("latitude", .doubleAttributeType),
      attribute("longitude", .doubleAttributeType),
      attribute("countryCode", .integer64AttributeType),
    ]
    entity.uniquenessConstraints = [["identifier"]]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}

/// The server's moods, in a store whose persistent history lists what has changed after a token.
///
/// Requests can be repeated: a mood that's stored isn't changed by another upload, and one that was
/// removed is never stored again.
public final class MoodStore: Sendable {
  private let context: NSManagedObjectContext

  /// Opens or creates a store.
  ///
  /// - Throws: The error of `addPersistentStore`.
  public init(storeURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Record.model())
    try coordinator.addPersistentStore(
      type: .sqlite, at: storeURL, options: [NSPersistentHistoryTrackingKey: true])
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  /// Stores moods.
  ///
  /// **Cost**: one SELECT, and one INSERT for each new mood.
  ///
  /// - Returns: The moods that are stored, and the identifiers of those that are invalid or were
  ///   removed.
  public func upload(_ moods: [RemoteMood], by user: String) async throws -> UploadResponse {
    try await perform { [context] in
      var records = try Self.records(moods.map(\.id), in: context)
      var response = UploadResponse()
      for mood in moods {
        guard mood.isValid, records[mood.id]?.isRemoved != true else {
          response.rejected.append(mood.id)
          continue
        }
        let record = records[mood.id] ?? Record(context: context)
        if records.updateValue(record, forKey: mood.id) == nil {
          record.identifier = mood.id
          record.set(mood, by: user)
        }
        if let stored = record.mood { response.moods.append(stored) }
      }
      return response
    }
  }

  /// Removes moods, including those that aren't stored yet.
  ///
  /// **Cost**: one SELECT, and one INSERT or UPDATE for each mood that wasn't removed before.
  ///
  /// - Returns: The identifiers of the moods that aren't stored, which are all of them: moods with
  ///   invalid identifiers are never stored.
  public func remove(_ ids: [RemoteRecordID]) async throws -> Removals {
    try await perform { [context] in
      let valid = ids.filter(RemoteMood.isValid)
      var records = try Self.records(valid, in: context)
      for id in valid where records[id]?.isRemoved != true {
        let record = records[id] ?? Record(context: context)
        if records.updateValue(record, forKey: id) == nil { record.identifier = id }
        record.remove()
      }
      return Removals(ids: ids)
    }
  }

  /// Returns the latest moods.
  ///
  /// **Cost**: one SELECT.
  public func latest(limit: Int) async throws -> LatestResponse {
    try await perform { [context] in
      let request = NSFetchRequest<Record>(entityName: "Record")
      request.predicate = NSPredicate(format: "isRemoved == NO")
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
      request.fetchLimit = limit
      return LatestResponse(moods: try context.fetch(request).compactMap(\.mood))
    }
  }

  /// Returns the last state of the moods that have changed after a token.
  ///
  /// A transaction has at most the moods of a request, so there are fewer than the limit and those
  /// of a request.
  ///
  /// **Cost**: the SELECTs of a history request, and one SELECT for the records.
  ///
  /// - Parameters:
  ///   - token: The token, or `nil` for all changes.
  ///   - limit: The maximum number of transactions, and the number of moods after which no other
  ///     transaction is read.
  /// - Throws: `HistoryToken.Invalid` if it isn't a token, or has expired because the history after it
  ///   was deleted.
  public func changes(after token: String?, limit: Int) async throws -> ChangesResponse {
    try await perform { [context] in
      let request = NSPersistentHistoryChangeRequest.fetchHistory(
        after: try token.map(HistoryToken.token))
      request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
      request.fetchRequest?.fetchLimit = limit
      let result: NSPersistentHistoryResult?
      do {
        result = try context.execute(request) as? NSPersistentHistoryResult
      } catch let error as NSError where error.code == NSPersistentHistoryTokenExpiredError {
        throw HistoryToken.Invalid()
      }
      let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
      var (ids, seen): ([NSManagedObjectID], Set<NSManagedObjectID>) = ([], [])
      var last: NSPersistentHistoryTransaction?
      for transaction in transactions where ids.count < limit {
        for change in transaction.changes ?? []
        where seen.insert(change.changedObjectID).inserted {
          ids.append(change.changedObjectID)
        }
        last = transaction
      }
      let records = NSFetchRequest<Record>(entityName: "Record")
      records.predicate = NSPredicate(format: "SELF IN %@", ids)
      let byID = Dictionary(
        ids.isEmpty ? [] : try context.fetch(records).map { ($0.objectID, $0) },
        uniquingKeysWith: { $1 })
      return ChangesResponse(
        changes: ids.compactMap { byID[$0] }.map { .init(id: $0.identifier, mood: $0.mood) },
        token: try last.map { try HistoryToken.text(of: $0.token) } ?? token,
        isComplete: transactions.count < limit && last === transactions.last)
    }
  }

  /// Returns the token of the last change, or `nil` if there were never any.
  ///
  /// **Cost**: one statement.
  ///
  /// - Parameter seen: A token that's returned as it is if it's the one of the last change. The same
  ///   token can have several texts.
  /// - Throws: `HistoryToken.Invalid` if it isn't a token.
  public func currentToken(seen: String?) throws -> String? {
    let token = context.persistentStoreCoordinator?
      .currentPersistentHistoryToken(fromStores: nil)
    if let seen, try HistoryToken.token(seen).isEqual(token) { return seen }
    return try token.map(HistoryToken.text)
  }

  /// Runs a block on the context's queue, and then saves.
  private func perform<Value: Sendable>(
    _ block: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await context.perform { [context] in
      do {
        let value = try block()
        if context.hasChanges { try context.save() }
        return value
      } catch {
        context.rollback()
        throw error
      }
    }
  }

  private static func records(
    _ ids: [RemoteRecordID], in context: NSManagedObjectContext
  ) throws -> [RemoteRecordID: Record] {
    let request = NSFetchRequest<Record>(entityName: "Record")
    request.predicate = NSPredicate(format: "identifier IN %@", ids)
    request.returnsObjectsAsFaults = false
    return Dictionary(
      try context.fetch(request).map { ($0.identifier, $0) }, uniquingKeysWith: { $1 })
  }
}

extension RemoteMood {
  /// Whether an identifier is one that the server stores: up to 100 visible ASCII characters.
  ///
  /// Other characters can be equal in Swift, but not in the store, and can control a terminal.
  static func isValid(_ id: RemoteRecordID) -> Bool {
    (1...100).contains(id.utf8.count) && id.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Whether the mood is one that the server stores.
  fileprivate var isValid: Bool {
    RemoteMood.isValid(id) && colors.count <= 3_000
      && date.timeIntervalSinceReferenceDate.isFinite
      && latitude.map((-90...90).contains) != false
      && longitude.map((-180...180).contains) != false
      && countryCode.map { (1...999).contains($0) } != false
  }
}

/// Tokens of the persistent history as text that URLs can contain.
enum HistoryToken {
  /// An error: the text isn't a token, or the token has expired.
  struct Invalid: Error {}

  static func text(of token: NSPersistentHistoryToken) throws -> String {
    try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
      .base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
  }

  static func token(_ text: String) throws -> NSPersistentHistoryToken {
    let base64 = text.replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    guard text.utf8.count <= 4_096, let data = Data(base64Encoded: base64),
      let token = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: NSPersistentHistoryToken.self, from: data)
    else { throw Invalid() }
    return token
  }
}
