import ManagedModel

extension NSEntityDescription {
  /// The entity of that name in the context's model; nil when there is none.
  public static func entity(
    forEntityName entityName: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    context.entityNamed(entityName)
  }

  /// Inserts a new object of the entity of that name.
  ///
  /// Traps when the model has no such entity. No statement.
  public static func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      preconditionFailure("the model has no entity '\(entityName)'")
    }
    return EntityLayout.of(entity).objectClass.init(entity: entity, insertInto: context)
  }
}
