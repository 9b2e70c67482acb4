import ManagedModel

extension NSManagedObject: KeyValueReadable {
  /// The value of a property; firing a fault when the object or a to-many relationship is one.
  ///
  /// Numbers, Booleans, and decimals come as `NSNumber`s, which cast to `Int`, `Int32`, `Double`, `Bool`,
  /// and any other number type that can hold them; other attributes as their Swift type (`Date`,
  /// `String`, `UUID` …), a transformable as its transformer makes it, a composite as a dictionary of its
  /// elements' values, a to-one as the related object, a to-many as `Set<NSManagedObject>`, an ordered
  /// one as `NSOrderedSet`. A property in the class's `keyedAccessors` is read through its accessor.
  /// `objectID` and `entity` are keys too where the entity has no such property, and fire nothing. Any
  /// other key is passed to `value(forUndefinedKey:)`.
  /// Cost: a fault, if the object is one; a to-many's first read one SELECT; a number outside of 0...255
  /// one allocation. On Linux, that takes 0.2 µs and a cast to a Swift number type 0.6 µs; generated
  /// accessors and `@Managed` need neither.
  public final func value(forKey key: String) -> Any? {
    if layout.accessors != nil, let found = accessedValue(key) {
      return found.value.map { KeyedValue.boxed($0) }
    }
    guard let place = layout.place(of: key) else { return ownValue(key) }
    willAccess()
    return keyedValue(place)
  }

  /// The value of a property with numbers as the Swift type of their attribute, for predicates and for
  /// whoever prints values.
  ///
  /// Otherwise the same as `value(forKey:)`. Cost: no allocation for a number.
  package final func storedValue(forKey key: String) -> Any? {
    if layout.accessors != nil, let found = accessedValue(key) { return found.value }
    guard let place = layout.place(of: key) else { return ownValue(key) }
    willAccess()
    return read(place)
  }

  /// What the class's own accessor for a key returns; nil without one.
  private func accessedValue(_ key: String) -> KeyedAccessor.Read? {
    layout.accessors?[key]?.read(self)
  }

  /// A property's value of a filled object as key-value coding returns it.
  final func keyedValue(_ place: PropertyPlace) -> Any? {
    switch place {
    case .slot(let index):
      let slot = layout.slots[index]
      return slot.kind.isToOne ? destination(slot) : KeyedValue.boxed(attribute(slot), slot.kind)
    case .toMany: return read(place)
    case .transient: return read(place).map { KeyedValue.boxed($0) }
    case .composite: return KeyedValue.boxedElements(read(place))
    }
  }

  /// The value at the end of a path of relationships, as in `country.continent.name`.
  ///
  /// A nil on the way is the result; a to-many on the way gives a `Set` of the distinct values of its
  /// objects, an ordered one an `NSOrderedSet`, both without nils; the collection operators work as in
  /// predicates. Cost: that of each property on the way.
  public final func value(forKeyPath keyPath: String) -> Any? {
    var rest = Substring(keyPath)
    var object = self
    while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
      guard object.layout.accessors == nil,
        let place = object.layout.place(of: String(rest[..<dot])), case .slot(let index) = place,
        object.layout.slots[index].kind.isToOne
      else { return KeyedValue.boxedElements(object.resolve(keyPath: String(rest))) }
      object.willAccess()
      guard let next = object.destination(object.layout.slots[index]) else { return nil }
      object = next
      rest = rest[rest.index(after: dot)...]
    }
    if object.layout.accessors == nil, let place = object.layout.place(of: String(rest)) {
      object.willAccess()
      return object.keyedValue(place)
    }
    return KeyedValue.boxedElements(object.resolve(keyPath: String(rest)))
  }

  /// Sets a property and notes the change; a relationship's other side follows at once.
  ///
  /// Numbers of any width are taken for numeric attributes. A property in the class's `keyedAccessors`
  /// is set through its accessor, if that has a setter. An unknown key is passed to
  /// `setValue(_:forUndefinedKey:)`. It's a programmer error to pass a value of the wrong type or an
  /// object of another context. Cost: the object's fault and, for
  /// a relationship, those of the old and the new destination.
  public final func setValue(_ value: Any?, forKey key: String) {
    if let accessor = layout.accessors?[key], accessor.write(self, value) { return }
    guard let place = layout.place(of: key) else { return setValue(value, forUndefinedKey: key) }
    willAccess()
    write(value, to: place)
  }

  /// Whether a relationship is still a fault; asking fires nothing.
  ///
  /// A to-one is one while its destination is. Traps for a key that isn't a relationship.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let place = place(of: key)
    switch place {
    case .toMany(let index):
      if isFault { return true }
      guard case .toMany(let value)? = values?[layout.holdingIndex(.toMany(index))] else {
        return !isInserted
      }
      return value.objects == nil
    case .slot(let index) where layout.slots[index].kind.isToOne:
      return isFault || (read(place) as? NSManagedObject)?.isFault == true
    default:
      preconditionFailure("'\(key)' of '\(layout.entity.name ?? "")' isn't a relationship")
    }
  }

  /// What every object has beside its entity's properties.
  private func ownValue(_ key: String) -> Any? {
    switch key {
    case "objectID": return objectID
    case "entity": return entity
    default:
      if let property = entity.propertiesByName[key] as? NSFetchedPropertyDescription {
        return fetchedObjects(of: property)
      }
      return value(forUndefinedKey: key)
    }
  }

  /// The slot, relationship or transient of that name; traps when the entity has none.
  final func place(of key: String) -> PropertyPlace {
    guard let place = layout.place(of: key) else {
      preconditionFailure("the entity '\(layout.entity.name ?? "")' has no property '\(key)'")
    }
    return place
  }

  /// What is held for a place, as a Swift value; nil when nothing is held or it is nil.
  final func heldValue(_ place: PropertyPlace) -> Any? {
    switch values?[layout.holdingIndex(place)] {
    case .raw(let value): heldKind(place).flatMap { value.value($0) }
    case .value(let value): value
    case .string(let text): text
    case .transformed(let value): value.value
    case .object(let object): object
    case .toMany(let value): value.orderedSet ?? value.objects
    case .null, .some(.none), nil: nil
    }
  }

  /// A property's value of a filled object.
  ///
  /// A to-many that is still a fault fires.
  final func read(_ place: PropertyPlace) -> Any? {
    switch place {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isToOne { return destination(slot) }
      return attribute(slot)
    case .toMany(let index):
      let (relationship, place) = (layout.toMany[index], layout.holdingIndex(place))
      let objects = destinations(relationship, at: place)
      return relationship.isOrdered
        ? toManyValue(at: place).orderedSet ?? NSOrderedSet() : objects
    case .transient(let index):
      return transient(index)
    case .composite(let index):
      return composite(index)
    }
  }

  /// A transient property's value: the one that was set, or the model's default value.
  final func transient(_ index: Int) -> Any? {
    if let values {
      let held = values[layout.holdingIndex(.transient(index))]
      if case .none = held {} else { return heldValue(.transient(index)) }
    }
    return layout.transientDefaults[index]
  }

  /// Sets a transient property without noting a change.
  final func setTransient(_ value: Any?, at index: Int) {
    let held = value.flatMap { $0 is NSNull ? nil : HeldValue.value($0) } ?? .null
    storage.change(held, at: layout.holdingIndex(.transient(index)))
  }

  /// An attribute of a filled object; strings and what is dear to decode are kept.
  final func attribute(_ slot: RowSlot) -> Any? {
    if let values {
      switch values[slot.index] {
      case .null: return nil
      case .raw(let value): return layout.value(slot, of: value)
      case .value(let value): return value
      case .string(let text): return text
      case .transformed(let value): return value.value
      default: break
      }
    }
    guard let value = row.value(slot) else { return nil }
    switch slot.kind {
    case .string: keep(.string(value as? String ?? ""), at: slot.index)
    case .uri, .decimal, .data: keep(.value(value), at: slot.index)
    case .transformable: return transformable(slot)
    case .external: return external(value, slot)
    default: break
    }
    return value
  }

  private func transformable(_ slot: RowSlot) -> Any? {
    let value = layout.value(slot, in: row)
    keep(value.map { .value($0) } ?? .null, at: slot.index)
    return value
  }

  /// A value that may be in a file beside the store; one whose file cannot be read is nil.
  private func external(_ value: Any, _ slot: RowSlot) -> Any? {
    var value = value
    if let file = value as? ExternalFile {
      guard let context = managedObjectContext else { return nil }
      do {
        value = try context.store(for: self)?.externalData(file) ?? Data()
      } catch {
        context.noteFailure(error, "'\(slot.name)' of \(objectID) could not be read")
        return nil
      }
    }
    if let bytes = value as? Data, let transformer = layout.transformer(slot) {
      let decoded = transformer.decode(bytes)
      keep(decoded.map { .value($0) } ?? .null, at: slot.index)
      return decoded
    }
    keep(.value(value), at: slot.index)
    return value
  }

  private func heldKind(_ place: PropertyPlace) -> RowSlot.Kind? {
    if case .slot(let index) = place { return layout.slots[index].kind }
    return nil
  }

  /// Keeps a value that follows from the row.
  final func keep(_ value: HeldValue, at index: Int) {
    storage.keep(value, at: index)
  }

  /// The values beside the row, made at first need.
  final var storage: ObjectValues {
    @inline(__always) get { values ?? makeStorage() }
  }

  private func makeStorage() -> ObjectValues {
    let made = ObjectValues(count: layout.placeCount)
    values = made
    return made
  }

  /// Sets a property of a filled object: tracks the change, keeps relationships in step.
  final func write(_ value: Any?, to place: PropertyPlace) {
    store(value, in: place)
    if state.contains(.reportsChanges) { reportChange(of: place) }
  }

  /// Calls the class's own `didChangeValue(forKey:)` for a property that was set.
  private func reportChange(of place: PropertyPlace) {
    switch place {
    case .slot(let index): didChangeValue(forKey: layout.slotNames[index])
    case .toMany(let index): didChangeValue(forKey: layout.toMany[index].name)
    case .transient(let index): didChangeValue(forKey: layout.transients[index].name)
    case .composite(let index): didChangeValue(forKey: layout.composites[index].name)
    }
  }

  private func store(_ value: Any?, in place: PropertyPlace) {
    switch place {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isToOne {
        setDestination(checkedDestination(value, slot.relationship), slot)
      } else {
        let held = heldValue(value, for: slot)
        noteChange()
        change(held, at: index)
      }
    case .toMany(let index):
      setDestinations(checkedDestinations(value, layout.toMany[index]), layout.toMany[index])
    case .transient(let index):
      noteTransientChange()
      setTransient(value, at: index)
    case .composite(let index):
      for leaf in leaves(of: index, for: value) { store(leaf.value, in: .slot(leaf.slot.index)) }
    }
  }

  /// Sets an attribute of a filled object to a value that fits its slot, and notes the change.
  final func set(_ value: RowValue, at index: Int) {
    noteChange()
    change(.raw(value), at: index)
    if state.contains(.reportsChanges) { reportChange(of: .slot(index)) }
  }

  /// An attribute's value in the form in which it is held; traps for one of another type.
  final func heldValue(_ value: Any?, for slot: RowSlot) -> HeldValue {
    if slot.kind == .transformable || slot.kind == .external, let value, !(value is NSNull),
      let transformer = layout.transformer(slot)
    {
      return .transformed(
        TransformedValue(
          value, by: transformer, isExternal: slot.kind == .external,
          replacing: replacedValue(slot)))
    }
    guard let raw = RowValue(value, kind: slot.kind) else {
      preconditionFailure(
        "'\(slot.name)' of '\(layout.entity.name ?? "")' can't be set to \(value ?? "nil")")
    }
    return .raw(raw)
  }

  /// Replaces a slot's value; reading looks beside the row from now on.
  final func change(_ value: HeldValue, at index: Int) {
    state.insert(.overridden)
    // Without a count of what is held: letting go of the old value is the last thing it does.
    Unmanaged.passUnretained(storage)._withUnsafeGuaranteedRef { $0.change(value, at: index) }
  }
}

extension NSManagedObject {
  /// Sets the property at the end of a path, as in `country.name`, or an element of a composite
  /// attribute, as in `address.city`.
  ///
  /// Does nothing where a relationship on the way leads nowhere. Traps as `setValue(_:forKey:)` does,
  /// and for a to-many on the way. Cost: that of each property on the way.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    if layout.place(of: keyPath) != nil { return setValue(value, forKey: keyPath) }
    guard let point = keyPath.firstIndex(of: ".") else {
      return setValue(value, forKey: keyPath)
    }
    let (key, rest) = (keyPath[..<point], keyPath[keyPath.index(after: point)...])
    switch self.value(forKey: String(key)) {
    case let object as NSManagedObject: object.setValue(value, forKeyPath: String(rest))
    case nil: break
    default:
      preconditionFailure("'\(key)' of '\(layout.entity.name ?? "")' isn't a to-one relationship")
    }
  }

  /// A composite attribute's value of a filled object.
  final func composite(_ index: Int) -> [String: Any]? {
    layout.gathered(index) { attribute($0) }
  }

  /// What a composite attribute's leaves are to be set to; traps for a value of another form.
  final func leaves(
    of index: Int, for value: Any?
  ) -> [(slot: RowSlot, value: Any?)] {
    do {
      return try layout.spread(value, over: index)
    } catch {
      preconditionFailure("'\(layout.entity.name ?? "")': \(error)")
    }
  }
}
