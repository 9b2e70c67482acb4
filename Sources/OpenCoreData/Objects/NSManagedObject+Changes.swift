import ManagedModel

extension NSManagedObject {
  /// Notifies the context that a property is being set.
  final func noteChange() {
    if state.isNotedChange {
      contextReference?._withUnsafeGuaranteedRef { $0.changes.mark() }
      return
    }
    guard state.isDisjoint(with: [.awaking, .transientOnly, .inaccessible]) else {
      return noteUnusualChange()
    }
    context?.noteChange(of: self)
  }

  private func noteUnusualChange() {
    // Changes to an object without a row aren't recorded.
    guard state.isDisjoint(with: [.awaking, .inaccessible]) else { return }
    state.remove(.transientOnly)
    context?.noteChange(of: self)
  }

  /// Notifies the context that a transient property is being set, which by itself isn't a change to
  /// save.
  final func noteTransientChange() {
    let isOnly =
      state.isDisjoint(with: .changed) || state.contains(.transientOnly)
    noteChange()
    if isOnly, !state.contains(.awaking) { state.insert(.transientOnly) }
  }

  /// Notifies the context that a property that isn't in the model is about to be set, if the class
  /// wants that.
  final func noteUnmodeledChange() {
    guard !type(of: self).contextShouldIgnoreUnmodeledPropertyChanges else { return }
    willAccess()
    noteTransientChange()
  }

  /// Returns the values that differ from the last save or fetch, by property.
  ///
  /// The values are those of `value(forKey:)`, with `NSNull` for `nil`. A new object's values
  /// include those that `awakeFromInsert` has set. Properties that were set to an equal value, and
  /// transient properties, aren't included. Fires a to-many relationship that was changed without
  /// being read.
  public final func changedValues() -> [String: Any] {
    var result: [String: Any] = [:]
    for name in ChangedProperties(self).names {
      willAccess()
      result[name] = keyedValue(position(of: name)) ?? NSNull()
    }
    return result
  }

  /// Returns the previous values of properties changed since the last did-change notification.
  ///
  /// While that notification is posted, they are those of the changes that it reports. `nil` values
  /// are `NSNull`. Transient properties aren't included. Fires a to-many relationship that was
  /// changed without being read.
  public final func changedValuesForCurrentEvent() -> [String: Any] {
    guard let values, context?.changes.isInEvent(self) == true else { return [:] }
    var result: [String: Any] = [:]
    for slot in layout.slots where hasChangedInEvent(slot, values) {
      if case .composite(let index)? = layout.position(of: layout.propertyName(slot)) {
        result[layout.composites[index].name] =
          KeyedValue.boxedElements(layout.gathered(index) { earlierValue($0) }) ?? NSNull()
      } else {
        result[slot.name] = KeyedValue.boxed(earlierValue(slot), slot.kind) ?? NSNull()
      }
    }
    for (index, relationship) in layout.toMany.enumerated() {
      let position = layout.valueIndex(.toMany(index))
      guard case .toMany(let value) = values[position], value.hasChangedInEvent else { continue }
      _ = destinations(relationship, at: position)
      result[relationship.name] =
        relationship.isOrdered ? value.earlierList : value.earlierObjects
    }
    return result
  }

  private func hasChangedInEvent(_ slot: RowSlot, _ values: ObjectValues) -> Bool {
    let was = values.earlier?.changed.contains(slot.index) == true
    return (was || values.isChanged(slot.index)) && hasChangedInEvent(slot)
  }

  /// Returns whether one of some attributes or to-one relationships has changed since the last
  /// did-change notification; while that is posted, whether it reports one.
  final func hasChangedInEvent(_ names: Set<String>) -> Bool {
    guard let values, context?.changes.isInEvent(self) == true else { return false }
    return layout.slots.contains { slot in
      names.contains(layout.propertyName(slot)) && hasChangedInEvent(slot, values)
    }
  }

  /// Returns the values at the last save or fetch, by property; pass `nil` for all attributes and
  /// to-one relationships.
  ///
  /// `nil` values are `NSNull`. A to-many relationship is included if `keys` names it, as an
  /// `NSOrderedSet` if it's ordered. Empty for a new object that was never saved. Fires the object
  /// if it's a fault, and such a relationship; reads the files of externally stored values.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    willAccess()
    guard !isInserted else { return [:] }
    var result: [String: Any] = [:]
    for slot in layout.slots
    where keys?.contains(slot.name) ?? (layout.propertyName(slot) == slot.name) {
      if slot.kind.isToOne {
        result[slot.name] = destination(of: row, slot) ?? NSNull()
      } else {
        result[slot.name] = KeyedValue.boxed(persistedValue(slot), slot.kind) ?? NSNull()
      }
    }
    for (index, composite) in layout.composites.enumerated()
    where keys?.contains(composite.name) ?? true {
      result[composite.name] =
        KeyedValue.boxedElements(layout.gathered(index) { persistedValue($0) }) ?? NSNull()
    }
    for (index, relationship) in layout.toMany.enumerated()
    where keys?.contains(relationship.name) ?? false {
      let position = layout.valueIndex(.toMany(index))
      _ = destinations(relationship, at: position)
      let value = toManyValue(at: position)
      result[relationship.name] =
        relationship.isOrdered
        ? value.committedOrderedSet ?? NSOrderedSet() : value.committedObjects ?? []
    }
    return result
  }

  /// Whether the values to save differ from the last known state of the store.
  public final var hasPersistentChangedValues: Bool {
    !changedPositions().isEmpty
  }

  /// Returns the slots whose value differs from the row's, in order.
  final func changedSlots() -> [RowSlot] {
    guard state.contains(.overridden), let values else { return [] }
    return layout.slots.filter { values.isChanged($0.index) && differs($0) }
  }

  /// Returns the indexes of the slots whose value differs from the row's, in order.
  final func changedSlotIndices() -> [Int] {
    guard state.contains(.overridden), let values else { return [] }
    var result: [Int] = []
    for slot in layout.slots
    where values.isChanged(slot.index) && differs(slot) {
      result.append(slot.index)
    }
    return result
  }

  /// Returns whether a slot's value, which was set, differs from the row's.
  ///
  /// For transformable attributes, this compares values, not bytes: two archives of one value may
  /// differ. **Cost:** for such an attribute, decoding the row's bytes if they weren't read before.
  final func differs(_ slot: RowSlot) -> Bool {
    guard layout.hasTransformers, let transformer = layout.transformer(slot), let values else {
      return rawValue(slot) != row.rawValue(slot)
    }
    if case .transformed(let value) = values[slot.index] {
      if let replaced = value.replacedValue(of: row) {
        return !AttributeTransformer.areEqual(value.value, replaced.value)
      }
      guard !row.isNull(slot), let persisted = layout.value(slot, in: row) else { return true }
      return !AttributeTransformer.areEqual(value.value, persisted)
    }
    return !transformer.areEqual(rawValue(slot), row.rawValue(slot), slot.kind)
  }

  /// Returns the row's value of a transformable attribute about to be set, if it was decoded.
  final func replacedValue(_ slot: RowSlot) -> ReplacedValue? {
    guard let values, !isFault else { return nil }
    switch values[slot.index] {
    case .transformed(let value):
      return values.isChanged(slot.index)
        ? value.replacedValue(of: row) : ReplacedValue(value.value, of: row)
    case .value(let value): return ReplacedValue(value, of: row)
    case .null where !values.isChanged(slot.index): return ReplacedValue(nil, of: row)
    default: return nil
    }
  }

  /// Returns the slot's value in raw form, as it would be saved.
  final func rawValue(_ slot: RowSlot) -> RowValue {
    guard let values, values.isChanged(slot.index) else { return row.rawValue(slot) }
    return rawValue(values[slot.index])
  }

  private func rawValue(_ cells: ObjectValue) -> RowValue {
    switch cells {
    case .object(let object):
      let number = context?.entityNumber(of: object) ?? 0
      return .toOne(primaryKey: object.primaryKey, entityNumber: Int64(number))
    case .raw(let value): return value
    case .transformed(let value): return value.rawValue
    default: return .null
    }
  }

  private func hasChangedInEvent(_ slot: RowSlot) -> Bool {
    guard layout.transformer(slot) != nil else { return rawValue(slot) != earlierRawValue(slot) }
    return !AttributeTransformer.areEqual(attribute(slot), earlierValue(slot))
  }

  private func earlierRawValue(_ slot: RowSlot) -> RowValue {
    guard let earlier = values?.earlier, earlier.changed.contains(slot.index) else {
      return row.rawValue(slot)
    }
    return rawValue(earlier.cells[slot.index])
  }

  private func earlierValue(_ slot: RowSlot) -> Any? {
    guard let earlier = values?.earlier, earlier.changed.contains(slot.index) else {
      return slot.kind.isToOne ? destination(of: row, slot) : persistedValue(slot)
    }
    switch earlier.cells[slot.index] {
    case .object(let object): return object
    case .raw(let value): return layout.value(slot, of: value)
    case .transformed(let value): return value.value
    default: return nil
    }
  }

  /// Returns the persistent properties that differ, by the positions of their values: slots, then
  /// to-many relationships; empty if no change was recorded.
  final func changedPositions() -> [Int] {
    guard hasChanges else { return [] }
    var positions = changedSlotIndices()
    guard let values else { return positions }
    for (index, relationship) in layout.toMany.enumerated() where !relationship.isTransient {
      let position = layout.valueIndex(.toMany(index))
      if case .toMany(let value) = values[position], value.hasChanges {
        positions.append(position)
      }
    }
    return positions
  }
}
