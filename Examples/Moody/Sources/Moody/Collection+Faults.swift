public import OpenCoreData

extension Collection where Element: NSManagedObject {
  /// Fulfills the faults among the objects with one fetch.
  ///
  /// Call this method before a loop that reads objects whose rows may not be in the row cache. It
  /// runs one SELECT instead of one for each object. All objects must have the same entity and
  /// context; the fetch fulfills these objects themselves.
  ///
  /// **Cost**: one SELECT, or none if no object is a fault.
  ///
  /// - Throws: The error of the fetch.
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
