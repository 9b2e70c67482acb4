import ManagedModel

extension NSManagedObject {
  /// Error 1570 for a property that must have a value and has none.
  final func validateMandatory(_ value: Any?, forKey key: String) throws {
    guard value == nil || value is NSNull, case .slot(let index)? = layout.place(of: key) else {
      return
    }
    if !layout.slots[index].isOptional {
      throw NSError.validation(
        NSValidationMissingMandatoryPropertyError, object: self, key: key, value: value,
        message: "\(key) is a required value.")
    }
  }

  /// Validates each property; several failures are thrown as one error 1560.
  final func validateProperties() throws {
    var failures: [NSError] = []
    for slot in layout.slots {
      do {
        try validateValue(read(.slot(slot.index)), forKey: slot.name)
      } catch {
        failures.append(error as NSError)
      }
    }
    try NSError.throwValidation(failures)
  }

  /// Error 1600 for each relationship with a deny rule that still leads to something.
  ///
  /// Destinations that are deleted in the same save do not count.
  final func validateDenyRules() throws {
    var failures: [NSError] = []
    for relationship in layout.entity.relationshipsByName.values
    where relationship.deleteRule == .denyDeleteRule {
      let remaining = relatedObjects(relationship).filter { !$0.isDeleted }
      if !remaining.isEmpty {
        failures.append(
          NSError.validation(
            NSValidationRelationshipDeniedDeleteError, object: self, key: relationship.name,
            value: nil,
            message: "Items cannot be deleted from \(relationship.name): "
              + "it still leads to \(remaining.count) object(s)."))
      }
    }
    try NSError.throwValidation(failures)
  }

  /// Error 1550 for each changed relationship that leads to an object of no context: one that was
  /// deleted, or never inserted.
  final func validateReferences() throws {
    guard values != nil else { return }
    var failures: [NSError] = []
    func check(_ object: NSManagedObject, _ name: String) {
      guard object.context == nil else { return }
      failures.append(
        NSError.validation(
          NSManagedObjectValidationError, object: self, key: name, value: object,
          message: "\(name) leads to an object that is not, or no longer, in a context."))
    }
    for slot in layout.slots where slot.kind.isToOne {
      if case .object(let object)? = values?[slot.index], values?.isChanged(slot.index) == true {
        check(object, slot.name)
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      if case .toMany(let value)? = values?[layout.holdingIndex(.toMany(index))] {
        for object in value.added { check(object, relationship.name) }
      }
    }
    try NSError.throwValidation(failures)
  }

  /// The objects at the other end, whichever kind of relationship it is.
  ///
  /// Fires what is a fault.
  final func relatedObjects(_ relationship: NSRelationshipDescription) -> [NSManagedObject] {
    willAccess()
    switch read(place(of: relationship.name)) {
    case let object as NSManagedObject: return [object]
    case let objects as Set<NSManagedObject>:
      return objects.sorted { $0.primaryKey < $1.primaryKey }
    default: return []
    }
  }
}
