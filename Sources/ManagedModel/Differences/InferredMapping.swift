/// The mapping between two versions of a model that lightweight migration uses.
///
/// Entities and properties correspond as in `ModelComparison`: by renaming identifier, or else by
/// name. **Cost:** linear in the size of the models, without I/O.
package struct InferredMapping {
  /// The mapping of a property.
  package struct Property {
    /// The property of the source entity, which may be inherited; `nil` for an added property.
    package let source: NSPropertyDescription?
    /// The property of the destination entity, which may be inherited; `nil` for a removed
    /// property.
    package let destination: NSPropertyDescription?

    /// The mappings of the elements of a composite attribute: those of the destination by name,
    /// then removed ones; empty for other properties.
    package var elements: [Property] {
      guard let former = source as? NSCompositeAttributeDescription,
        let later = destination as? NSCompositeAttributeDescription
      else { return [] }
      let pairs = RenamingMatch.elements(of: former, later)
      let formers = Dictionary(
        pairs.map { (ObjectIdentifier($0.new), $0.old) }, uniquingKeysWith: { first, _ in first })
      let kept = Set(pairs.map { ObjectIdentifier($0.old) })
      return later.elements.sortedByName()
        .map { Property(source: formers[ObjectIdentifier($0)], destination: $0) }
        + former.elements.sortedByName()
        .filter { !kept.contains(ObjectIdentifier($0)) }
        .map { Property(source: $0, destination: nil) }
    }

    /// Returns the value of a composite attribute for that of its source.
    ///
    /// Added elements, and those of added nested composites, get their default values. A value that
    /// isn't a dictionary is returned as it is.
    /// - Parameters:
    ///   - value: A dictionary by element name, or `nil`.
    ///   - elements: The mappings of the elements; none for a value to be returned as it is.
    package static func carried(_ value: Any?, by elements: [Property]) -> Any? {
      guard !elements.isEmpty, value == nil || value is [String: Any] else { return value }
      let former = value as? [String: Any] ?? [:]
      var result: [String: Any] = [:]
      for element in elements {
        guard let later = element.destination as? NSAttributeDescription else { continue }
        guard let source = element.source else {
          let added: Any? =
            (later as? NSCompositeAttributeDescription)?.initialValue ?? later.typedDefaultValue
          result[later.name] = added
          continue
        }
        result[later.name] = carried(former[source.name], by: element.elements)
      }
      return result.isEmpty ? nil : result
    }
  }

  /// The mapping of an entity.
  package struct Entity {
    /// The entity of the source model; `nil` for an added entity.
    package let source: NSEntityDescription?
    /// The entity of the destination model; `nil` for a removed entity.
    package let destination: NSEntityDescription?
    /// All properties, including inherited ones: those of the destination by name, then removed
    /// ones.
    package let properties: [Property]

    /// Returns the name of the source property whose values a destination property gets, or `nil`
    /// for an added property.
    ///
    /// - Parameter name: The destination's name, or the path of an element of a composite
    ///   attribute, such as `address.city`.
    package func sourceName(of name: String) -> String? { formerNames[name] }

    fileprivate let formerNames: [String: String]
  }

  /// The model of the stores to migrate.
  package let source: NSManagedObjectModel
  /// The model that the migrated stores have.
  package let destination: NSManagedObjectModel
  /// The entities of the destination by name, followed by the removed ones.
  package let entities: [Entity]
  /// The differences that lightweight migration doesn't support, each with its reason; empty if the
  /// mapping can be used.
  package let obstacles: [ModelDifference]

  /// Returns the obstacles for a store that contains only the entities of a configuration.
  ///
  /// - Parameter configuration: The configuration of both models, or of the one that has it; `nil`
  ///   for all entities.
  package func obstacles(in configuration: String?) -> [ModelDifference] {
    let known = [source, destination].compactMap {
      $0.entities(forConfigurationName: configuration)
    }
    guard configuration != nil, !known.isEmpty else { return obstacles }
    let stored = Set(known.flatMap(\.self).compactMap(\.name))
    return obstacles.filter { $0.entity.map(stored.contains) ?? true }
  }

  /// Creates the inferred mapping between two models.
  package init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    let comparison = ModelComparison(from: source, to: destination)
    self.source = source
    self.destination = destination
    obstacles = comparison.differences.filter { $0.effect == .custom }
    let later = destination.entities.sortedByName()
    let former = later.map { comparison.formerEntities[ObjectIdentifier($0)] }
    let removed = source.entities
      .filter { comparison.laterEntities[ObjectIdentifier($0)] == nil }
      .sortedByName()
    entities =
      zip(former, later).map { Entity(from: $0, to: $1) }
      + removed.map { Entity(from: $0, to: nil) }
  }

  /// Creates the mapping of a model to itself, which keeps each entity and each property.
  package init(keeping model: NSManagedObjectModel) {
    source = model
    destination = model
    obstacles = []
    entities = model.entities.sortedByName().map(
      Entity.init(keeping:))
  }
}

extension InferredMapping {
  /// Returns whether only the inverse of a relationship continues all pairs of objects.
  ///
  /// This is the case if subentities declared the inverse separately before, each with an inverse
  /// of its own, of which the relationship continues only some.
  /// - Parameters:
  ///   - own: The relationships of the source that the relationship continues.
  ///   - others: The relationships of the source that its inverse continues.
  package static func lacksPairs(
    _ own: [NSRelationshipDescription], ofInverse others: [NSRelationshipDescription]
  ) -> Bool {
    func isPaired(
      _ former: NSRelationshipDescription, among known: [NSRelationshipDescription]
    ) -> Bool {
      guard let inverse = former.inverseRelationship else { return false }
      return known.contains { $0 === inverse }
    }
    return others.count > 1 && !others.allSatisfy { isPaired($0, among: own) }
      && own.allSatisfy { isPaired($0, among: others) }
  }

  /// The stored relationships of the source that each relationship of the destination continues.
  ///
  /// **Cost:** linear in the properties of all entities.
  package var formerRelationships: [ObjectIdentifier: [NSRelationshipDescription]] {
    var formers: [ObjectIdentifier: [NSRelationshipDescription]] = [:]
    for property in entities.flatMap(\.properties) {
      guard let later = property.destination as? NSRelationshipDescription,
        let former = property.source as? NSRelationshipDescription, !former.isTransient
      else { continue }
      let known = formers[ObjectIdentifier(later)] ?? []
      guard !known.contains(where: { $0 === former }) else { continue }
      formers[ObjectIdentifier(later)] = known + [former]
    }
    return formers
  }
}

extension InferredMapping.Entity {
  fileprivate init(keeping entity: NSEntityDescription) {
    (source, destination) = (entity, entity)
    properties = Self.properties(of: entity).map {
      InferredMapping.Property(source: $0, destination: $0)
    }
    formerNames = Self.formerNames(properties)
  }

  fileprivate init(from source: NSEntityDescription?, to destination: NSEntityDescription?) {
    self.source = source
    self.destination = destination
    let before = Self.properties(of: source)
    let after = Self.properties(of: destination)
    let pairs =
      if let source, let destination { RenamingMatch.properties(of: source, destination) } else {
        [(old: NSPropertyDescription, new: NSPropertyDescription)]()
      }
    let former = Dictionary(
      pairs.map { (ObjectIdentifier($0.new), $0.old) }, uniquingKeysWith: { first, _ in first })
    let kept = Set(pairs.map { ObjectIdentifier($0.old) })
    properties =
      after.map { property in
        InferredMapping.Property(
          source: former[ObjectIdentifier(property)], destination: property)
      }
      + before.filter { !kept.contains(ObjectIdentifier($0)) }
      .map { InferredMapping.Property(source: $0, destination: nil) }
    formerNames = Self.formerNames(properties)
  }

  /// Returns the former names of properties, and the former paths of the elements of composite
  /// attributes, by their later ones.
  private static func formerNames(
    _ properties: [InferredMapping.Property], _ former: String = "", _ later: String = ""
  ) -> [String: String] {
    var names: [String: String] = [:]
    for property in properties {
      guard let source = property.source, let destination = property.destination else { continue }
      let paths = (former: former + source.name, later: later + destination.name)
      names[paths.later] = paths.former
      let elements = formerNames(property.elements, paths.former + ".", paths.later + ".")
      names.merge(elements) { first, _ in first }
    }
    return names
  }

  private static func properties(of entity: NSEntityDescription?) -> [NSPropertyDescription] {
    (entity?.propertiesByName.values).map { $0.sortedByName() } ?? []
  }
}

extension NSAttributeType {
  /// Returns whether lightweight migration converts values to another type.
  ///
  /// Numbers and Booleans are converted to types that can represent them. A value that a narrower
  /// type can't represent makes the migration of a store fail.
  package func isConvertedByInference(to type: NSAttributeType) -> Bool {
    let integers: [NSAttributeType] = [
      .booleanAttributeType, .integer16AttributeType, .integer32AttributeType,
      .integer64AttributeType,
    ]
    let reals: [NSAttributeType] = [.doubleAttributeType, .floatAttributeType]
    if integers.contains(self) {
      return (integers + reals).contains(type) && type != .booleanAttributeType
    }
    return reals.contains(self) && reals.contains(type)
  }
}
