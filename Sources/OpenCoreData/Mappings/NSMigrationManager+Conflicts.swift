import ManagedModel

extension NSMigrationManager {
  /// Reports the new destination instances that violate uniqueness constraints.
  ///
  /// If `failed` throws no error, they lose the values that others have, so that the next save
  /// doesn't find these conflicts.
  /// - Parameter error: The error of a save.
  /// - Throws: 134111, unless `failed` throws none and there are such instances.
  final func fail(for error: NSError) throws {
    let conflicts =
      error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
    var reported: [[String]: Set<ObjectIdentifier>] = [:]
    for conflict in conflicts {
      let objects = conflict.conflictingObjects
      for object in conflict.databaseObject == nil ? objects.dropFirst() : objects[...] {
        let positions = conflict.constraint.compactMap { object.layout.position(of: $0) }
        guard object.isInserted, !positions.isEmpty,
          reported[conflict.constraint, default: []].insert(ObjectIdentifier(object)).inserted
        else { continue }
        try failed(violation(error, conflict.constraint, object))
        for position in positions { object.write(nil, to: position) }
      }
    }
    if reported.isEmpty { throw violation(error, [], nil) }
  }

  private func violation(
    _ error: NSError, _ constraint: [String], _ object: NSManagedObject?
  ) -> NSError {
    var info: [String: Any] = [
      NSUnderlyingErrorKey: error, "reason": error.localizedDescription,
    ]
    if let object {
      info["entity"] = object.entity.name ?? ""
      info["property"] = constraint.joined(separator: ", ")
    }
    return NSError.coreData(
      NSMigrationConstraintViolationError,
      "The migrated instances violate a uniqueness constraint. \(error.localizedDescription)", info)
  }
}
