import ManagedModel

extension ObjectKey {
  /// The key of a managed object or an object ID; nil for any other value.
  ///
  /// What another store holds has no key: no row equals it.
  /// - Parameter place: Which of its coordinator's stores asks.
  init?(of value: Any, place: Int) {
    switch value {
    case let object as NSManagedObject:
      self.init(object.primaryKey, object.layout, place)
    case let objectID as NSManagedObjectID:
      self.init(objectID.primaryKey, objectID.layout, place)
    default:
      return nil
    }
  }

  private init(_ key: Int64, _ layout: EntityLayout, _ place: Int) {
    self.init(
      primaryKey: key > 0 && layout.place == place ? key : nil, entityName: layout.entity.name)
  }
}
