import OpenCoreData

/// What the entities and properties of a version of a model become in later versions.
///
/// They correspond as in an inferred mapping: by renaming identifier, or else by name. Each has one
/// successor in each version, at most. **Cost:** linear in the size of the models.
struct MigrationSuccessors {
  /// The names of an entity or property.
  private struct Names {
    let name: String
    /// The renaming identifier; `nil` if it's the name.
    let identifier: String?

    init(_ name: String?, _ identifier: String?) {
      self.name = name ?? ""
      self.identifier = identifier == name ? nil : identifier
    }
  }

  /// One version after another, each with the names of the entities of the version before it, by
  /// those of its own.
  private let hops: [(model: NSManagedObjectModel, stored: Set<String>, later: [String: String])]

  /// Creates the successors.
  ///
  /// - Parameters:
  ///   - source: The version of the stores.
  ///   - models: The versions to which they are migrated, one after another.
  ///   - configuration: The configuration of the stores; `nil` for all entities.
  init(
    of source: NSManagedObjectModel, in models: [NSManagedObjectModel], _ configuration: String?
  ) {
    hops = zip([source] + models, models).map { before, after in
      let names = [before, after].map { model in
        model.entities.map { Names($0.name, $0.renamingIdentifier) }
      }
      let stored = after.entities(forConfigurationName: configuration) ?? []
      return (after, Set(stored.compactMap(\.name)), Self.laterNames(of: names[0], in: names[1]))
    }
  }

  /// Returns the entity in each later version that an entity becomes; `nil` if stores lose it.
  func entities(of entity: NSEntityDescription) -> [NSEntityDescription]? {
    var found: [NSEntityDescription] = []
    var name = entity.name ?? ""
    for hop in hops {
      guard let next = hop.later[name], hop.stored.contains(next),
        let entity = hop.model.entitiesByName[next]
      else { return nil }
      found.append(entity)
      name = next
    }
    return found
  }

  /// Returns the names of an entity's properties that all later versions of it store.
  ///
  /// - Parameter later: The entity in each later version.
  func storedProperties(
    of entity: NSEntityDescription, in later: [NSEntityDescription]
  ) -> Set<String> {
    // The current names, by the first ones.
    var current = entity.propertiesByName.mapValues(\.name)
    for (before, after) in zip([entity] + later, later) {
      let names = [before, after].map { entity in
        entity.propertiesByName.values.map { Names($0.name, $0.renamingIdentifier) }
      }
      let (former, properties) = (before.propertiesByName, after.propertiesByName)
      let next = Self.laterNames(of: names[0], in: names[1]) { old, new in
        guard let old = former[old], let new = properties[new] else { return false }
        return Self.losesValues(old, new)
      }
      current = current.compactMapValues { next[$0] }.filter { _, name in
        properties[name].map(Self.isStored) ?? false
      }
    }
    return Set(current.keys)
  }

  private static func isStored(_ property: NSPropertyDescription) -> Bool {
    !property.isTransient && !(property is NSFetchedPropertyDescription)
  }

  // MARK: Names

  /// Returns the names of the members of a version that continue those of an earlier one, by their
  /// earlier names.
  ///
  /// - Parameter isObstacle: Whether two members can't correspond only because they have the same
  ///   name, if the later one has another identifier.
  private static func laterNames(
    of old: [Names], in new: [Names],
    unless isObstacle: (_ old: String, _ new: String) -> Bool = { _, _ in false }
  ) -> [String: String] {
    let old = old.sorted { $0.name < $1.name }
    let byName = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let byIdentifier = Dictionary(
      old.compactMap { member in member.identifier.map { ($0, member) } },
      uniquingKeysWith: { first, _ in first })
    func unrenamed(_ name: String) -> Names? {
      byName[name].flatMap { $0.identifier == nil ? $0 : nil }
    }
    var former: [String: String] = [:]
    var later: [String: String] = [:]
    func take(_ candidate: (Names) -> Names?) {
      for member in new.sorted(by: { $0.name < $1.name }) where former[member.name] == nil {
        guard let old = candidate(member), later[old.name] == nil else { continue }
        former[member.name] = old.name
        later[old.name] = member.name
      }
    }
    // The identifier is the name in the first version; without one, it's the current name. Another
    // member can have the first name of one that was renamed before.
    take { member in
      byName[member.name].flatMap {
        member.identifier != nil && member.identifier == $0.identifier ? $0 : nil
      }
    }
    take { $0.identifier.flatMap { byIdentifier[$0] } }
    take { $0.identifier.flatMap { unrenamed($0) } }
    take { $0.identifier == nil ? unrenamed($0.name) ?? byIdentifier[$0.name] : nil }
    // Some models have the name in the previous version as the identifier.
    take { $0.identifier.flatMap { byName[$0] } }
    // The identifier can be a name that a version in between had.
    take { member in
      byName[member.name].flatMap {
        member.identifier != nil && isObstacle($0.name, member.name) ? nil : $0
      }
    }
    return later
  }

  /// Returns whether a property can't keep the values of another one without a mapping model.
  private static func losesValues(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription
  ) -> Bool {
    guard isStored(old), isStored(new) else { return false }
    switch (old, new) {
    case (let old as NSAttributeDescription, let new as NSAttributeDescription):
      guard old.attributeType != new.attributeType else {
        return hasExternalValues(old) && !hasExternalValues(new)
      }
      let integers: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      ]
      let reals: [NSAttributeType] = [.doubleAttributeType, .floatAttributeType]
      let isInteger = (integers + [.booleanAttributeType]).contains(old.attributeType)
      return
        !(isInteger && integers.contains(new.attributeType)
        || (isInteger || reals.contains(old.attributeType)) && reals.contains(new.attributeType))
    case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
      return old.isToMany && !new.isToMany
    default: return true
    }
  }

  private static func hasExternalValues(_ attribute: NSAttributeDescription) -> Bool {
    let types: [NSAttributeType] = [.binaryDataAttributeType, .transformableAttributeType]
    return attribute.allowsExternalBinaryDataStorage && types.contains(attribute.attributeType)
  }
}
