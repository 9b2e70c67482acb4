import ManagedModel

extension NSManagedObject {
  /// Validates a value for the property at the end of a key path, as in `country.name`: calls
  /// `validateValue(_:forKey:)` of the object that has it.
  ///
  /// If a relationship along the path is `nil`, every value is valid. It's a programmer error to
  /// pass a path along a to-many relationship. **Cost:** that of each property along the path.
  /// - Throws: The errors of `validateValue(_:forKey:)`.
  public final func validateValue(_ value: inout Any?, forKeyPath keyPath: String) throws {
    guard let end = end(of: keyPath) else { return }
    try end.owner.validateValue(&value, forKey: end.key)
  }

  /// Validates each property; several failures are thrown as one error 1560.
  ///
  /// A value that an override of `validateValue` corrected is set. A to-many is checked only if
  /// it's new or changed. A transient property has its default value, or none, in an object that
  /// was read from the store, unless the class sets or computes it. A fault fires.
  /// - Throws: Also the error of the read, if a fault can't be fulfilled.
  final func validateProperties() throws {
    // The values of a fault that retains the newest row are validated without firing it.
    if isFault, !hasCachedRow { try fulfill() }
    // A custom class may have validation rules for any key.
    let hasOverrides = MethodOverrides.ofValidation.mayExist(in: type(of: self))
    let layout = layout
    var failures: [NSError] = []
    let isPlain = !hasOverrides && !layout.hasTransformers
    for slot in layout.slots where !isPlain || !layout.rules.isTriviallyValid(slot, of: self) {
      if let failure = validate(.slot(slot.index), layout.slotNames[slot.index], hasOverrides) {
        failures.append(failure)
      }
    }
    guard hasOverrides || !layout.rules.areLimitedToSlots else {
      return try NSError.throwValidation(failures)
    }
    for (index, composite) in layout.composites.enumerated()
    where hasOverrides || layout.rules.hasRule(at: .composite(index)) {
      if let failure = validate(.composite(index), composite.name, hasOverrides) {
        failures.append(failure)
      }
    }
    for (index, property) in layout.transients.enumerated()
    where isToBeValidated(transient: index, hasOverrides) {
      if let failure = validate(.transient(index), property.name, hasOverrides) {
        failures.append(failure)
      }
    }
    for (index, relationship) in layout.toMany.enumerated()
    where isToBeValidated(toMany: index, hasOverrides) {
      if let failure = validate(.toMany(index), relationship.name, hasOverrides) {
        failures.append(failure)
      }
    }
    try NSError.throwValidation(failures)
  }

  /// Fires a fault.
  ///
  /// - Throws: The error of the SELECT, if its row can't be read.
  final func fulfill() throws {
    guard isFault, let context else { return }
    let earlierError = context.faultFailures.last
    context.faultFailures.last = nil
    willAccess()
    if isFault, let error = context.faultFailures.last { throw error }
    context.faultFailures.last = earlierError
  }

  private func validate(
    _ position: PropertyPosition, _ key: String, _ hasOverrides: Bool
  ) -> NSError? {
    if case .slot(let index) = position, values?.isChanged(index) == true,
      layout.slots[index].kind.isExact
    {
      return validate(layout.slots[index], key, hasOverrides)
    }
    let present: Any?
    if case .transient = position {
      // The class's own accessor may compute it.
      present = hasOverrides ? self.value(forKey: key) : storedValue(forKey: key)
    } else {
      present = hasOverrides ? keyedValue(position) : read(position)
    }
    var value = present
    do {
      try validateValue(&value, forKey: key)
    } catch {
      return error as NSError
    }
    if let failure = transformationFailure(position, key) { return failure }
    // `NSManagedObject`'s own rules replace no value.
    guard hasOverrides else { return nil }
    if !isEqual(value, present, at: position) { write(value is NSNull ? nil : value, to: position) }
    return nil
  }

  /// Validates a value that was set, comparing it in its stored form.
  private func validate(_ slot: RowSlot, _ key: String, _ hasOverrides: Bool) -> NSError? {
    let raw = rawValue(slot)
    var value = raw.value(slot.kind)
    if hasOverrides { value = KeyedValue.boxed(value, slot.kind) }
    do {
      try validateValue(&value, forKey: key)
    } catch {
      return error as NSError
    }
    if hasOverrides, RowValue(value, kind: slot.kind) != raw {
      write(value is NSNull ? nil : value, to: .slot(slot.index))
    }
    return nil
  }

  /// The errors for values that their transformers can't encode.
  final var transformationFailures: [NSError] {
    layout.slots.compactMap { transformationFailure(.slot($0.index), layout.slotNames[$0.index]) }
  }

  /// Returns the error for a value that its transformer can't encode: it would be saved as `nil`.
  private func transformationFailure(_ position: PropertyPosition, _ key: String) -> NSError? {
    guard layout.hasTransformers, case .slot(let index) = position, let values,
      case .transformed(let value) = values[index], values.isChanged(index),
      value.rawValue == .null
    else { return nil }
    return NSError.validation(
      NSManagedObjectValidationError, object: self, key: key, value: value.value,
      message: "The value transformer of \(key) can't convert a value of type "
        + "\(type(of: value.value)) to data.")
  }

  /// Returns whether a transient property is validated; a migration saves rows, which have none.
  private func isToBeValidated(transient index: Int, _ hasOverrides: Bool) -> Bool {
    (hasOverrides || layout.rules.hasRule(at: .transient(index)))
      && context?.validatesOnSave != false
  }

  /// Reads from the store only what a rule of the model must count.
  private func isToBeValidated(toMany index: Int, _ hasOverrides: Bool) -> Bool {
    let hasRule = layout.rules.hasRule(at: .toMany(index))
    guard case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))] else {
      return isInserted && hasRule
    }
    return (isInserted || value.hasChanges) && (hasRule || hasOverrides && value.objects != nil)
  }

  /// Returns whether replacing the old value with the new one would change nothing.
  private func isEqual(_ new: Any?, _ old: Any?, at position: PropertyPosition) -> Bool {
    switch position {
    case .slot(let index) where layout.slots[index].kind.isToOne:
      return new as? NSManagedObject === old as? NSManagedObject
    case .slot(let index):
      let slot = layout.slots[index]
      if layout.transformer(slot) != nil { return AttributeTransformer.areEqual(new, old) }
      return RowValue(new, kind: slot.kind) == RowValue(old, kind: slot.kind)
    case .composite(let index):
      return zip(leaves(of: index, for: new), leaves(of: index, for: old)).allSatisfy { new, old in
        isEqual(new.value, old.value, at: .slot(new.slot.index))
      }
    case .toMany, .transient:
      return AttributeTransformer.areEqual(new, old)
    }
  }

  /// Throws error 1600 for each relationship with a deny rule that still has destinations.
  ///
  /// Destinations that are deleted in the same save don't count.
  /// - Throws: Also the error of the read, if a relationship can't be read.
  final func validateDenyRules() throws {
    var failures: [NSError] = []
    for relationship in layout.entity.relationshipsByName.values
    where relationship.deleteRule == .denyDeleteRule {
      let remaining = try readableObjects(relationship).filter { !$0.isDeleted }
      if !remaining.isEmpty {
        failures.append(
          NSError.validation(
            NSValidationRelationshipDeniedDeleteError, object: self, key: relationship.name,
            value: nil,
            message: "Items cannot be deleted from \(relationship.name): "
              + "it still refers to \(PluralForm.counted(remaining.count, "object"))."))
      }
    }
    try NSError.throwValidation(failures)
  }

  /// Returns the destinations of a relationship.
  ///
  /// - Throws: The error of the read, if they can't be read.
  private func readableObjects(
    _ relationship: NSRelationshipDescription
  ) throws -> [NSManagedObject] {
    let earlierError = context?.faultFailures.last
    context?.faultFailures.last = nil
    let objects = relatedObjects(relationship)
    if let error = context?.faultFailures.last { throw error }
    context?.faultFailures.last = earlierError
    return objects
  }

  /// Reads the changed ordered relationships that are outdated after a refresh, a merge, or a
  /// conflict, because a save writes their order.
  ///
  /// - Throws: The error of the read, if one can't be read.
  final func readOutdatedLists() throws {
    guard let values else { return }
    for (index, relationship) in layout.toMany.enumerated() where relationship.isOrdered {
      guard case .toMany(let value) = values[layout.valueIndex(.toMany(index))], value.isOutdated
      else { continue }
      _ = try readableObjects(relationship)
    }
  }

  /// Throws error 1550 for each changed relationship that refers to an object without a context:
  /// one that was deleted, or never inserted; and for each changed to-one relationship to an object
  /// that this save deletes, or that lost its row.
  ///
  /// Destinations of a to-many that are deleted in the same save aren't written.
  final func validateReferences() throws {
    guard let values, values.retainsObjects else { return }
    let layout = layout
    var failures: [NSError] = []
    func fail(_ object: NSManagedObject, _ name: String, _ reason: String) {
      failures.append(
        NSError.validation(
          NSManagedObjectValidationError, object: self, key: name, value: object,
          message: "\(name) refers to \(reason)."))
    }
    let unregistered = "an object that isn't registered in a context"
    for slot in layout.slots where slot.kind.isToOne && values.isChanged(slot.index) {
      guard case .object(let object) = values[slot.index] else { continue }
      if object.context == nil {
        fail(object, slot.name, unregistered)
      } else if !object.state.isDisjoint(with: [.deleted, .inaccessible]) {
        fail(object, slot.name, "a deleted object: set it to another object or to nil")
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      guard case .toMany(let value) = values[layout.valueIndex(.toMany(index))] else { continue }
      for object in value.added where object.context == nil {
        fail(object, relationship.name, unregistered)
      }
    }
    try NSError.throwValidation(failures)
  }

  /// Returns the destinations of a to-one or to-many relationship.
  ///
  /// Fires faults.
  final func relatedObjects(_ relationship: NSRelationshipDescription) -> [NSManagedObject] {
    willAccess()
    switch read(position(of: relationship.name)) {
    case let object as NSManagedObject: return [object]
    case let objects as Set<NSManagedObject>:
      return objects.sorted { $0.primaryKey < $1.primaryKey }
    case let objects as NSOrderedSet:
      return objects.array.compactMap { $0 as? NSManagedObject }
    default: return []
    }
  }
}
