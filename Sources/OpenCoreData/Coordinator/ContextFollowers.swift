import Synchronization

/// The contexts that merge by themselves what a coordinator or a parent context gets to save.
///
/// Not held. Any thread may use it.
final class ContextFollowers: Sendable {
  private struct Follower {
    weak var context: NSManagedObjectContext?
  }

  private let followers = Mutex<[Follower]>([])

  var contexts: [NSManagedObjectContext] {
    followers.withLock { $0.compactMap(\.context) }
  }

  func add(_ context: NSManagedObjectContext) {
    followers.withLock { followers in
      followers.removeAll { $0.context == nil }
      followers.append(Follower(context: context))
    }
  }

  func remove(_ context: NSManagedObjectContext) {
    followers.withLock { $0.removeAll { $0.context == nil || $0.context === context } }
  }
}
