/// An object that lists rows without keeping their objects registered, such as fetched results with
/// a batch size.
protocol RowFollower: AnyObject {
  /// Returns whether a row is listed, and its changes are to be reported.
  func lists(_ identity: FetchedIdentity) -> Bool
}

/// A reference to a follower that doesn't retain it.
struct WeakRowFollower {
  weak var follower: (any RowFollower)?
}

extension NSManagedObjectContext {
  /// Adds a follower, which isn't retained.
  final func addFollower(_ follower: any RowFollower) {
    followers.removeAll { $0.follower == nil }
    followers.append(WeakRowFollower(follower: follower))
  }

  /// Registers the updated and deleted rows that a follower lists, as faults.
  ///
  /// Otherwise, a merge would ignore those that aren't registered.
  /// - Returns: Their objects, to be retained until they are merged.
  final func registerFollowed(_ saved: MergedChanges) -> [NSManagedObject] {
    let present = followers.compactMap { $0.follower }
    guard !present.isEmpty else { return [] }
    let listed = (saved.updated + saved.deleted).filter { identity in
      identity.primaryKey > 0 && present.contains { $0.lists(identity) }
    }
    return listed.map { registered($0.layout, $0.primaryKey) }
  }
}
