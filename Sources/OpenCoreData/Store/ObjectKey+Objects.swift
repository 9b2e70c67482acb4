import ManagedModel

extension ObjectKey {
  /// The key of a managed object or an object ID; nil for any other value.
  init?(of value: Any) {
    switch value {
    case let object as NSManagedObject:
      self.init(object.primaryKey, object.layout)
    case let objectID as NSManagedObjectID:
      self.init(objectID.primaryKey, objectID.layout)
    default:
      return nil
    }
  }

  private init(_ key: Int64, _ layout: EntityLayout) {
    self.init(primaryKey: key > 0 ? key : nil, entityName: layout.entity.name)
  }
}
