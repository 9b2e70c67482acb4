import MoodySync
import OpenCoreData

/// An in-memory server whose requests are idempotent: it recognizes uploads and removals by the
/// records' identifiers, and remembers removed ones.
struct ChaosServer {
  private(set) var records: [RemoteRecordID: RemoteMood] = [:]
  private var removed: Set<RemoteRecordID> = []
  private var log: [RemoteRecordID] = []
  /// Whether removals have no effect, although they're answered: a deliberate defect that the
  /// tests must detect.
  var losesRemovals = false

  /// The longitude of moods that the server rejects.
  static let rejectedLongitude = 666.0

  /// The number of changes so far, which is the token of the latest one.
  var token: Int { log.count }

  /// Stores moods; returns those that it has, and those that it rejects.
  mutating func upload(
    _ moods: [RemoteMood], by user: String
  ) -> (stored: [RemoteMood], rejected: [RemoteRecordID]) {
    var (stored, rejected): ([RemoteMood], [RemoteRecordID]) = ([], [])
    for var mood in moods {
      if let record = records[mood.id] {
        stored.append(record)
      } else if removed.contains(mood.id) || mood.longitude == Self.rejectedLongitude {
        rejected.append(mood.id)
      } else {
        mood.creatorID = user
        records[mood.id] = mood
        log.append(mood.id)
        stored.append(mood)
      }
    }
    return (stored, rejected)
  }

  /// Removes moods, including those that it doesn't have yet.
  mutating func remove(_ ids: [RemoteRecordID]) {
    for id in ids where !losesRemovals && removed.insert(id).inserted {
      records[id] = nil
      log.append(id)
    }
  }

  /// Returns at most a number of changes after a token, and the token of the last one.
  func changes(
    after token: Int, limit: Int
  ) -> (changes: [RemoteRecordChange<RemoteMood>], token: Int) {
    let ids = log.dropFirst(token).prefix(limit)
    return (ids.map { id in records[id].map { .insert($0) } ?? .delete(id) }, token + ids.count)
  }
}
