import ManagedModel

// What custom accessors are made of: the bracket of will and did calls, and the values inside it.
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
  /// The value of a property without firing the object: nil for a fault.
  ///
  /// Numbers come as from `value(forKey:)`. It's a programmer error to pass an unknown key. Cost: as
  /// `value(forKey:)`; a to-many that is still a fault fires. Apple counterpart: the same.
  public final func primitiveValue(forKey key: String) -> Any? {
    isFault ? nil : keyedValue(place(of: key))
  }

  /// Sets a property without noting a change and without touching a relationship's other side.
  ///
  /// Between `willChangeValue` and `didChangeValue` it is what a setter does. Alone, nothing learns of
  /// it: an object without other changes is not saved. On a fault it is lost. Traps as
  /// `setValue(_:forKey:)` does. No statement.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    let place = place(of: key)
    guard !isFault else { return }
    switch place {
    case .slot(let index):
      let slot = layout.slots[index]
      if slot.kind.isToOne {
        storeDestination(checkedDestination(value, slot.relationship), slot)
      } else {
        change(heldValue(value, for: slot), at: index)
      }
    case .toMany(let index):
      let relationship = layout.toMany[index]
      storeDestinations(checkedDestinations(value, relationship), relationship)
    case .transient(let index): setTransient(value, at: index)
    case .composite(let index):
      for leaf in leaves(of: index, for: value) {
        change(heldValue(leaf.value, for: leaf.slot), at: leaf.slot.index)
      }
    }
  }

  /// Sees to it that the object is filled; a custom accessor calls it before it reads.
  ///
  /// With nil nothing is read. Cost: an object fault when it is one.
  public final func willAccessValue(forKey key: String?) {
    willAccess()
  }

  /// Ends what `willAccessValue` began; nothing is owed here.
  public final func didAccessValue(forKey key: String?) {}

  /// Notes that a property is about to change; a custom setter calls it before it sets the primitive
  /// value.
  ///
  /// Fills the object. A to-many is read, so that `didChangeValue` can tell what has changed.
  public final func willChangeValue(forKey key: String) {
    let place = place(of: key)
    willAccess()
    if case .transient = place { return noteTransientChange() }
    noteChange()
    guard let relationship = relationship(at: place) else { return }
    storage.beingChanged = storage.beingChanged ?? [:]
    storage.beingChanged?[layout.holdingIndex(place)] = Set(relatedObjects(relationship))
  }

  /// Has a relationship's other sides follow what was set since `willChangeValue`.
  final func finishChange(forKey key: String) {
    let place = place(of: key)
    guard let relationship = relationship(at: place),
      let before = values?.beingChanged?.removeValue(forKey: layout.holdingIndex(place)),
      propagates
    else { return }
    let now = Set(relatedObjects(relationship))
    for object in before.subtracting(now) { removeInverse(of: relationship, on: object) }
    for object in now.subtracting(before) { addInverse(of: relationship, on: object) }
  }

  /// Notes that objects are about to be added to or removed from a to-many.
  ///
  /// The same as `willChangeValue(forKey:)`: what was changed is seen at the end.
  public final func willChangeValue(
    forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind,
    using objects: Set<AnyHashable>
  ) {
    willChangeValue(forKey: key)
  }

  /// Ends what `willChangeValue(forKey:withSetMutation:using:)` began.
  public final func didChangeValue(
    forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind,
    using objects: Set<AnyHashable>
  ) {
    didChangeValue(forKey: key)
  }

  // MARK: Several keys

  /// The values of several properties, each as `value(forKey:)` gives it; nil is `NSNull`.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    var result: [String: Any] = [:]
    for key in keys { result[key] = value(forKey: key) ?? NSNull() }
    return result
  }

  /// Sets several properties, each as `setValue(_:forKey:)` does; `NSNull` is nil.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
      setValue(value is NSNull ? nil : value, forKey: key)
    }
  }

  /// The relationship at a place; nil for an attribute's.
  private func relationship(at place: PropertyPlace) -> NSRelationshipDescription? {
    switch place {
    case .slot(let index):
      layout.slots[index].kind.isToOne ? layout.slots[index].relationship : nil
    case .toMany(let index): layout.toMany[index]
    case .transient, .composite: nil
    }
  }
}
