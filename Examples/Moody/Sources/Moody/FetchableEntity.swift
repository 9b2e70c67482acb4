public import OpenCoreData

/// A managed object class that provides its entity name and default order for fetches.
///
/// The book calls this protocol `Managed`; here, `Managed` is the name of the property wrapper.
public protocol FetchableEntity: NSManagedObject {
  /// The name of the entity in the model.
  static var entityName: String { get }
  /// The order in which a list shows the objects.
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
  /// The objects that a list shows.
  static var defaultPredicate: NSPredicate { get }
}

extension FetchableEntity {
  /// An empty array: no order.
  public static var defaultSortDescriptors: [NSSortDescriptor] { [] }

  /// A predicate that is true for all objects.
  public static var defaultPredicate: NSPredicate { NSPredicate(value: true) }

  /// A fetch request for all objects in the default order.
  public static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    return request
  }

  /// Fetches objects with a request that a closure configures.
  ///
  /// **Cost**: the cost of the request.
  public static func fetch(
    in context: NSManagedObjectContext,
    configurationBlock: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> [Self] {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configurationBlock(request)
    return try context.fetch(request)
  }

  /// Counts objects with a request that a closure configures.
  ///
  /// **Cost**: one `SELECT COUNT`.
  public static func count(
    in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> Int {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configure(request)
    return try context.count(for: request)
  }

  /// Returns a registered, realized object that matches a predicate and isn't deleted.
  ///
  /// **Cost**: none. No fault is fired, and no statement runs.
  public static func materializedObject(
    in context: NSManagedObjectContext, matching predicate: NSPredicate
  ) -> Self? {
    for object in context.registeredObjects where !object.isFault && !object.isDeleted {
      if let result = object as? Self, predicate.evaluate(with: result) { return result }
    }
    return nil
  }

  /// Returns a registered or stored object that matches a predicate.
  ///
  /// **Cost**: none, or one SELECT that returns at most one row.
  public static func findOrFetch(
    in context: NSManagedObjectContext, matching predicate: NSPredicate
  ) throws -> Self? {
    if let object = materializedObject(in: context, matching: predicate) { return object }
    return try fetch(in: context) { request in
      request.predicate = predicate
      request.returnsObjectsAsFaults = false
      request.fetchLimit = 1
    }.first
  }

  /// Returns an object that matches a predicate, or inserts and configures one if none matches.
  ///
  /// **Cost**: see `findOrFetch(in:matching:)`.
  public static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) throws -> Self {
    if let object = try findOrFetch(in: context, matching: predicate) { return object }
    let object = Self(context: context)
    configure(object)
    return object
  }
}
