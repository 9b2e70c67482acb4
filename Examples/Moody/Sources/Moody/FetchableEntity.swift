public import OpenCoreData

/// A managed object class that knows its entity, so that fetching it is one line.
///
/// The book calls this protocol `Managed`; here that is the property wrapper's name.
public protocol FetchableEntity: NSManagedObject {
  /// The name of the entity in the model.
  static var entityName: String { get }
  /// The order a list shows the objects in.
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension FetchableEntity {
  /// No order.
  public static var defaultSortDescriptors: [NSSortDescriptor] { [] }

  /// A request for all objects in the default order.
  public static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    return request
  }

  /// Fetches with a request that the caller has adjusted.
  ///
  /// Cost: that request's.
  public static func fetch(
    in context: NSManagedObjectContext,
    configurationBlock: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> [Self] {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configurationBlock(request)
    return try context.fetch(request)
  }

  /// Counts with a request that the caller has adjusted.
  ///
  /// Cost: one `SELECT COUNT`.
  public static func count(
    in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> Int {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configure(request)
    return try context.count(for: request)
  }

  /// A registered, filled object that matches.
  ///
  /// Fires nothing and runs no statement.
  public static func materializedObject(
    in context: NSManagedObjectContext, matching predicate: NSPredicate
  ) -> Self? {
    for object in context.registeredObjects where !object.isFault {
      if let result = object as? Self, predicate.evaluate(with: result) { return result }
    }
    return nil
  }

  /// The registered or stored object that matches.
  ///
  /// Cost: none, or one SELECT of at most one row.
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

  /// The object that matches, made and configured when there is none.
  ///
  /// Cost: as `findOrFetch`.
  public static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) throws -> Self {
    if let object = try findOrFetch(in: context, matching: predicate) { return object }
    let object = Self(context: context)
    configure(object)
    return object
  }
}
