import OpenCoreData

/// Realized objects and the context that they require.
final class HeldObjects<Object: NSManagedObject> {
  let context: NSManagedObjectContext
  let objects: ContiguousArray<Object>

  /// Fetches a number of moods.
  init(_ context: NSManagedObjectContext, count: Int) throws {
    let request = NSFetchRequest<Object>(entityName: "Mood")
    request.fetchLimit = count
    request.returnsObjectsAsFaults = false
    self.context = context
    objects = ContiguousArray(try context.performAndWait { try context.fetch(request) })
    guard objects.count == count else { throw BenchError("\(objects.count) objects") }
  }
}
