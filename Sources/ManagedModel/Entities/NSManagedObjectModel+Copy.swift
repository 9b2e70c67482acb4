extension NSManagedObjectModel: NSCopying {
  /// Makes a copy of the model with its own entities, properties and indexes.
  ///
  /// The copy may be changed, also when the model is in use. `copy()` gives the same. Takes time in
  /// proportion to the model.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: An `NSManagedObjectModel`.
  public func copy(with zone: NSZone? = nil) -> Any {
    ModelCopier().copy([self])
  }
}
