import OpenCoreData

/// Filled objects together with the context that they need.
final class HeldObjects<Object: NSManagedObject> {
  let context: NSManagedObjectContext
  let objects: ContiguousArray<Object>

  /// Fetches the first moods.
  init(_ context: NSManagedObjectContext, count: Int) throws {
    let request = NSFetchRequest<Object>(entityName: "Mood")
    request.fetchLimit = count
    request.returnsObjectsAsFaults = false
    self.context = context
    objects = ContiguousArray(try context.performAndWait { try context.fetch(request) })
    guard objects.count == count else { throw BenchError("\(objects.count) objects") }
  }
}
