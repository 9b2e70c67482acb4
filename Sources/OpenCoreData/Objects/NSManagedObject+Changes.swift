import ManagedModel

extension NSManagedObject {
  /// Tells the context that a property is being set.
  final func noteChange() {
    guard !state.contains(.awaking) else { return }
    context?.noteChange(of: self)
  }

  /// The new values of what differs from the last save or fetch, by property.
  ///
  /// Nil values are `NSNull`. An equal value that was set is not there. Fires nothing.
  public final func changedValues() -> [String: Any] {
    var result: [String: Any] = [:]
    for name in changedNames() {
      result[name] = value(forKey: name) ?? NSNull()
    }
    return result
  }

  /// The values at the last save or fetch, by property; nil asks for all attributes and to-one
  /// relationships.
  ///
  /// Nil values are `NSNull`. Fires the object when it is a fault.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    willAccess()
    var result: [String: Any] = [:]
    for slot in layout.slots where keys?.contains(slot.name) ?? true {
      if slot.kind.isToOne {
        result[slot.name] = committedDestination(slot) ?? NSNull()
      } else {
        result[slot.name] = row.value(slot) ?? NSNull()
      }
    }
    return result
  }

  /// Whether what would be saved differs from the last known state of the store.
  public final var hasPersistentChangedValues: Bool {
    changedNames().contains { name in
      if case .transient = place(of: name) { return false }
      return true
    }
  }

  /// The slots whose value differs from the row's, in order.
  final func changedSlots() -> [RowSlot] {
    guard state.contains(.overridden), let values else { return [] }
    return layout.slots.filter { values.isChanged($0.index) && !isEqualToRow($0) }
  }

  /// The numbers of the slots whose value differs from the row's, in order.
  final func changedSlotIndices() -> [Int] {
    guard state.contains(.overridden), let values else { return [] }
    var result: [Int] = []
    for slot in layout.slots where values.isChanged(slot.index) && !isEqualToRow(slot) {
      result.append(slot.index)
    }
    return result
  }

  /// The slot's value in raw form, as it would be saved.
  final func rawValue(_ slot: RowSlot) -> RowValue {
    guard let values, values.isChanged(slot.index) else { return row.rawValue(slot) }
    switch values[slot.index] {
    case .object(let object):
      let number = context?.entityNumber(of: object) ?? 0
      return .toOne(primaryKey: object.primaryKey, entityNumber: Int64(number))
    case .raw(let value): return value
    default: return .null
    }
  }

  private func changedNames() -> [String] {
    var names = changedSlots().map(\.name)
    for (index, relationship) in layout.toMany.enumerated() {
      if case .toMany(let value)? = values?[layout.holdingIndex(.toMany(index))], value.hasChanges {
        names.append(relationship.name)
      }
    }
    return names
  }

  private func committedDestination(_ slot: RowSlot) -> NSManagedObject? {
    guard let context, !row.isNull(slot) else { return nil }
    let entityNumber = slot.kind == .toOnePolymorphic ? row.entityNumber(slot) : 0
    return context.object(
      primaryKey: row.int64(slot), of: slot.relationship, entityNumber: entityNumber)
  }

  private func isEqualToRow(_ slot: RowSlot) -> Bool {
    rawValue(slot).isSame(as: row.rawValue(slot))
  }
}
