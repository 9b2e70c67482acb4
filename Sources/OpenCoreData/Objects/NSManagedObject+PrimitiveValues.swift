import ManagedModel

// The parts of custom accessors: will and did calls, and the primitive values between them.
//
//     var type: MessageType {
//       get {
//         willAccessValue(forKey: "type")
//         defer { didAccessValue(forKey: "type") }
//         return MessageType(rawValue: primitiveValue(forKey: "type") as? Int16 ?? 0) ?? .text
//       }
//       set {
//         willChangeValue(forKey: "type")
//         defer { didChangeValue(forKey: "type") }
//         setPrimitiveValue(newValue.rawValue, forKey: "type")
//       }
//     }

extension NSManagedObject {
  /// Returns the value of a property without firing the object: `nil` for a fault.
  ///
  /// Numbers are returned as by `value(forKey:)`. It's a programmer error to pass an unknown key.
  /// **Cost:** as `value(forKey:)`; a to-many that is a fault fires. Apple counterpart: the same.
  public final func primitiveValue(forKey key: String) -> Any? {
    isFault ? nil : keyedValue(position(of: key))
  }

  /// Sets a property without recording a change and without updating a relationship's inverse.
  ///
  /// A setter calls it between `willChangeValue` and `didChangeValue`. By itself, it isn't
  /// recorded: an object without other changes isn't saved. On a fault, the value is lost. The
  /// programmer errors are those of `setValue(_:forKey:)`. No statements.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    let position = position(of: key)
    guard !isFault else { return }
    switch position {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isToOne {
        storeDestination(checkedDestination(value, slot.relationship), slot)
      } else {
        change(cachedValue(value, for: slot), at: index)
      }
    case .toMany(let index):
      let relationship = layout.toMany[index]
      storeDestinations(checkedDestinations(value, relationship), relationship)
    case .transient(let index): setTransient(value, at: index)
    case .composite(let index):
      for leaf in leaves(of: index, for: value) {
        change(cachedValue(leaf.value, for: leaf.slot), at: leaf.slot.index)
      }
    }
  }

  /// Fulfills the object if it's a fault; call it in a custom accessor before reading.
  ///
  /// With `nil` nothing is read. **Cost:** an object fault if it is one.
  public final func willAccessValue(forKey key: String?) {
    willAccess()
  }

  /// Ends the access that `willAccessValue` began; does nothing.
  public final func didAccessValue(forKey key: String?) {}

  /// Records that a property is about to change; call it in a custom setter before setting the
  /// primitive value.
  ///
  /// Fulfills the object. A to-many is read, so that `didChangeValue` can determine the change. A
  /// key that isn't in the model, such as that of a computed property, is ignored, unless
  /// `contextShouldIgnoreUnmodeledPropertyChanges` is `false`.
  public final func willChangeValue(forKey key: String) {
    guard let position = layout.position(of: key) else { return noteUnmodeledChange() }
    willAccess()
    if case .transient = position { return noteTransientChange() }
    noteChange()
    guard let relationship = relationship(at: position) else { return }
    storage.beingChanged = storage.beingChanged ?? [:]
    storage.beingChanged?[layout.valueIndex(position)] = Set(relatedObjects(relationship))
  }

  /// Updates a relationship's inverses for the values set since `willChangeValue`.
  final func finishChange(forKey key: String) {
    guard let position = layout.position(of: key),
      let relationship = relationship(at: position),
      let before = values?.beingChanged?.removeValue(forKey: layout.valueIndex(position)),
      propagates
    else { return }
    let now = Set(relatedObjects(relationship))
    for object in before.subtracting(now) { removeInverse(of: relationship, on: object) }
    for object in now.subtracting(before) { addInverse(of: relationship, on: object) }
  }

  /// Records that objects are about to be added to or removed from a to-many relationship.
  ///
  /// The same as `willChangeValue(forKey:)`: the change is determined at the end.
  public final func willChangeValue(
    forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind,
    using objects: Set<AnyHashable>
  ) {
    willChangeValue(forKey: key)
  }

  /// Ends the change that `willChangeValue(forKey:withSetMutation:using:)` began.
  public final func didChangeValue(
    forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind,
    using objects: Set<AnyHashable>
  ) {
    didChangeValue(forKey: key)
  }

  // MARK: Several keys

  /// Returns the values of several properties, each as `value(forKey:)` does; `nil` is `NSNull`.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    var result: [String: Any] = [:]
    for key in keys { result[key] = value(forKey: key) ?? NSNull() }
    return result
  }

  /// Sets several properties, each as `setValue(_:forKey:)` does; `NSNull` is `nil`.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
      setValue(value is NSNull ? nil : value, forKey: key)
    }
  }

  /// Returns the relationship at a position; `nil` if it's an attribute.
  private func relationship(at position: PropertyPosition) -> NSRelationshipDescription? {
    switch position {
    case .slot(let index):
      layout.slots[index].kind.isToOne ? layout.slots[index].relationship : nil
    case .toMany(let index): layout.toMany[index]
    case .transient, .composite: nil
    }
  }
}

/// Properties by fixed slots, for generated accessors and `@Managed`.
///
/// The code inlined into them handles unchanged realized objects with a few tests and a load; the
/// functions below handle the rest.
extension NSManagedObject {
  /// Accesses the value of a property of a generated class, for generated accessors.
  ///
  /// Reads and writes as `value(forKey:)` and `setValue(_:forKey:)` do: fires a fault, records the
  /// change, updates the inverse. It's a programmer error if the loaded entity has no such
  /// property, or its value has another type.
  public final subscript<Value: ManagedValue>(slot: PropertySlot<Value>) -> Value {
    @inlinable @inline(__always)
    get { Value.read(self, at: position(of: slot), slot.name.utf8Start) }
    @inlinable @inline(__always)
    set { newValue.write(self, at: position(of: slot), slot.name.utf8Start) }
  }

  @inlinable @inline(__always)
  final func position<Value: ManagedValue>(of slot: PropertySlot<Value>) -> SlotPosition? {
    guard state.hasFixedSlots else { return nil }
    assert(isSlot(slot.position, named: slot.name), "slots must be declared with their class")
    return slot.position
  }

  @usableFromInline
  final func isSlot(_ position: SlotPosition, named name: StaticString) -> Bool {
    layout.slots.indices.contains(position.index)
      && layout.slots[position.index].name == name.description
      && layout.slots[position.index].offset == position.offset
  }

  /// Returns the slot of a literal, if it was looked up before and is of one of the kinds.
  @inlinable @inline(__always)
  final func cachedPosition(
    of name: UnsafePointer<UInt8>, as kinds: SlotKinds
  ) -> SlotPosition? {
    layout.slotTable.position(of: name, as: kinds)
  }

  /// Returns the slot of a literal, and caches it; `nil` if it isn't a slot or of none of the
  /// kinds.
  @usableFromInline @inline(never)
  final func position(_ name: UnsafePointer<UInt8>, as kinds: SlotKinds) -> SlotPosition? {
    if let index = layout.slotTable.index(of: name) {
      return layout.slotTable.position(at: index, as: kinds)
    }
    guard case .slot(let index) = position(of: String(cString: name)) else { return nil }
    layout.slotTable.remember(name, at: index)
    return layout.slotTable.position(at: index, as: kinds)
  }

  // MARK: Reading

  /// Returns an integer or Boolean value, whatever the object's state.
  @usableFromInline @inline(never)
  final func integer(at position: SlotPosition) -> Int64? {
    willAccess()
    if let values, values.isChanged(position.index) {
      guard case .raw(.int64(let number)) = values[position.index] else { return nil }
      return number
    }
    return row.isNull(position) ? nil : row.int64(position)
  }

  /// Returns a floating-point number or a date, whatever the object's state.
  @usableFromInline @inline(never)
  final func number(at position: SlotPosition) -> Double? {
    willAccess()
    if let values, values.isChanged(position.index) {
      guard case .raw(.double(let number)) = values[position.index] else { return nil }
      return number
    }
    return row.isNull(position) ? nil : row.double(position)
  }

  /// Returns a string that was read before.
  @inlinable @inline(__always)
  final func keptText(at position: SlotPosition) -> UnsafePointer<String?>? {
    guard let values, let texts = values.texts else { return nil }
    let cell = UnsafePointer(texts + position.index)
    return cell.pointee == nil ? nil : cell
  }

  /// Returns a string, which is decoded when first read and cached; the pointer is valid until the
  /// object changes.
  ///
  /// Its value is `nil` for `nil`.
  @usableFromInline @inline(never)
  final func text(
    at fixed: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> UnsafePointer<String?> {
    willAccess()
    guard let position = fixed ?? position(name, as: .string) else { return otherText(name) }
    if let kept = keptText(at: position) { return kept }
    guard let text = attribute(layout.slots[position.index]) as? String else { return noText }
    return storage.keepText(text, at: position.index)
  }

  /// Returns a string as `text` does, and an empty one for `nil`: the pointer's value isn't `nil`.
  @usableFromInline @inline(never)
  final func presentText(
    at fixed: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> UnsafePointer<String?> {
    let cell = text(at: fixed, name)
    return cell.pointee == nil ? emptyText : cell
  }

  /// Returns the string of a property that isn't a string slot.
  private final func otherText(_ name: UnsafePointer<UInt8>) -> UnsafePointer<String?> {
    let name = String(cString: name)
    let position = position(of: name)
    guard let value = read(position) else { return noText }
    guard let text = value as? String else { wrongType(name, String.self) }
    return storage.keepText(text, at: layout.valueIndex(position))
  }

  /// Returns a property as any value that its type can be created from.
  @usableFromInline @inline(never)
  final func anyValue(at fixed: SlotPosition?, _ name: UnsafePointer<UInt8>) -> Any? {
    willAccess()
    return read(anyPlace(fixed, name))
  }

  private final func anyPlace(
    _ fixed: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> PropertyPosition {
    if let fixed { return .slot(fixed.index) }
    if let index = layout.slotTable.index(of: name) { return .slot(index) }
    let found = position(of: String(cString: name))
    if case .slot(let index) = found { layout.slotTable.remember(name, at: index) }
    return found
  }

  @usableFromInline
  final func wrongType(_ name: UnsafePointer<UInt8>, _ type: Any.Type) -> Never {
    wrongType(String(cString: name), type)
  }

  private final func wrongType(_ name: String, _ type: Any.Type) -> Never {
    fatalError(
      "'\(name)' of '\(layout.entityName)' isn't a \(type); check its declaration")
  }

  // MARK: Writing

  /// Sets an integer or a Boolean; `nil` is `nil`.
  @usableFromInline @inline(never)
  final func set(_ value: Int64?, at position: SlotPosition) {
    willAccess()
    if let value { set(.int64(value), at: position.index) } else { set(.null, at: position.index) }
  }

  /// Sets a floating-point number or a date; `nil` is `nil`.
  @usableFromInline @inline(never)
  final func set(_ value: Double?, at position: SlotPosition) {
    willAccess()
    if let value { set(.double(value), at: position.index) } else { set(.null, at: position.index) }
  }

  /// Sets a string; `nil` is `nil`.
  @usableFromInline @inline(never)
  final func set(_ value: String?, at fixed: SlotPosition?, _ name: UnsafePointer<UInt8>) {
    willAccess()
    if let position = fixed ?? position(name, as: .string) {
      if let value { set(.text(value), at: position.index) } else { set(.null, at: position.index) }
    } else {
      write(value, to: anyPlace(fixed, name))
    }
  }

  /// Sets a property to any value of its type.
  @usableFromInline @inline(never)
  final func setAny(_ value: Any?, at fixed: SlotPosition?, _ name: UnsafePointer<UInt8>) {
    willAccess()
    write(value, to: anyPlace(fixed, name))
  }
}

/// The storage from which `nil` strings are read.
///
/// Never freed or written.
nonisolated(unsafe) private let noText = constantText(nil)

/// The storage from which `nil` strings are read as nonoptional ones.
///
/// Never freed or written.
nonisolated(unsafe) private let emptyText = constantText("")

private func constantText(_ text: String?) -> UnsafePointer<String?> {
  let cell = UnsafeMutablePointer<String?>.allocate(capacity: 1)
  cell.initialize(to: text)
  return UnsafePointer(cell)
}

extension ObjectState {
  /// Whether an unchanged slot's value is the row's, and the row is loaded.
  @inlinable var isClean: Bool { rawValue & (1 << 18 | 17) == 0 }
  @inlinable var hasFixedSlots: Bool { rawValue & 32 != 0 }
}
