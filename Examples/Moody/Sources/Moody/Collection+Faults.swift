public import OpenCoreData

extension Collection where Element: NSManagedObject {
  /// Fills the faults among the objects with one fetch.
  ///
  /// Use it before a loop that reads objects whose rows may not be cached: one SELECT instead of one
  /// for each. The fetch fills the very objects of the collection, which are all of one entity and one
  /// context. Cost: one SELECT, or nothing where nothing is a fault.
  /// - Throws: as `fetch`.
  public func fetchFaults() throws {
    guard let context = first?.managedObjectContext else { return }
    let faults = filter(\.isFault)
    guard let entity = faults.first?.entity else { return }
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.returnsObjectsAsFaults = false
    request.predicate = NSPredicate(format: "self IN %@", faults as [NSManagedObject])
    _ = try context.fetch(request)
  }
}
