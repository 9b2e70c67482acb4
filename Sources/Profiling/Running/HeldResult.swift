import OpenCoreData
import ScenarioLanguage

/// A named result, held strongly until it is dropped.
struct HeldResult {
  /// What is held.
  enum Content {
    case objects([NSManagedObject])
    case batched(BatchedFetchResult<NSManagedObject>)
    case ids([NSManagedObjectID])
    case dictionaries([[String: Any]])
    /// A save's did-save notification; nil when there was nothing to save.
    case save(Notification?)
    /// What a batch request did, under the key of its notification.
    case rows(key: String, [NSManagedObjectID])
  }

  var content: Content
  /// The entity that was fetched, inserted or changed; empty for a save.
  var entity: String
  /// The name of the context it belongs to.
  var context: String
  /// The fetch that brought it; nil for what no fetch brought.
  var fetch: FetchText?

  var shape: HeldShape {
    let kind: HeldShape.Kind =
      switch content {
      case .objects, .batched: .objects
      case .ids: .ids
      case .dictionaries: .dictionaries
      case .save: .save
      case .rows: .rows
      }
    return HeldShape(entity: entity, kind: kind, context: context)
  }

  var count: Int {
    switch content {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .ids(let ids), .rows(_, let ids): ids.count
    case .dictionaries(let dictionaries): dictionaries.count
    case .save: 0
    }
  }
}
