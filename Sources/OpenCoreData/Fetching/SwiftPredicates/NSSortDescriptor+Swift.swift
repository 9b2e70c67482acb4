import ManagedModel

extension NSSortDescriptor {
  /// Sorts by a Swift key path, such as `\Car.maker` or `\Car.maker?.name`.
  ///
  /// For a managed object class whose model is in use, `key` is the name of the property, or the key
  /// path over up to two to-one relationships. Without a model in use the name is looked up when the
  /// descriptor is used in a fetch. Any other value is sorted in memory, by the key path itself.
  /// Cost: the first time for a key path, some dozens of objects without a context.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: ascending, comparison: .binary)
  }

  /// Sorts as a `SortDescriptor` does, whose key path becomes the key as that of
  /// `init(keyPath:ascending:)`.
  ///
  /// Strings are compared by their bytes, as by the one comparator that Foundation has on Linux. Stops
  /// with a precondition failure for a descriptor without a key path.
  public convenience init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    guard let keyPath = sortDescriptor.keyPath else {
      preconditionFailure("a SortDescriptor without a key path can't become an NSSortDescriptor")
    }
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: sortDescriptor.order == .forward,
      comparison: .binary)
  }

  private static func name<Root>(of keyPath: PartialKeyPath<Root>) -> String? {
    guard let type = Root.self as? NSManagedObject.Type else { return nil }
    let entities = ManagedObjectClasses.entities(of: type)
    guard entities.count == 1 else { return nil }
    return try? SwiftKeyNames(entities[0]).name(of: keyPath, in: Root.self)
  }

  /// The descriptor with the name of its Swift key path in an entity; itself if it has a key.
  /// - Throws: 134060 for a key path that is no property of the entity.
  func named(in entity: NSEntityDescription) throws -> NSSortDescriptor {
    guard key == nil, let swiftKeyPath else { return self }
    let owner = type(of: swiftKeyPath).rootType
    return NSSortDescriptor(
      key: try SwiftKeyNames(entity).name(ofAny: swiftKeyPath, in: owner), ascending: ascending,
      selector: comparison)
  }
}
