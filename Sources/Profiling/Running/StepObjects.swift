import OpenCoreData

/// The objects that a step works on, as the step's own context knows them.
enum StepObjects {
  case objects([NSManagedObject])
  case batched(BatchedFetchResult<NSManagedObject>)
  /// Objects of another context, or IDs: each is asked of the context by its ID.
  case ids([NSManagedObjectID])

  var count: Int {
    switch self {
    case .objects(let objects): objects.count
    case .batched(let objects): objects.count
    case .ids(let ids): ids.count
    }
  }

  /// One of them.
  ///
  /// Cost: of a batched result, one SELECT when its page is not held; otherwise nothing.
  func object(at index: Int, in context: NSManagedObjectContext) -> NSManagedObject {
    switch self {
    case .objects(let objects): objects[index]
    case .batched(let objects): objects[index]
    case .ids(let ids): context.object(with: ids[index])
    }
  }

  /// Hands objects to a body, in the order of the indexes, and holds none of them longer.
  func forEach(
    at indexes: some Sequence<Int>, in context: NSManagedObjectContext,
    _ body: (NSManagedObject) throws -> Void
  ) rethrows {
    for index in indexes { try body(object(at: index, in: context)) }
  }

  /// One object, counted round and round; nil when there is none.
  func object(cycling index: Int, in context: NSManagedObjectContext) -> NSManagedObject? {
    count > 0 ? object(at: index % count, in: context) : nil
  }
}
