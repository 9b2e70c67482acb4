package import ManagedModel

/// Looks up names in a model; errors suggest the name that was probably intended.
package struct ModelNames: Sendable {
  package let model: NSManagedObjectModel
  /// The configuration of the model that the store contains; `nil` for all entities.
  package let configuration: String?

  package init(_ model: NSManagedObjectModel, configuration: String? = nil) {
    self.model = model
    self.configuration = configuration
  }

  /// The names of the entities that the store can contain, in alphabetical order.
  package var entities: [String] {
    guard configuration != nil else { return model.entitiesByName.keys.sorted() }
    return model.entitiesInNumberingOrder(of: configuration).compactMap(\.name).sorted()
  }

  /// The entities that the store can contain in the order of `entityTree`, with their depth.
  package var tree: [(depth: Int, entity: NSEntityDescription)] {
    guard configuration != nil else { return model.entityTree }
    let stored = Set(entities)
    return model.entityTree.filter { stored.contains($0.entity.name ?? "") }
  }

  /// Returns the entity with a name.
  ///
  /// - Throws: A problem at the name if there's no such entity, or if the store can't contain it.
  package func entity(
    _ name: String, at range: SourceRange
  ) throws(LanguageProblem) -> NSEntityDescription {
    let entity = model.entitiesByName[name]
    if let entity, configuration == nil || entities.contains(name) { return entity }
    let owner =
      if entity != nil, let configuration {
        "the store contains only the configuration \(configuration), which"
      } else {
        "the model"
      }
    throw LanguageProblem(
      "\(owner) has no entity `\(name)`", at: range,
      didYouMean: NearestName.of(name, among: entities),
      nextStep: "its entities are: \(ModelNames.list(entities))")
  }

  /// Returns the relationships of a key path and the property at its end.
  ///
  /// - Parameters:
  ///   - keyPath: The key path, such as `date` or `country.continent.updatedAt`.
  ///   - entity: The entity at which the key path starts.
  ///   - range: The source range of the key path's first character.
  /// - Throws: A problem at the first key that isn't a property, or that is an attribute but not
  ///   the last key.
  package func resolve(
    _ keyPath: String, from entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) -> ResolvedPath {
    var path = ResolvedPath(steps: [], last: nil)
    var owner = entity
    var offset = 0
    let parts = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for (index, part) in parts.enumerated() {
      let partRange = range.part(at: offset, length: part.count)
      offset += part.count + 1
      let property =
        if let group = path.last as? NSCompositeAttributeDescription {
          try element(part, of: group, at: partRange)
        } else {
          try property(part, of: owner, at: partRange)
        }
      path.last = property
      guard index < parts.count - 1 else { break }
      if property is NSCompositeAttributeDescription { continue }
      guard let relationship = property as? NSRelationshipDescription,
        let destination = relationship.destinationEntity
      else {
        throw LanguageProblem(
          "`\(part)` is an attribute; a key path can't continue past it", at: partRange,
          nextStep: "end the key path here")
      }
      path.steps.append(relationship)
      owner = destination
    }
    return path
  }

  /// Returns the relationships of a key path and the property at its end, like
  /// `resolve(_:from:at:)`.
  ///
  /// - Throws: The errors of `resolve(_:from:at:)`; for `articles.count` and similar key paths, a
  ///   problem that suggests `@count`.
  package func resolveRead(
    _ keyPath: String, from entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) -> ResolvedPath {
    do {
      return try resolve(keyPath, from: entity, at: range)
    } catch {
      throw lengthProblem(keyPath, from: entity, at: range) ?? error
    }
  }

  /// Returns a problem that suggests `@count` for `articles.count`, `articles.size`, and similar
  /// key paths, or `nil` for any other key path.
  private func lengthProblem(
    _ keyPath: String, from entity: NSEntityDescription, at range: SourceRange
  ) -> LanguageProblem? {
    guard let dot = keyPath.lastIndex(of: ".") else { return nil }
    let owner = String(keyPath[..<dot])
    let asked = String(keyPath[keyPath.index(after: dot)...])
    guard asked.hasPrefix("@") || ["count", "size", "length"].contains(asked.lowercased()),
      let last = try? resolve(owner, from: entity, at: range).last,
      let relationship = last as? NSRelationshipDescription, relationship.isToMany
    else { return nil }
    return LanguageProblem(
      "`\(asked)` isn't a property of \(relationship.destinationEntity?.name ?? "the destination")",
      at: range.part(at: owner.count + 1, length: asked.count), didYouMean: "\(owner).@count",
      nextStep: "the number of objects in a to-many relationship is `@count`")
  }

  /// Returns a property of an entity, including inherited ones.
  ///
  /// - Throws: A problem at the name if there's no such property.
  package func property(
    _ name: String, of entity: NSEntityDescription, at range: SourceRange
  ) throws(LanguageProblem) -> NSPropertyDescription {
    if let property = entity.propertiesByName[name] { return property }
    let known = entity.propertiesByName.keys.sorted()
    throw LanguageProblem(
      "\(entity.name ?? "the entity") has no property `\(name)`", at: range,
      didYouMean: NearestName.of(name, among: known),
      nextStep: "its properties are: \(ModelNames.list(known))")
  }

  /// Returns an element of a composite attribute.
  private func element(
    _ name: String, of group: NSCompositeAttributeDescription, at range: SourceRange
  ) throws(LanguageProblem) -> NSPropertyDescription {
    if let element = group.elements.first(where: { $0.name == name }) { return element }
    let known = group.elements.map(\.name).sorted()
    throw LanguageProblem(
      "`\(group.name)` has no element `\(name)`", at: range,
      didYouMean: NearestName.of(name, among: known),
      nextStep: "its elements are: \(ModelNames.list(known))")
  }

  /// Returns a list of words, shortened after 24 of them.
  package static func list(_ words: [String]) -> String {
    guard !words.isEmpty else { return "none" }
    let shown = words.prefix(24).joined(separator: ", ")
    return words.count > 24 ? "\(shown) and \(words.count - 24) more" : shown
  }
}

/// A key path as properties of a model.
package struct ResolvedPath: Sendable {
  /// The relationships before the last key.
  package var steps: [NSRelationshipDescription]
  /// The property at the end; `nil` only for a path without parts.
  package var last: NSPropertyDescription?

  package init(steps: [NSRelationshipDescription], last: NSPropertyDescription?) {
    self.steps = steps
    self.last = last
  }

  /// Whether any of the relationships is to-many.
  package var passesToMany: Bool {
    steps.contains(where: \.isToMany)
  }
}

extension NSEntityDescription {
  /// The names of the entity and of all its subentities.
  package var namesWithSubentities: [String] {
    withSubentities.map { $0.name ?? "" }
  }

  /// The names of the entity and of all its subentities, without abstract ones.
  package var concreteEntityNames: [String] {
    withSubentities.filter { !$0.isAbstract }.map { $0.name ?? "" }
  }

  /// The relationships that the entity itself declares, sorted by name.
  package var ownRelationships: [NSRelationshipDescription] {
    relationshipsByName.values.filter { $0.entity === self }.sortedByName()
  }

  /// The attributes that the entity itself declares, sorted by name.
  package var ownAttributes: [NSAttributeDescription] {
    attributesByName.values.filter { $0.entity === self }.sortedByName()
  }
}

extension NSManagedObjectModel {
  /// The entities in the order of their hierarchy, alphabetically on each level, with their depth.
  package var entityTree: [(depth: Int, entity: NSEntityDescription)] {
    func branch(
      _ entities: [NSEntityDescription], _ depth: Int
    ) -> [(depth: Int, entity: NSEntityDescription)] {
      entities.sortedByName()
        .flatMap { [(depth, $0)] + branch($0.subentities, depth + 1) }
    }
    return branch(entities.filter { $0.superentity == nil }, 0)
  }
}
