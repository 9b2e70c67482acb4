import ManagedModel

// The instances that a mapping can create, and the values that their attributes take.

extension EntityMappingPlan {
  /// Checks that an attribute, and each element of a composite attribute, takes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - name: The name of the attribute.
  ///   - position: The position of the attribute.
  ///   - object: The destination instance.
  /// - Throws: 134110 for a value that isn't of the attribute's type, or that it can't represent.
  func check(
    _ value: Any?, for name: String, at position: PropertyPosition, _ object: NSManagedObject
  ) throws {
    switch position {
    case .slot(let index): try check(value, for: object.layout.slots[index], object)
    case .composite(let index):
      guard let leaves = try? object.layout.spread(value, over: index) else {
        throw mismatch(name, value)
      }
      for leaf in leaves { try check(leaf.value, for: leaf.slot, object) }
    case .toMany, .transient: return
    }
  }

  /// Returns the error for a source instance of which no instance can be created, because the
  /// destination entity is abstract.
  func abstractDestination(_ source: NSManagedObject) -> NSError {
    let (former, entity) = (source.entity.name ?? "", destination?.name ?? "")
    return NSError.coreData(
      NSMigrationError,
      "The entity mapping \(name) can't create an instance of \(entity) for one of \(former): \(entity) is "
        + "abstract. Leave it concrete, or map \(former) to a subentity.",
      ["entity": entity])
  }

  private func check(_ value: Any?, for slot: RowSlot, _ object: NSManagedObject) throws {
    guard object.layout.transformer(slot) == nil else { return }
    guard slot.kind.canRepresent(value) else {
      throw failure(
        slot.name, "has a type that can't represent \(value ?? "nil"). Keep the wider type")
    }
    guard RowValue(value, kind: slot.kind) != nil else { throw mismatch(slot.name, value) }
  }

  private func mismatch(_ property: String, _ value: Any?) -> NSError {
    let rejected = value.map { "a value of type \(type(of: $0))" } ?? "nil"
    return failure(
      property,
      "can't be set to \(rejected): convert the value in the mapping's expression or in a policy")
  }
}

// Values of a key of the source instance, which need no evaluation.

extension EntityMappingPlan {
  /// Returns the key path in an expression such as `$source.name`; `nil` for any other.
  private static func keyPath(_ expression: NSExpression) -> String? {
    guard case .path(let operand, let path) = expression.node,
      case .variable(NSMigrationSourceObjectKey) = operand.node,
      case .keyPath(let keyPath) = path.node
    else { return nil }
    return keyPath.text
  }

  /// Returns the slots of an attribute that is copied without conversion; `nil` for any other.
  ///
  /// The bytes of a transformable attribute are if it keeps its transformer.
  static func slots(
    _ before: EntityLayout?, _ after: EntityLayout, _ position: PropertyPosition,
    _ expression: NSExpression
  ) -> (RowSlot, RowSlot)? {
    guard let key = keyPath(expression), let before, case .slot(let index) = position,
      case .slot(let former)? = before.position(of: key)
    else { return nil }
    let (from, to) = (before.slots[former], after.slots[index])
    guard from.kind == to.kind, ![.external, .toOne, .toOnePolymorphic].contains(from.kind) else {
      return nil
    }
    let names = [from, to].map { ($0.property as? NSAttributeDescription)?.valueTransformerName }
    return from.kind == .transformable && names[0] != names[1] ? nil : (from, to)
  }

  /// Returns the key of a source attribute whose values a transformable attribute gets; `nil` for
  /// any other expression.
  ///
  /// The value of an expression isn't always of the same type: an index set would become a set.
  static func transformableKey(
    _ source: NSEntityDescription?, _ attribute: NSAttributeDescription, _ expression: NSExpression
  ) -> String? {
    guard attribute.attributeType == .transformableAttributeType, let key = keyPath(expression),
      source?.attributesByName[key] != nil
    else { return nil }
    return key
  }
}
