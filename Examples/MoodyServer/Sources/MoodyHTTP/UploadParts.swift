import MoodySync
import OpenCoreData

/// Moods divided into requests that the server's limits allow.
struct UploadParts {
  /// The moods of each request.
  private(set) var parts: [[RemoteMood]] = []
  /// The identifiers of moods that no request can contain, because they're too large or have values
  /// that JSON doesn't have.
  private(set) var rejected: [RemoteRecordID] = []

  /// The bytes of a request without the user.
  private static let room = RequestLimits.bytes - 1_000

  /// Divides moods, which stay in their order.
  ///
  /// **Cost**: encoding each mood.
  init(_ moods: [RemoteMood]) {
    let encoder = JSONEncoder()
    var free = 0
    for mood in moods {
      // A comma follows.
      guard let size = try? encoder.encode(mood).count + 1, size <= Self.room else {
        rejected.append(mood.id)
        continue
      }
      if size > free || parts.last?.count == RequestLimits.moods {
        parts.append([])
        free = Self.room
      }
      parts[parts.count - 1].append(mood)
      free -= size
    }
  }
}
