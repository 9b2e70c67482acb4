import ManagedModel

/// The properties that Swift key paths of managed object classes stand for.
///
/// A key path does not tell its name. It is tried out on objects that belong to no context: the
/// property is the one whose value it shows, and no other changes what it shows.
struct SwiftKeyNames {
  private let model: NSManagedObjectModel?
  let entity: NSEntityDescription

  init(_ entity: NSEntityDescription) {
    self.entity = entity
    model = entity.managedObjectModel
  }

  /// The name of the property that a key path reads.
  ///
  /// - Parameter owner: The class the key path starts at.
  /// - Throws: An error that says that it reads none, or more than one, or changes what it reads.
  func name<Object>(of keyPath: PartialKeyPath<Object>, in owner: Object.Type) throws -> String {
    guard let type = owner as? NSManagedObject.Type, let entity = entity(of: type) else {
      throw NSError.fetch(
        "#Predicate: \(owner) is no class of an entity of this model, so that the key path "
          + "\(keyPath) has no name.")
    }
    for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name }) {
      guard let (first, second) = examples(of: property) else { continue }
      var made: [NSManagedObject] = []
      // Examples that lead to each other would hold each other for ever.
      defer { for object in made { object.dropRelated() } }
      let objects = [first, second].compactMap { value -> Object? in
        let object = type.init(entity: entity, insertInto: nil)
        made.append(object)
        fillRequired(object, entity)
        object.setValue(value, forKey: property.name)
        return object as? Object
      }
      guard objects.count == 2 else { continue }
      if isShown(first, objects[0][keyPath: keyPath]),
        isShown(second, objects[1][keyPath: keyPath])
      {
        return property.name
      }
    }
    throw NSError.fetch(
      "#Predicate: the key path \(keyPath) of \(owner) is no property of the entity "
        + "'\(entity.name ?? "")'. Use a property of the model.")
  }

  private func entity(of type: NSManagedObject.Type) -> NSEntityDescription? {
    if EntityLayout.of(entity).objectClass == type { return entity }
    let candidates = (model?.entities ?? []).filter { EntityLayout.of($0).objectClass == type }
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// Gives properties that may not be nil a value, for a class may read one as such.
  private func fillRequired(_ object: NSManagedObject, _ entity: NSEntityDescription) {
    for property in entity.propertiesByName.values {
      if let (first, _) = examples(of: property), !(first is Set<NSManagedObject>) {
        object.setValue(first, forKey: property.name)
      }
    }
  }

  /// Two values of the property's type; nil for a type whose values only the application knows.
  private func examples(of property: NSPropertyDescription) -> (Any, Any)? {
    if let relationship = property as? NSRelationshipDescription {
      guard let destination = relationship.destinationEntity, !relationship.isOrdered,
        let first = example(of: destination), let second = example(of: destination)
      else { return nil }
      return relationship.isToMany
        ? (Set([first]), Set([second])) : (first, second)
    }
    guard let attribute = property as? NSAttributeDescription else { return nil }
    return switch attribute.attributeType {
    case .integer16AttributeType: (Int16(11), Int16(12))
    case .integer32AttributeType: (Int32(11), Int32(12))
    case .integer64AttributeType: (Int64(11), Int64(12))
    case .booleanAttributeType: (true, false)
    case .doubleAttributeType: (11.5, 12.5)
    case .floatAttributeType: (Float(11.5), Float(12.5))
    case .decimalAttributeType: (Decimal(11), Decimal(12))
    case .stringAttributeType: ("first", "second")
    case .dateAttributeType:
      (Date(timeIntervalSinceReferenceDate: 11), Date(timeIntervalSinceReferenceDate: 12))
    case .binaryDataAttributeType: (Data([11]), Data([12]))
    case .UUIDAttributeType: (UUID(), UUID())
    case .URIAttributeType: (URL(fileURLWithPath: "/first"), URL(fileURLWithPath: "/second"))
    default: nil
    }
  }

  private func example(of entity: NSEntityDescription) -> NSManagedObject? {
    let concrete = entity.withSubentities.first { !$0.isAbstract }
    return concrete.map { EntityLayout.of($0).objectClass.init(entity: $0, insertInto: nil) }
  }

  /// Whether what a key path shows is the value that the property was given.
  private func isShown(_ value: Any, _ shown: Any) -> Bool {
    let shown = (shown as? any ManagedValue)?.managedValue ?? shown
    switch value {
    // Objects that were never saved are told apart by their instances alone.
    case let object as NSManagedObject: return shown as? NSManagedObject === object
    case let objects as Set<NSManagedObject>:
      let shown = shown as? Set<NSManagedObject> ?? []
      return Set(shown.map(ObjectIdentifier.init)) == Set(objects.map(ObjectIdentifier.init))
    default: return PredicateValue(value) == PredicateValue(shown)
    }
  }
}
