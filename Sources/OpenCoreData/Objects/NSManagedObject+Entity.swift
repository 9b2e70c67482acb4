import ManagedModel

extension NSManagedObject {
  /// The entity whose objects get this class, in the model that was put to use last.
  ///
  /// A model is put to use by its first coordinator. Traps where no such model, or more than one of its
  /// entities, has the class.
  public class func entity() -> NSEntityDescription {
    let found = ManagedObjectClasses.entities(of: self)
    guard let entity = found.first, found.count == 1 else {
      preconditionFailure(
        found.isEmpty
          ? "no model in use has an entity with the class \(self): make a coordinator first"
          : "\(found.count) entities have the class \(self); name one in the request")
    }
    return entity
  }

  /// A request for the objects of this class's entity; see `entity()`.
  ///
  /// Generated classes have one of their own, whose results are of the class.
  @_disfavoredOverload
  public class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity()
    return request
  }
}
