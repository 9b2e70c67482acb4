/// What a batch request changed.
struct BatchOutcome {
  let store: SQLiteStore
  var count = 0
  /// The rows, where the request asked for them.
  var identities: [FetchedIdentity] = []

  var objectIDs: [NSManagedObjectID] {
    identities.map {
      NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: store)
    }
  }
}
