import ManagedModel

extension NSManagedObject {
  /// Returns the destination of a to-one of a realized object, as a fault if it isn't registered
  /// yet.
  ///
  /// No statements: the key is in the row.
  final func destination(_ slot: RowSlot) -> NSManagedObject? {
    if let values {
      switch values[slot.index] {
      case .object(let object): return object
      case .null: return nil
      default: break
      }
    }
    guard let object = destination(of: row, slot) else { return nil }
    keep(.object(object), at: slot.index)
    return object
  }

  /// Returns the destination of a to-one in a row of this object.
  final func destination(of row: Row, _ slot: RowSlot) -> NSManagedObject? {
    guard let context, !row.isNull(slot) else { return nil }
    let entityNumber = slot.kind == .toOnePolymorphic ? row.entityNumber(slot) : 0
    return context.object(
      primaryKey: row.int64(slot), of: slot.relationship, entityNumber: entityNumber,
      owner: layout)
  }

  /// Returns the destinations of a to-many of a realized object; fires the relationship if it's a
  /// fault.
  final func destinations(
    _ relationship: NSRelationshipDescription, at index: Int
  ) -> Set<NSManagedObject> {
    let value = toManyValue(at: index)
    if let objects = value.objects, !value.isOutdated { return objects }
    guard let context else { return [] }
    context.fireRelationship(relationship, of: self, into: value)
    return value.objects ?? []
  }

  /// Returns the state of a to-many relationship, which is created when it's first needed.
  final func toManyValue(at index: Int) -> ToManyValue {
    if case .toMany(let value)? = values?[index] { return value }
    // A transient relationship is in no store, so there's nothing to fire.
    let isTransient = layout.toMany[index - layout.slots.count].isTransient
    let value = ToManyValue(
      isNew: isInserted || context == nil || isTransient,
      isOrdered: layout.toMany[index - layout.slots.count].isOrdered)
    storage.keep(.toMany(value), at: index)
    return value
  }

  /// Sets the destination of a to-one and updates the inverses.
  final func setDestination(_ new: NSManagedObject?, _ slot: RowSlot) {
    let old = destination(slot)
    noteChange()
    storeDestination(new, slot)
    guard old !== new, propagates else { return }
    if let old { removeInverse(of: slot.relationship, on: old) }
    if let new { addInverse(of: slot.relationship, on: new) }
  }

  /// Replaces the destinations of a to-many and updates the inverses.
  final func setDestinations(
    _ new: [NSManagedObject], _ relationship: NSRelationshipDescription
  ) {
    noteChange()
    let (removed, added) = storeDestinations(new, relationship)
    guard propagates else { return }
    for object in removed { removeInverse(of: relationship, on: object) }
    for object in added { addInverse(of: relationship, on: object) }
  }

  /// Replaces the destinations of a to-many on this side only.
  @discardableResult
  final func storeDestinations(
    _ new: [NSManagedObject], _ relationship: NSRelationshipDescription
  ) -> (removed: Set<NSManagedObject>, added: Set<NSManagedObject>) {
    let index = layout.valueIndex(position(of: relationship.name))
    let old = destinations(relationship, at: index)
    let value = toManyValue(at: index)
    let set = Set(new)
    let (removed, added) = (old.subtracting(set), set.subtracting(old))
    value.remove(all: removed)
    for object in new where added.contains(object) { value.insert(object) }
    value.order(as: new)
    return (removed, added)
  }

  /// Whether setting a relationship updates its inverse: not while `awakeFromFetch` runs.
  final var propagates: Bool {
    !state.contains(.awaking) || state.contains(.inserted)
  }

  /// Adds a destination to a to-many, at an index or at the end, and updates the inverse; a
  /// destination known to be present keeps its position.
  ///
  /// Fires only what `changeable` reads.
  final func addDestination(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription, at index: Int? = nil
  ) {
    willAccess()
    let value = changeable(relationship, at: position(of: relationship.name), adding: object)
    let isThere = value.objects?.contains(object) ?? inverseRefersHere(of: relationship, on: object)
    guard isThere != true else { return }
    noteChange()
    value.insert(object, at: index)
    if propagates { addInverse(of: relationship, on: object) }
    if state.contains(.reportsChanges) { didChangeValue(forKey: relationship.name) }
  }

  /// Removes a destination from a to-many and updates the inverse; does nothing if it's known not
  /// to be present, from this side or from a to-one inverse.
  ///
  /// Fires only what `changeable` reads.
  final func removeDestination(
    _ object: NSManagedObject, _ relationship: NSRelationshipDescription
  ) {
    willAccess()
    let value = changeable(relationship, at: position(of: relationship.name), removing: object)
    let isThere = value.objects?.contains(object) ?? inverseRefersHere(of: relationship, on: object)
    guard isThere != false else { return }
    noteChange()
    value.remove(object)
    if propagates { removeInverse(of: relationship, on: object) }
    if state.contains(.reportsChanges) { didChangeValue(forKey: relationship.name) }
  }

  /// Adds a destination to the to-many with a name, unless it's present.
  ///
  /// Fires the relationship only if it's ordered or the inverse doesn't show whether the object is
  /// present. It's a programmer error to pass an object that can't be a destination.
  final func addDestination(_ object: NSManagedObject, forKey key: String) {
    let (relationship, isThere) = membership(of: object, forKey: key)
    if isThere { noteChange() } else { addDestination(object, relationship) }
  }

  /// Removes a destination from the to-many with a name, if it's present.
  ///
  /// Faults and programmer errors are those of adding.
  final func removeDestination(_ object: NSManagedObject, forKey key: String) {
    let (relationship, isThere) = membership(of: object, forKey: key)
    if isThere { removeDestination(object, relationship) } else { noteChange() }
  }

  private func membership(
    of object: NSManagedObject, forKey key: String
  ) -> (NSRelationshipDescription, isThere: Bool) {
    guard case .toMany(let number) = position(of: key) else {
      fatalError("'\(key)' of '\(layout.entityName)' isn't a to-many relationship")
    }
    let relationship = layout.toMany[number]
    let index = layout.valueIndex(.toMany(number))
    check(object, relationship)
    willAccess()
    if toManyValue(at: index).objects == nil,
      let isThere = inverseRefersHere(of: relationship, on: object)
    {
      return (relationship, isThere)
    }
    return (relationship, destinations(relationship, at: index).contains(object))
  }

  /// Returns whether the to-one inverse of `relationship` on `object` refers to this object; `nil`
  /// if the inverse isn't a to-one.
  private func inverseRefersHere(
    of relationship: NSRelationshipDescription, on object: NSManagedObject
  ) -> Bool? {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      case .slot(let slot) = object.position(of: inverse.name)
    else { return nil }
    object.willAccess()
    return object.destination(object.layout.slots[slot]) === self
  }

  /// Updates the inverse of `relationship` on `object` to refer to this object.
  final func addInverse(of relationship: NSRelationshipDescription, on object: NSManagedObject) {
    guard let inverse = relationship.inverseRelationship else { return }
    object.willAccess()
    object.noteChange()
    let position = object.position(of: inverse.name)
    switch position {
    case .toMany:
      object.changeable(inverse, at: position)
        .insert(self, isStored: wasStored(object, in: relationship, inverse, isAdded: true))
    case .slot(let index):
      let slot = object.layout.slots[index]
      if let previous = object.destination(slot), previous !== self {
        previous.dropDestination(
          object, of: relationship, isStored: object.refersInStore(to: previous, slot))
      }
      object.storeDestination(self, slot)
    case .transient, .composite:
      break
    }
  }

  /// Updates the inverse of `relationship` on `object` to no longer refer to this object.
  final func removeInverse(of relationship: NSRelationshipDescription, on object: NSManagedObject) {
    guard let inverse = relationship.inverseRelationship else { return }
    object.willAccess()
    object.dropDestination(
      self, of: inverse, isStored: wasStored(object, in: relationship, inverse, isAdded: false))
  }

  /// Returns whether the store contains an object that was just added to, or removed from, a
  /// relationship of this object; `nil` if it can't be determined from either side.
  ///
  /// If one side is a to-one, its snapshot decides: that side is what a save writes. The sides of a
  /// many-to-many may have been read at different times: a change that this side records is also a
  /// change for the other side, because only one of them writes the join rows.
  private func wasStored(
    _ object: NSManagedObject, in relationship: NSRelationshipDescription,
    _ inverse: NSRelationshipDescription, isAdded: Bool
  ) -> Bool? {
    let position = position(of: relationship.name)
    switch position {
    case .toMany:
      guard case .toMany(let number) = object.position(of: inverse.name) else { return nil }
      let other = object.toManyValue(at: object.layout.valueIndex(.toMany(number)))
      let known = other.isCommitted(self)
      let value = toManyValue(at: layout.valueIndex(position))
      return isAdded
        ? !value.added.contains(object) && known ?? true
        : value.removed.contains(object) || known ?? false
    case .slot(let index):
      return refersInStore(to: object, layout.slots[index])
    case .transient, .composite:
      return nil
    }
  }

  /// Returns whether a to-one referred to an object when this one was last read or saved.
  final func refersInStore(to object: NSManagedObject, _ slot: RowSlot) -> Bool {
    guard !isInserted, !row.isNull(slot) else { return false }
    let key = row.int64(slot)
    return key == object.primaryKey
      || object.context?.twin(rootIndex: object.layout.rootIndex, key: key) === object
  }

  /// Removes a destination on this side only.
  ///
  /// - Parameter isStored: Whether the store contains the destination, if it's known from the other
  ///   side.
  final func dropDestination(
    _ object: NSManagedObject, of relationship: NSRelationshipDescription, isStored: Bool? = nil
  ) {
    willAccess()
    noteChange()
    let position = position(of: relationship.name)
    switch position {
    case .toMany:
      changeable(relationship, at: position).remove(object, isStored: isStored)
    case .slot(let index):
      if destination(layout.slots[index]) === object { storeDestination(nil, layout.slots[index]) }
    case .transient, .composite:
      break
    }
  }

  /// Returns the state of a to-many that's about to change.
  ///
  /// An ordered one is read first, and so is a fault for a many-to-many relationship to which the
  /// object was added before it's removed, or vice versa: only the store determines what remains of
  /// both changes.
  final func changeable(
    _ relationship: NSRelationshipDescription, at position: PropertyPosition,
    adding new: NSManagedObject? = nil, removing old: NSManagedObject? = nil
  ) -> ToManyValue {
    let index = layout.valueIndex(position)
    let value = toManyValue(at: index)
    let isReversed =
      new.map(value.removed.contains) ?? false || old.map(value.added.contains) ?? false
    if relationship.isOrdered || isReversed && relationship.inverseRelationship?.isToMany != false {
      _ = destinations(relationship, at: index)
    }
    return value
  }

  final func storeDestination(_ object: NSManagedObject?, _ slot: RowSlot) {
    change(object.map { .object($0) } ?? .null, at: slot.index)
  }

  /// Returns a to-one's new destination; it's a programmer error to pass an object that can't be
  /// one.
  final func checkedDestination(
    _ value: Any?, _ relationship: NSRelationshipDescription
  ) -> NSManagedObject? {
    guard let value, !(value is NSNull) else { return nil }
    guard let object = value as? NSManagedObject else {
      fatalError("'\(relationship.name)' takes an object, not \(type(of: value))")
    }
    check(object, relationship)
    return object
  }

  /// Returns a to-many's new destinations, each once, in the given order; it's a programmer error
  /// to pass objects that can't be destinations.
  final func checkedDestinations(
    _ value: Any?, _ relationship: NSRelationshipDescription
  ) -> [NSManagedObject] {
    guard let value, !(value is NSNull) else { return [] }
    let objects: [NSManagedObject]
    // Foundation converts a proxy, or any other subclass of `NSSet`, to an empty Swift set.
    let collection = type(of: value) is AnyClass ? (value as? NSSet)?.allObjects ?? value : value
    switch collection {
    case let set as Set<NSManagedObject>: objects = Array(set)
    case let array as [NSManagedObject]: objects = array
    case let list as NSOrderedSet: objects = list.array.compactMap { $0 as? NSManagedObject }
    default:
      fatalError(
        "'\(relationship.name)' takes a set of objects, not \(type(of: value))")
    }
    for object in objects { check(object, relationship) }
    var seen: Set<NSManagedObject> = []
    return objects.filter { seen.insert($0).inserted }
  }

  /// Stops with a fatal error for an object of another context or of an entity that can't
  /// be a destination.
  final func check(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    guard object.context == nil || context == nil || object.context === context else {
      fatalError("'\(relationship.name)' can't refer to an object of another context")
    }
    guard let destination = relationship.destinationEntity else { return }
    guard object.layout.entity.isKind(of: destination) else {
      fatalError(
        "'\(relationship.name)' of '\(layout.entityName)' takes objects of "
          + "'\(destination.name ?? "")', not of '\(object.layout.entityName)'")
    }
  }
}

// Properties whose value is the result of a fetch request.

extension NSManagedObject {
  /// Returns the result of a fetched property's request in its order, fetched when first read and
  /// cached until the object turns into a fault or is refreshed.
  ///
  /// In the predicate, `$FETCH_SOURCE` is this object and `$FETCHED_PROPERTY` the description; both
  /// accept key paths. **Cost:** that of the fetch, then none. After an error it's empty; the error
  /// is printed to stderr and recorded by the context.
  final func fetchedObjects(of property: NSFetchedPropertyDescription) -> [Any] {
    willAccess()
    if let known = values?.fetched?[property.name] { return known }
    guard let context, let request = property.fetchRequest else { return [] }
    request.predicate = request.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": self, "FETCHED_PROPERTY": property,
    ])
    do {
      let found = try context.fetch(request)
      storage.fetched = (values?.fetched ?? [:]).merging([property.name: found]) { $1 }
      return found
    } catch {
      context.noteFailure(error, "'\(property.name)' of \(objectID) couldn't be fetched")
      return []
    }
  }
}
