import OpenCoreData

/// A named result, held strongly until it is dropped.
struct HeldResult {
  /// What is held.
  enum Content {
    case objects([NSManagedObject])
    case batched(BatchedFetchResult<NSManagedObject>)
    case ids([NSManagedObjectID])
  }

  var content: Content
  /// The entity that was fetched or inserted.
  var entity: String
  /// The fetch that brought it; nil for inserted objects.
  var fetch: FetchText?

  var shape: HeldShape {
    if case .ids = content { return HeldShape(entity: entity, kind: .ids) }
    return HeldShape(entity: entity)
  }

  var count: Int {
    switch content {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .ids(let ids): ids.count
    }
  }

  /// Hands each object of a range to a body, in order, and holds none of them longer.
  ///
  /// Cost: of a batched result, one SELECT for each page that is not held.
  func forEach(in range: Range<Int>, _ body: (NSManagedObject) throws -> Void) rethrows {
    switch content {
    case .objects(let objects):
      for index in range { try body(objects[index]) }
    case .batched(let objects):
      for index in range { try body(objects[index]) }
    case .ids: break
    }
  }

  /// One object, counted round and round; nil when there is none.
  func object(cycling index: Int) -> NSManagedObject? {
    guard count > 0 else { return nil }
    switch content {
    case .objects(let objects): return objects[index % objects.count]
    case .batched(let objects): return objects[index % objects.count]
    case .ids: return nil
    }
  }
}
