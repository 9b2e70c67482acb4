import ManagedModel

extension NSMappingModel {
  /// Infers the mapping model between two versions of a model, as lightweight migration does.
  ///
  /// Entities and properties correspond by renaming identifier, or else by name. The names of the
  /// entity mappings begin with `IEM_Add`, `IEM_Remove`, `IEM_Copy`, or `IEM_Transform`, as Core
  /// Data's do. Edit the mapping model, for example to set a policy, and pass it to an
  /// `NSMigrationManager`. **Cost:** linear in the size of the models, without I/O.
  ///
  /// - Throws: 134190 if a change can't be inferred, with each entity, property, and reason.
  public class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    let inferred = InferredMapping(from: sourceModel, to: destinationModel)
    guard inferred.obstacles.isEmpty else { throw NSError.notInferable(inferred.obstacles) }
    return NSMappingModel(inferred)
  }

  /// Creates the mapping model of an inferred mapping.
  convenience init(_ inferred: InferredMapping) {
    self.init()
    let formers = inferred.formerRelationships
    entityMappings = inferred.entities.filter { entity in
      // An abstract entity has no instances of its own.
      !(entity.source?.isAbstract ?? true && entity.destination?.isAbstract ?? true)
    }.map { $0.mapping(formers) }
  }
}

extension NSMappingModel {
  /// Returns whether inferring a mapping model creates a store with the same contents.
  ///
  /// This is the case if it has no policies, and if each mapping and each expression is also in the
  /// inferred mapping model. **Cost:** linear in the size of the models.
  package func isInferable(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> Bool {
    guard
      let inferred = try? NSMappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: destination)
    else { return false }
    let mappings = (entityMappings ?? []).filter { $0.destinationEntityName != nil }
    let wanted = (inferred.entityMappings ?? []).filter { $0.destinationEntityName != nil }
    guard mappings.count == wanted.count else { return false }
    return wanted.allSatisfy { other in
      let same = mappings.filter {
        $0.sourceEntityName == other.sourceEntityName
          && $0.destinationEntityName == other.destinationEntityName
      }
      guard let mapping = same.first, same.count == 1,
        mapping.entityMigrationPolicyClassName == nil,
        mapping.sourceExpression?.description == other.sourceExpression?.description
      else { return false }
      return Self.texts(of: mapping.attributeMappings) == Self.texts(of: other.attributeMappings)
        && relationships(of: mapping, from: source)
          == relationships(of: other, from: source)
    }
  }

  /// Returns the expressions by property; properties without one get their default value.
  private static func texts(of mappings: [NSPropertyMapping]?) -> [String: String] {
    (mappings ?? []).reduce(into: [:]) { texts, mapping in
      texts[mapping.name ?? ""] = mapping.valueExpression?.description
    }
  }

  /// Returns the expressions of relationships by name, with the two ways to express the destination
  /// instances of a source relationship as one.
  private func relationships(
    of mapping: NSEntityMapping, from model: NSManagedObjectModel
  ) -> [String: String] {
    let source = mapping.sourceEntityName.flatMap { model.entitiesByName[$0] }
    var texts = Self.texts(of: mapping.relationshipMappings)
    for (name, relationship) in source?.relationshipsByName ?? [:] {
      let destination = relationship.destinationEntity?.name
      let related = (entityMappings ?? []).first { $0.sourceEntityName == destination }
      let byMapping = MappingExpression.instances(
        ofMapping: related?.name ?? "", MappingExpression.source(name)
      ).description
      let plain = MappingExpression.instances(ofRelationship: name).description
      for (key, text) in texts where text == byMapping { texts[key] = plain }
    }
    return texts
  }
}

extension InferredMapping.Entity {
  /// Returns the entity mapping, with expressions for all properties that have a source.
  ///
  /// A relationship that would lose objects which its inverse keeps is set by its inverse.
  /// - Parameter formers: The relationships that each relationship continues.
  fileprivate func mapping(
    _ formers: [ObjectIdentifier: [NSRelationshipDescription]]
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    (mapping.mappingType, mapping.name) = kind
    mapping.sourceEntityName = source?.name
    mapping.destinationEntityName = destination?.name
    mapping.sourceEntityVersionHash = source?.versionHash
    mapping.destinationEntityVersionHash = destination?.versionHash
    mapping.sourceExpression = source?.name.map { MappingExpression.fetch($0) }
    guard destination != nil else { return mapping }
    mapping.attributeMappings = properties.compactMap { property in
      guard let attribute = property.destination as? NSAttributeDescription else { return nil }
      let mapping = NSPropertyMapping(attribute.name, property.value(of: attribute))
      mapping.elements = property.storedSource == nil ? [] : property.elements
      return mapping
    }
    mapping.relationshipMappings = properties.compactMap { property in
      guard let relationship = property.destination as? NSRelationshipDescription else {
        return nil
      }
      let others =
        relationship.inverseRelationship.map { formers[ObjectIdentifier($0)] ?? [] } ?? []
      let isSetByInverse = InferredMapping.lacksPairs(
        formers[ObjectIdentifier(relationship)] ?? [], ofInverse: others)
      let former = isSetByInverse ? nil : property.storedSource
      let mapping = NSPropertyMapping(
        relationship.name, former.map { MappingExpression.instances(ofRelationship: $0.name) })
      mapping.omitsOtherEntities = true
      if isSetByInverse, relationship.isOrdered {
        let lists = others.compactMap(\.inverseRelationship).filter(\.isOrdered).map(\.name)
        mapping.orders = lists.filter { source?.relationshipsByName[$0] != nil }
      }
      return mapping
    }
    return mapping
  }

  private var kind: (NSEntityMappingType, String) {
    switch (source, destination) {
    case (nil, let added?): (.addEntityMappingType, "IEM_Add_\(added.name ?? "")")
    case (let removed?, nil): (.removeEntityMappingType, "IEM_Remove_\(removed.name ?? "")")
    case (let before?, let after?) where before.versionHash == after.versionHash:
      (.copyEntityMappingType, "IEM_Copy_\(after.name ?? "")")
    default: (.transformEntityMappingType, "IEM_Transform_\(destination?.name ?? "")")
    }
  }
}

extension InferredMapping.Property {
  /// The property of the source entity if stores have values of it.
  fileprivate var storedSource: NSPropertyDescription? {
    source.flatMap { $0.isTransient ? nil : $0 }
  }

  /// Returns the expression of the source's value, with the default value instead of `nil` if a
  /// value has become required.
  fileprivate func value(of attribute: NSAttributeDescription) -> NSExpression? {
    guard let source = storedSource else { return nil }
    let value = MappingExpression.source(source.name)
    let standard: Any? =
      (attribute as? NSCompositeAttributeDescription)?.initialValue ?? attribute.defaultValue
    guard !attribute.isOptional, source.isOptional, let standard else { return value }
    let isMissing = NSComparisonPredicate(
      leftExpression: value, rightExpression: NSExpression(forConstantValue: nil),
      modifier: .direct, type: .equalTo, options: [])
    return NSExpression(
      forConditional: isMissing, trueExpression: NSExpression(forConstantValue: standard),
      falseExpression: value)
  }
}

extension NSError {
  /// Returns the error for changes that can't be inferred.
  static func notInferable(_ obstacles: [ModelDifference]) -> NSError {
    let reasons = obstacles.map(\.obstacle).joined(separator: " ")
    return coreData(
      NSInferredMappingModelError, reasons,
      [
        "reason": reasons, "entity": obstacles.first?.entity ?? "",
        "property": obstacles.first?.name ?? "",
      ])
  }
}

extension ModelDifference {
  /// What can't be inferred, as a sentence with the reason.
  fileprivate var obstacle: String {
    let change = [kind.rawValue, detail].compactMap { $0 }.joined(separator: ", ")
    return
      "\(subject.rawValue.prefix(1).uppercased() + subject.rawValue.dropFirst()) \(path): \(change)."
      + (reason.map { " \($0)" } ?? "")
  }
}
