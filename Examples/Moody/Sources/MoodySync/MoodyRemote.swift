public import OpenCoreData

/// The identifier of a record on the server.
public typealias RemoteRecordID = String

/// A record on the server.
public protocol RemoteRecord: Sendable {
  /// The identifier of the record.
  var id: RemoteRecordID { get }
}

/// A mood as the server has it: the values that cross between the server, the queues of callbacks,
/// and the context's queue.
public struct RemoteMood: RemoteRecord, Hashable, Codable {
  /// The identifier, which the device that inserted the mood chose as its record name.
  public var id: RemoteRecordID
  /// The identifier of the user who uploaded the mood, which the server sets.
  public var creatorID: String?
  /// The date of the picture.
  public var date: Date
  /// The colors, three bytes each.
  public var colors: Data
  /// The latitude in degrees, or `nil` without a location.
  public var latitude: Double?
  /// The longitude in degrees, or `nil` without a location.
  public var longitude: Double?
  /// The ISO 3166 code of the country, or `nil` if it's unknown.
  public var countryCode: Int16?

  /// Creates a mood from values.
  public init(
    id: RemoteRecordID, creatorID: String? = nil, date: Date, colors: Data,
    latitude: Double? = nil, longitude: Double? = nil, countryCode: Int16? = nil
  ) {
    self.id = id
    self.creatorID = creatorID
    self.date = date
    self.colors = colors
    self.latitude = latitude
    self.longitude = longitude
    self.countryCode = countryCode
  }
}

/// A change of a record on the server.
public enum RemoteRecordChange<Record: RemoteRecord>: Sendable {
  /// The record was inserted.
  case insert(Record)
  /// The record was updated.
  case update(Record)
  /// The record with this identifier was deleted.
  case delete(RemoteRecordID)

  /// The identifier of the record.
  public var id: RemoteRecordID {
    switch self {
    case .insert(let record), .update(let record): record.id
    case .delete(let id): id
    }
  }
}

extension RemoteRecordChange: Equatable where Record: Equatable {}

/// An error that a server reports.
public enum RemoteError: Error, Equatable, Sendable {
  /// The server will never accept these records.
  case permanent([RemoteRecordID])
  /// The request can be repeated: the network or the server is unavailable, or the answer was lost.
  case temporary
}

/// Everything that synchronizing moods requires of a server.
///
/// Completions may be called on any queue, immediately or later. A request that fails or times out
/// calls its completion with `.temporary`, even if the server may have executed it; the server
/// recognizes a repeated upload or removal by the records' identifiers. See chapter 9 of *Core
/// Data* by Florian Kugler and Daniel Eggert (objc.io).
public protocol MoodyRemote: Sendable {
  /// Calls a closure each time that the server has new changes.
  func setupMoodSubscription(_ changed: @escaping @Sendable () -> Void)

  /// Fetches the latest moods, for a device that has none.
  func fetchLatestMoods(
    completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void)

  /// Fetches what has changed since the last fetch whose changes were saved.
  ///
  /// - Parameter completion: A closure that receives the changes, in the order in which they
  ///   occurred; an error; and a callback, to be called with `true` once the changes are saved.
  ///   Otherwise, the next fetch returns them again.
  func fetchNewMoods(
    completion:
      @escaping @Sendable (
        [RemoteRecordChange<RemoteMood>], RemoteError?, @escaping @Sendable (Bool) -> Void
      ) -> Void)

  /// Uploads moods.
  ///
  /// - Parameter completion: A closure that receives the moods that the server now has, and an
  ///   error that concerns the others.
  func upload(
    _ moods: [RemoteMood], completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void)

  /// Deletes moods.
  ///
  /// - Parameter completion: A closure that receives the identifiers of the moods that the server
  ///   no longer has, and an error that concerns the others.
  func removeMoods(
    _ ids: [RemoteRecordID],
    completion: @escaping @Sendable ([RemoteRecordID], RemoteError?) -> Void)
}
