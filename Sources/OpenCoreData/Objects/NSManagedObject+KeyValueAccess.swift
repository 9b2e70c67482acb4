import ManagedModel

extension NSManagedObject: KeyValueReadable {
  /// Returns the value of a property; fires the object or the to-many relationship if it's a fault.
  ///
  /// Numbers, Booleans, and decimals are returned as `NSNumber`s, which cast to `Int`, `Int32`,
  /// `Double`, `Bool`, and any other number type that can represent them; other attributes as their
  /// Swift type (`Date`, `String`, `UUID` …), a transformable as its transformer's result, a
  /// composite as a dictionary of its elements' values, a to-one as the related object, a to-many
  /// as `Set<NSManagedObject>`, an ordered one as `NSOrderedSet`. A property in the class's
  /// `keyedAccessors` is read through its accessor. `objectID`, `entity`, `isDeleted`, and the like
  /// are keys too if the entity has no such property, and fire nothing. Any other key is passed to
  /// `value(forUndefinedKey:)`. **Cost:** a fault, if the object is one; one SELECT for the first
  /// read of a to-many; one allocation for a number outside of 0...255. On Linux, that takes 0.1 µs
  /// and a cast to a Swift number type 0.4 µs; generated accessors and `@Managed` need neither.
  public final func value(forKey key: String) -> Any? {
    if layout.accessors != nil, let found = accessedValue(key) {
      return found.value.map { KeyedValue.boxed($0) }
    }
    guard let position = layout.position(of: key) else { return ownValue(key) }
    willAccess()
    return keyedValue(position)
  }

  /// Returns the value of a property, with numbers as the Swift type of their attribute, for
  /// predicates and for printing.
  ///
  /// Otherwise the same as `value(forKey:)`. **Cost:** no allocation for a number.
  package final func storedValue(forKey key: String) -> Any? {
    if layout.accessors != nil, let found = accessedValue(key) { return found.value }
    guard let position = layout.position(of: key) else { return ownValue(key) }
    willAccess()
    return read(position)
  }

  /// Returns the result of the class's own accessor for a key; `nil` without one.
  private func accessedValue(_ key: String) -> KeyedAccessor.Read? {
    layout.accessors?[key]?.read(self)
  }

  /// Returns a property's value of a realized object as key-value coding returns it.
  final func keyedValue(_ position: PropertyPosition) -> Any? {
    switch position {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isNumber, values?.isChanged(index) != true, let number = row.number(slot) {
        return number
      }
      return slot.kind.isToOne ? destination(slot) : KeyedValue.boxed(attribute(slot), slot.kind)
    case .toMany: return read(position)
    case .transient: return read(position).map { KeyedValue.boxed($0) }
    case .composite: return KeyedValue.boxedElements(read(position))
    }
  }

  /// Returns the value at the end of a key path, as in `country.continent.name`.
  ///
  /// A `nil` along the path is the result; a to-many along the path returns a `Set` of its objects'
  /// distinct values, an ordered one an `NSOrderedSet`, both without nils; collection operators
  /// work as in predicates. **Cost:** that of each property along the path.
  public final func value(forKeyPath keyPath: String) -> Any? {
    var rest = Substring(keyPath)
    var object = self
    while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
      guard object.layout.accessors == nil,
        let position = object.layout.position(of: String(rest[..<dot])),
        case .slot(let index) = position,
        object.layout.slots[index].kind.isToOne
      else { return KeyedValue.boxedElements(object.resolve(keyPath: String(rest))) }
      object.willAccess()
      guard let next = object.destination(object.layout.slots[index]) else { return nil }
      object = next
      rest = rest[rest.index(after: dot)...]
    }
    if object.layout.accessors == nil, let position = object.layout.position(of: String(rest)) {
      object.willAccess()
      return object.keyedValue(position)
    }
    return KeyedValue.boxedElements(object.resolve(keyPath: String(rest)))
  }

  /// Sets a property and records the change; a relationship's inverse is updated immediately.
  ///
  /// Numeric attributes accept numbers of any width, integer ones the whole part.
  /// A number beyond 64 bits is a programmer error, for which `validateValue(_:forKey:)` throws. A
  /// property in the class's `keyedAccessors` is
  /// set through its accessor, if that has a setter. An unknown key is passed to
  /// `setValue(_:forUndefinedKey:)`. It's a programmer error to pass a value of the wrong type or
  /// an object of another context. **Cost:** the object's fault and, for a relationship, those of
  /// the old and the new destination.
  public final func setValue(_ value: Any?, forKey key: String) {
    if let accessor = layout.accessors?[key], accessor.write(self, value) { return }
    guard let position = layout.position(of: key) else {
      return setValue(value, forUndefinedKey: key)
    }
    willAccess()
    write(value, to: position)
  }

  /// Returns whether a relationship is a fault, without firing it.
  ///
  /// A to-one is a fault while its destination is. It's a programmer error to pass a key that isn't
  /// a relationship.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let position = position(of: key)
    switch position {
    case .toMany(let index):
      if isFault { return true }
      guard case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))] else {
        return !isInserted
      }
      return value.objects == nil
    case .slot(let index) where layout.slots[index].kind.isToOne:
      return isFault || (read(position) as? NSManagedObject)?.isFault == true
    default:
      fatalError("'\(key)' of '\(layout.entityName)' isn't a relationship")
    }
  }

  /// Returns the values that every object has in addition to its entity's properties.
  private func ownValue(_ key: String) -> Any? {
    if let property = entity.propertiesByName[key] as? NSFetchedPropertyDescription {
      return fetchedObjects(of: property)
    }
    if let read = NSManagedObject.ownKeys[key] { return read(self) }
    return value(forUndefinedKey: key)
  }

  /// Returns the position of a property; it's a programmer error if the entity has none with that
  /// name.
  final func position(of key: String) -> PropertyPosition {
    guard let position = layout.position(of: key) else {
      fatalError("the entity '\(layout.entityName)' has no property '\(key)'")
    }
    return position
  }

  /// Returns the stored value of a position as a Swift value; `nil` if none is stored or it's
  /// `nil`.
  final func cachedValue(_ position: PropertyPosition) -> Any? {
    switch values?[layout.valueIndex(position)] {
    case .raw(let value): cachedKind(position).flatMap { value.value($0) }
    case .value(let value): value
    case .string(let text): text
    case .transformed(let value): value.value
    case .object(let object): object
    case .toMany(let value): value.orderedSet ?? value.objects
    case .null, .some(.none), nil: nil
    }
  }

  /// Returns a property's value of a realized object.
  ///
  /// Fires a to-many relationship that is a fault.
  final func read(_ position: PropertyPosition) -> Any? {
    switch position {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isToOne { return destination(slot) }
      return attribute(slot)
    case .toMany(let index):
      let (relationship, position) = (layout.toMany[index], layout.valueIndex(position))
      let objects = destinations(relationship, at: position)
      return relationship.isOrdered
        ? toManyValue(at: position).orderedSet ?? NSOrderedSet() : objects
    case .transient(let index):
      return transient(index)
    case .composite(let index):
      return composite(index)
    }
  }

  /// Returns a transient property's value: the one that was set, or the model's default value.
  final func transient(_ index: Int) -> Any? {
    if let values {
      let stored = values[layout.valueIndex(.transient(index))]
      if case .none = stored {} else { return cachedValue(.transient(index)) }
    }
    return layout.transientDefaults[index]
  }

  /// Sets a transient property without recording a change.
  final func setTransient(_ value: Any?, at index: Int) {
    let stored = value.flatMap { $0 is NSNull ? nil : layout.transients[index].converted($0) }
    storage.change(
      stored.map { .value($0) } ?? .null, at: layout.valueIndex(.transient(index)))
  }

  /// Returns an attribute of a realized object; caches strings and other values that are costly to
  /// decode.
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

  /// Returns a value that may be in external storage; `nil` if its external data file can't be
  /// read.
  private func external(_ value: Any, _ slot: RowSlot) -> Any? {
    var value = value
    if let file = value as? ExternalFile {
      guard let bytes = contents(of: file, slot) else { return nil }
      value = bytes
    }
    if let bytes = value as? Data, let transformer = layout.transformer(slot) {
      let decoded = transformer.decode(bytes)
      keep(decoded.map { .value($0) } ?? .null, at: slot.index)
      return decoded
    }
    keep(.value(value), at: slot.index)
    return value
  }

  private func contents(of file: ExternalFile, _ slot: RowSlot) -> Data? {
    guard let context = managedObjectContext else { return nil }
    do {
      return try context.store(for: self)?.externalData(file) ?? Data()
    } catch {
      context.noteFailure(error, "'\(slot.name)' of \(objectID) couldn't be read")
      return nil
    }
  }

  /// Returns an attribute's value in the row, whether or not it has been replaced.
  ///
  /// **Cost:** reading the file of an externally stored value.
  final func persistedValue(_ slot: RowSlot) -> Any? {
    guard slot.kind == .external, let file = row.value(slot) as? ExternalFile else {
      return layout.value(slot, in: row)
    }
    guard let bytes = contents(of: file, slot) else { return nil }
    guard let transformer = layout.transformer(slot) else { return bytes }
    return transformer.decode(bytes)
  }

  private func cachedKind(_ position: PropertyPosition) -> RowSlot.Kind? {
    if case .slot(let index) = position { return layout.slots[index].kind }
    return nil
  }

  /// Caches a value derived from the row.
  final func keep(_ value: ObjectValue, at index: Int) {
    storage.keep(value, at: index)
  }

  /// The values stored in addition to the row, created when they're first needed.
  final var storage: ObjectValues {
    @inline(__always) get { values ?? makeStorage() }
  }

  private func makeStorage() -> ObjectValues {
    let made = ObjectValues(count: layout.positionCount)
    values = made
    return made
  }

  /// Sets a property of a realized object: records the change and updates inverse relationships.
  final func write(_ value: Any?, to position: PropertyPosition) {
    store(value, in: position)
    if state.contains(.reportsChanges) { reportChange(of: position) }
  }

  /// Calls the class's own `didChangeValue(forKey:)` for a property that was set.
  private func reportChange(of position: PropertyPosition) {
    switch position {
    case .slot(let index): didChangeValue(forKey: layout.slotNames[index])
    case .toMany(let index): didChangeValue(forKey: layout.toMany[index].name)
    case .transient(let index): didChangeValue(forKey: layout.transients[index].name)
    case .composite(let index): didChangeValue(forKey: layout.composites[index].name)
    }
  }

  private func store(_ value: Any?, in position: PropertyPosition) {
    switch position {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isToOne {
        setDestination(checkedDestination(value, slot.relationship), slot)
      } else {
        let stored = cachedValue(value, for: slot)
        noteChange()
        change(stored, at: index)
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

  /// Sets an attribute of a realized object to a value that fits its slot, and records the change.
  ///
  /// Inlined, because copying a value whose case isn't known is a call.
  @inline(__always)
  final func set(_ value: RowValue, at index: Int) {
    noteChange()
    change(.raw(value), at: index)
    if state.contains(.reportsChanges) { reportChange(of: .slot(index)) }
  }

  /// Returns an attribute's value in its stored form; it's a programmer error to pass another type.
  final func cachedValue(_ value: Any?, for slot: RowSlot) -> ObjectValue {
    if slot.kind == .transformable || slot.kind == .external, let value, !(value is NSNull),
      let transformer = layout.transformer(slot)
    {
      return .transformed(
        TransformedValue(
          value, by: transformer, isExternal: slot.kind == .external,
          replacing: replacedValue(slot)))
    }
    guard let raw = RowValue(value, kind: slot.kind) else {
      fatalError(
        "'\(slot.name)' of '\(layout.entityName)' can't be set to \(value ?? "nil")"
          + ([.int16, .int32, .int64].contains(slot.kind)
            ? ": it takes numbers of up to 64 bits" : ""))
    }
    return .raw(raw)
  }

  /// Replaces a slot's value; reading checks the changed values from now on.
  @inline(__always)
  final func change(_ value: ObjectValue, at index: Int) {
    state.insert(.overridden)
    if values == nil { _ = makeStorage() }
    // Without retaining the storage: releasing the old value is the last thing it does.
    values.map(Unmanaged.passUnretained)?._withUnsafeGuaranteedRef { $0.change(value, at: index) }
  }
}

extension NSManagedObject {
  /// Sets the property at the end of a key path, as in `country.name`, or an element of a composite
  /// attribute, as in `address.city`.
  ///
  /// Does nothing if a relationship along the path is `nil`. A to-many along the path sets the rest
  /// of the path for each of its objects. The programmer errors are those of `setValue(_:forKey:)`.
  /// **Cost:** that of each property along the path.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    if layout.position(of: keyPath) != nil { return setValue(value, forKey: keyPath) }
    guard let point = keyPath.firstIndex(of: ".") else {
      return setValue(value, forKey: keyPath)
    }
    let (key, rest) = (keyPath[..<point], String(keyPath[keyPath.index(after: point)...]))
    switch self.value(forKey: String(key)) {
    case let object as NSManagedObject: object.setValue(value, forKeyPath: rest)
    case let objects as Set<NSManagedObject>:
      for object in objects { object.setValue(value, forKeyPath: rest) }
    case let objects as NSOrderedSet:
      for case let object as NSManagedObject in objects.array {
        object.setValue(value, forKeyPath: rest)
      }
    case let objects as [NSManagedObject]:
      for object in objects { object.setValue(value, forKeyPath: rest) }
    case nil: break
    default:
      fatalError("'\(key)' of '\(layout.entityName)' isn't a relationship")
    }
  }

  /// Returns a composite attribute's value of a realized object.
  final func composite(_ index: Int) -> [String: Any]? {
    layout.gathered(index) { attribute($0) }
  }

  /// Returns the values for a composite attribute's leaves; it's a programmer error to pass another
  /// type.
  final func leaves(
    of index: Int, for value: Any?
  ) -> [(slot: RowSlot, value: Any?)] {
    do {
      return try layout.spread(value, over: index)
    } catch {
      fatalError("'\(layout.entityName)': \(error)")
    }
  }
}
