import ManagedModel
internal import Synchronization

/// Finds the properties that Swift key paths of managed object classes read.
///
/// A key path has no name. It's evaluated for objects without a context: the property is the only
/// one whose value it returns, and the only one that affects the result.
struct SwiftKeyNames {
  private let model: NSManagedObjectModel?
  let entity: NSEntityDescription

  init(_ entity: NSEntityDescription) {
    self.entity = entity
    model = entity.managedObjectModel
  }

  /// Returns the name of the property that a key path reads.
  ///
  /// - Parameter owner: The class the key path starts at.
  /// - Throws: An error if it reads no property or several, or a computed value.
  func name<Object>(of keyPath: PartialKeyPath<Object>, in owner: Object.Type) throws -> String {
    try name(ofAny: keyPath, in: owner)
  }

  /// Returns the name for a key path whose types aren't known to the compiler.
  func name(ofAny keyPath: AnyKeyPath, in owner: Any.Type) throws -> String {
    guard let type = owner as? NSManagedObject.Type, let entity = entity(of: type) else {
      throw NSError.fetch(
        "\(owner) isn't a class of an entity of this model, so the key path \(keyPath) has no name."
      )
    }
    let key = CacheKey(keyPath: keyPath, entity: entity.name ?? "")
    if let found = Self.cache.withLock({ $0[key] }) { return found }
    for length in 1...Self.longestPath {
      guard let name = name(of: keyPath, from: entity, length) else { continue }
      Self.cache.withLock { cache in
        if cache.count >= 1_000 { cache.removeAll() }
        cache[key] = name
      }
      return name
    }
    throw NSError.fetch(
      "The key path \(keyPath) of \(owner) isn't a property of the entity '\(entity.name ?? "")'. Use "
        + "a property of the model, or of an object at the end of up to \(Self.longestPath - 1) to-one "
        + "relationships.")
  }

  /// The maximum number of properties in a key path.
  private static let longestPath = 3

  private struct CacheKey: Hashable, @unchecked Sendable {  // a key path never changes
    let keyPath: AnyKeyPath
    let entity: String
  }

  /// The names found so far: finding one creates dozens of objects.
  private static let cache = Mutex<[CacheKey: String]>([:])

  /// Returns the key path with a number of keys whose value a Swift key path returns; `nil` if
  /// there's none.
  private func name(
    of keyPath: AnyKeyPath, from entity: NSEntityDescription, _ length: Int
  ) -> String? {
    for path in properties(entity, length) {
      guard let last = path.last, let (first, second) = examples(of: last) else { continue }
      let shown = [first, second].allSatisfy { value in
        let made = ExampleObjects(self)
        // Examples that refer to each other would retain each other.
        defer { made.dropRelated() }
        guard let root = made.object(entity, showing: value, at: path[...], depth: Self.longestPath)
        else { return false }
        return (root as Any)[keyPath: keyPath].map { isShown(value, $0) } ?? false
      }
      if shown { return path.map(\.name).joined(separator: ".") }
    }
    return nil
  }

  /// Returns the chains of a number of properties, to-one relationships before the last.
  private func properties(
    _ entity: NSEntityDescription, _ length: Int
  ) -> [[NSPropertyDescription]] {
    let own = entity.propertiesByName.values.sortedByName()
    guard length > 1 else { return own.map { [$0] } }
    return own.flatMap { property -> [[NSPropertyDescription]] in
      guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany,
        let destination = relationship.destinationEntity
      else { return [] }
      return properties(destination, length - 1).map { [property] + $0 }
    }
  }

  private func entity(of type: NSManagedObject.Type) -> NSEntityDescription? {
    if EntityLayout.of(entity).objectClass == type { return entity }
    let candidates = (model?.entities ?? []).filter { EntityLayout.of($0).objectClass == type }
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// Returns two values of the property's type; `nil` for a type with custom values.
  fileprivate func examples(of property: NSPropertyDescription) -> (Any, Any)? {
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

  fileprivate func example(of entity: NSEntityDescription) -> NSManagedObject? {
    let concrete = entity.withSubentities.first { !$0.isAbstract }
    return concrete.map { EntityLayout.of($0).objectClass.init(entity: $0, insertInto: nil) }
  }

  /// Returns whether the result of a key path is the value that the property was set to.
  private func isShown(_ value: Any, _ shown: Any) -> Bool {
    let shown = (shown as? any ManagedValue)?.managedValue ?? shown
    switch value {
    // Objects that were never saved differ only by instance.
    case let object as NSManagedObject: return shown as? NSManagedObject === object
    case let objects as Set<NSManagedObject>:
      let shown = shown as? Set<NSManagedObject> ?? []
      return Set(shown.map(ObjectIdentifier.init)) == Set(objects.map(ObjectIdentifier.init))
    default: return PredicateValue(value) == PredicateValue(shown)
    }
  }
}

/// Objects without a context for which key paths are evaluated.
private final class ExampleObjects {
  private let names: SwiftKeyNames
  private var made: [NSManagedObject] = []

  init(_ names: SwiftKeyNames) {
    self.names = names
  }

  func dropRelated() {
    for object in made { object.dropRelated() }
  }

  /// Returns an object whose property at the end of a path has a value.
  ///
  /// All others have some value, because a class may read them as nonoptional.
  func object(
    _ entity: NSEntityDescription, showing value: Any, at path: ArraySlice<NSPropertyDescription>,
    depth: Int
  ) -> NSManagedObject? {
    guard let object = filled(entity, depth: depth), let property = path.first else { return nil }
    guard path.count > 1 else {
      object.setValue(value, forKey: property.name)
      return object
    }
    guard
      let destination = (property as? NSRelationshipDescription)?.destinationEntity,
      let next = self.object(
        destination, showing: value, at: path.dropFirst(), depth: depth - 1)
    else { return nil }
    object.setValue(next, forKey: property.name)
    return object
  }

  /// Returns an object with a value for each property, and for those of its to-one relationships'
  /// objects.
  private func filled(_ entity: NSEntityDescription, depth: Int) -> NSManagedObject? {
    guard let object = names.example(of: entity) else { return nil }
    made.append(object)
    for property in object.entity.propertiesByName.values {
      if let relationship = property as? NSRelationshipDescription {
        guard depth > 1, !relationship.isToMany, let entity = relationship.destinationEntity,
          let destination = filled(entity, depth: depth - 1)
        else { continue }
        object.setValue(destination, forKey: property.name)
      } else if let (first, _) = names.examples(of: property) {
        object.setValue(first, forKey: property.name)
      }
    }
    return object
  }
}
