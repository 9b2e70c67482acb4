extension MappingDocument {
  /// Returns the mapping model that Xcode's compiler makes of the document and its two models.
  ///
  /// The compiler adds what the document doesn't contain: names, types, version hashes, and the
  /// expressions of properties without one of their own.
  ///
  /// - Throws: An error for each mapping that names an entity that the models don't have.
  func compile(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws(ModelErrors) -> NSMappingModel {
    var errors: [ModelError] = []
    func entity(
      _ name: String?, _ model: NSManagedObjectModel, _ role: String, _ position: Position
    ) -> NSEntityDescription? {
      guard let name else { return nil }
      if let entity = model.entitiesByName[name] { return entity }
      let near = NearestName.of(name, among: model.entitiesByName.keys.sorted())
      errors.append(
        ModelError(
          "The \(role) model has no entity \(name).",
          nextStep: near.map { "Did you mean \($0)?" } ?? "Remove its mapping.", entity: name,
          file: file.path, line: position.line, column: position.column))
      return nil
    }
    let mapping = NSMappingModel()
    mapping.entityMappings = entities.map { mapped in
      let from = entity(mapped.source, source, "source", mapped.position)
      let to = entity(mapped.destination, destination, "destination", mapped.position)
      return mapped.compile(from, to)
    }
    if !errors.isEmpty { throw ModelErrors(errors) }
    return mapping
  }
}

extension MappingDocument.Entity {
  fileprivate func compile(
    _ source: NSEntityDescription?, _ destination: NSEntityDescription?
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = NSEntityMapping.name(from: self.source, to: self.destination)
    mapping.mappingType =
      if policy != nil {
        .customEntityMappingType
      } else if source == nil {
        .addEntityMappingType
      } else if destination == nil {
        .removeEntityMappingType
      } else {
        .copyEntityMappingType
      }
    mapping.entityMigrationPolicyClassName = policy
    mapping.sourceEntityName = source?.name
    mapping.destinationEntityName = destination?.name
    mapping.sourceEntityVersionHash = source?.versionHash
    mapping.destinationEntityVersionHash = destination?.versionHash
    mapping.sourceExpression = source?.name.map(MappingExpression.fetch)
    mapping.attributeMappings = attributes.map { property in
      let standard =
        source?.attributesByName[property.name] == nil
        ? nil : MappingExpression.source(property.name)
      return NSPropertyMapping(property.name, property.expression ?? standard)
    }
    mapping.relationshipMappings = relationships.map { property in
      NSPropertyMapping(
        property.name,
        property.expression ?? property.relationshipExpression
          ?? standard(property.name, source, destination))
    }
    return mapping
  }

  /// The destination instances of the source relationship with the same name.
  private func standard(
    _ name: String, _ source: NSEntityDescription?, _ destination: NSEntityDescription?
  ) -> NSExpression? {
    guard source?.relationshipsByName[name] != nil,
      let related = destination?.relationshipsByName[name]?.destinationEntity
    else { return nil }
    // Subentities have mappings of their own.
    guard related.subentities.isEmpty else {
      return MappingExpression.instances(ofRelationship: name)
    }
    return MappingExpression.instances(
      ofMapping: NSEntityMapping.name(from: related.name, to: related.name),
      MappingExpression.source(name))
  }
}

extension MappingDocument.Property {
  /// The destination instances that a mapping made of a key path's source instances; nil if the
  /// document names neither.
  fileprivate var relationshipExpression: NSExpression? {
    guard let sourceKeyPath, let sourceMapping,
      let sources = MappingExpression.ofText(sourceKeyPath)
    else { return nil }
    return MappingExpression.instances(ofMapping: sourceMapping, sources)
  }
}

extension NSEntityMapping {
  /// Returns the name that Xcode gives a mapping: `SourceToDestination`, or the only entity's.
  static func name(from source: String?, to destination: String?) -> String {
    guard let source, let destination else { return source ?? destination ?? "" }
    return "\(source)To\(destination)"
  }
}
