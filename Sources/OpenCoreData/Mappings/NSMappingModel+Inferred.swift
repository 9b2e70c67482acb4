import ManagedModel

extension NSMappingModel {
  /// Infers the mapping model between two versions of a model, as lightweight migration does.
  ///
  /// Entities and properties correspond by renaming identifier, or else by name. The names of the entity
  /// mappings begin with `IEM_Add`, `IEM_Remove`, `IEM_Copy`, or `IEM_Transform`, as Core Data's do. Edit
  /// the mapping model, for example to set a policy, and pass it to an `NSMigrationManager`. Cost: linear
  /// in the size of the models, without I/O.
  ///
  /// - Throws: 134190 if a change can't be inferred, with each entity, property, and reason.
  public class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    let inferred = InferredMapping(from: sourceModel, to: destinationModel)
    guard inferred.obstacles.isEmpty else { throw NSError.notInferable(inferred.obstacles) }
    let model = NSMappingModel()
    model.entityMappings = inferred.entities.filter { entity in
      // An abstract entity has no instances of its own.
      !(entity.source?.isAbstract ?? true && entity.destination?.isAbstract ?? true)
    }.map(\.mapping)
    return model
  }
}

extension InferredMapping.Entity {
  /// The entity mapping, with expressions for all properties that have a source.
  fileprivate var mapping: NSEntityMapping {
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
      return NSPropertyMapping(attribute.name, property.value(of: attribute))
    }
    mapping.relationshipMappings = properties.compactMap { property in
      guard let relationship = property.destination as? NSRelationshipDescription else {
        return nil
      }
      return NSPropertyMapping(
        relationship.name,
        property.source.map { MappingExpression.instances(ofRelationship: $0.name) })
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
  /// The source's value; the default value instead of nil if a value has become required.
  fileprivate func value(of attribute: NSAttributeDescription) -> NSExpression? {
    guard let source else { return nil }
    let value = MappingExpression.source(source.name)
    guard !attribute.isOptional, source.isOptional, let standard = attribute.defaultValue else {
      return value
    }
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
