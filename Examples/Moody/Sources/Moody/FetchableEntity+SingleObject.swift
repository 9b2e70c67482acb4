public import OpenCoreData

extension NSManagedObjectContext {
  private static let singleObjects = "SingleObjects"

  /// Keeps an object at hand under a key; nil gives it up.
  ///
  /// The context holds it from then on. Whoever deletes the object gives it up here as well, else the
  /// deleted object is what `object(forSingleObjectCacheKey:)` goes on to return.
  public func set(_ object: NSManagedObject?, forSingleObjectCacheKey key: String) {
    var objects = userInfo[Self.singleObjects] as? [String: NSManagedObject] ?? [:]
    objects[key] = object
    userInfo[Self.singleObjects] = objects
  }

  /// The object that was kept under a key.
  ///
  /// Cost: none.
  public func object(forSingleObjectCacheKey key: String) -> NSManagedObject? {
    (userInfo[Self.singleObjects] as? [String: NSManagedObject])?[key]
  }
}

extension FetchableEntity {
  /// The one object there is: the one at hand, else fetched and kept.
  ///
  /// Traps when more than one matches. Cost: one SELECT the first time, then nothing; one SELECT each
  /// time while there is none.
  /// - Throws: as `fetch`.
  public static func fetchSingleObject(
    in context: NSManagedObjectContext, cacheKey: String,
    configure: (NSFetchRequest<Self>) -> Void
  ) throws -> Self? {
    if let object = context.object(forSingleObjectCacheKey: cacheKey) as? Self { return object }
    let found = try fetch(in: context) { request in
      configure(request)
      request.fetchLimit = 2
    }
    precondition(found.count <= 1, "'\(cacheKey)' stands for one object, but several match")
    if let object = found.first { context.set(object, forSingleObjectCacheKey: cacheKey) }
    return found.first
  }
}
