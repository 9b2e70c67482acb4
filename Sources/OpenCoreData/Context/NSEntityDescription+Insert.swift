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
  /// Traps when the context has no coordinator, or its model no such entity. No statement.
  public static func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    let model = context.requiredCoordinator.managedObjectModel
    guard let entity = model.entitiesByName[entityName] else {
      preconditionFailure(
        "the model has no entity '\(entityName)'. It has: "
          + model.entitiesByName.keys.sorted().joined(separator: ", "))
    }
    return EntityLayout.of(entity).objectClass.init(entity: entity, insertInto: context)
  }
}
