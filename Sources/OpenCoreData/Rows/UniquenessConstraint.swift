import ManagedModel
import SQLiteDriver

/// A uniqueness constraint for the objects of one entity.
struct UniquenessConstraint: @unchecked Sendable {
  // descriptions are frozen before layouts are made
  let names: [String]
  /// The constrained slots, in the order of the names.
  let slots: [Int]
  /// The entity whose rows, with those of its subentities, share the constraint: the topmost that
  /// has all the properties.
  ///
  /// Not retained: the layout retains the entity, which retains its ancestors.
  unowned(unsafe) let scope: NSEntityDescription

  /// Returns the constraints of an entity, including inherited ones, each once.
  static func all(
    of entity: NSEntityDescription, slot: (String) -> Int?
  ) -> [UniquenessConstraint] {
    var found: [UniquenessConstraint] = []
    var level: NSEntityDescription? = entity
    while let declaring = level {
      for names in declaring.uniquenessConstraintNames where !names.isEmpty {
        let slots = names.compactMap(slot)
        // A constraint on a property that isn't stored can't be enforced.
        guard slots.count == names.count else { continue }
        let scope = declaring.topmostEntity(with: names)
        if !found.contains(where: { $0.names == names && $0.scope === scope }) {
          found.append(UniquenessConstraint(names: names, slots: slots, scope: scope))
        }
      }
      level = declaring.superentity
    }
    return found
  }

  /// Returns the values that must be unique; `nil` if one of them is `nil`, which never conflicts.
  func key(_ value: (Int) -> RowValue) -> ConstraintKey? {
    var values: [SQLiteValue] = []
    values.reserveCapacity(slots.count)
    for slot in slots {
      switch value(slot) {
      case .null: return nil
      // Bytewise, as the store compares: canonically equal strings are different values.
      case .text(let text): values.append(.blob(Array(text.utf8)))
      case let value: values.append(value.sqliteValue)
      }
    }
    return ConstraintKey(scope: ObjectIdentifier(scope), slots: slots, values: values)
  }
}

/// Values that can exist only once within an entity.
struct ConstraintKey: Hashable {
  let scope: ObjectIdentifier
  let slots: [Int]
  let values: [SQLiteValue]
}

extension NSEntityDescription {
  /// Returns the topmost entity that has all of some properties of this one: its rows, with those
  /// of its subentities, share a uniqueness constraint on them.
  package final func topmostEntity(with names: [String]) -> NSEntityDescription {
    var topmost = self
    while let parent = topmost.superentity,
      names.allSatisfy({ parent.propertiesByName[$0] != nil })
    {
      topmost = parent
    }
    return topmost
  }
}
