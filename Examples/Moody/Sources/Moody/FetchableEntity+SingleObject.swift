public import OpenCoreData

extension NSManagedObjectContext {
  private static let singleObjects = "SingleObjects"

  /// Stores an object under a key in the context, or removes it if the object is `nil`.
  ///
  /// The context keeps a strong reference to the object. If you delete the object, also remove it
  /// here; otherwise, `object(forSingleObjectCacheKey:)` continues to return the deleted object.
  public func set(_ object: NSManagedObject?, forSingleObjectCacheKey key: String) {
    var objects = userInfo[Self.singleObjects] as? [String: NSManagedObject] ?? [:]
    objects[key] = object
    userInfo[Self.singleObjects] = objects
  }

  /// Returns the object that is stored under a key.
  ///
  /// **Cost**: none.
  public func object(forSingleObjectCacheKey key: String) -> NSManagedObject? {
    (userInfo[Self.singleObjects] as? [String: NSManagedObject])?[key]
  }
}

extension FetchableEntity {
  /// Returns the only object that matches: the stored one or, if there is none, a fetched one,
  /// which is stored.
  ///
  /// It's a programmer error if several objects match.
  ///
  /// **Cost**: one SELECT the first time, and none later; one SELECT each time while no object
  /// matches.
  ///
  /// - Throws: The error of the fetch.
  public static func fetchSingleObject(
    in context: NSManagedObjectContext, cacheKey: String,
    configure: (NSFetchRequest<Self>) -> Void
  ) throws -> Self? {
    if let object = context.object(forSingleObjectCacheKey: cacheKey) as? Self { return object }
    let found = try fetch(in: context) { request in
      configure(request)
      request.fetchLimit = 2
    }
    precondition(found.count <= 1, "'\(cacheKey)' identifies one object, but several match")
    if let object = found.first { context.set(object, forSingleObjectCacheKey: cacheKey) }
    return found.first
  }
}
