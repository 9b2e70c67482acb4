import OpenCoreData
import WorkbenchText

/// The entities of a store as its model describes them.
struct ModelEntities {
  let model: NSManagedObjectModel
  /// Own rows of each concrete entity.
  let own: [EntityCount]
  let schema: InspectedSchema
  /// Whether names and classes of the model are guesses.
  let isGuessed: Bool
  /// Nil when the model does not fit the tables.
  let spreads: SpreadReader?

  /// Depth first, alphabetically.
  var entities: [InspectedEntity] {
    let ownRows = Dictionary(own.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    let totals = EntityCount.totals(own, in: model)
    return model.entityTree.map { depth, entity in
      let name = entity.name ?? ""
      return InspectedEntity(
        name: name, depth: depth, count: totals[name] ?? 0, ownCount: ownRows[name] ?? 0,
        isAbstract: entity.isAbstract, superentity: entity.superentity?.name,
        subentities: entity.subentities.compactMap(\.name).sorted(),
        table: spreads?.mapping.entity(named: name)?.table
          ?? schema.table(ofRoot: entity.root.name ?? ""),
        className: isGuessed ? nil : entity.managedObjectClassName,
        attributes: own(entity, NSAttributeDescription.self).map(InspectedAttribute.init),
        relationships: own(entity, NSRelationshipDescription.self)
          .map { relationship in
            InspectedRelationship(
              relationship, spread: try? spreads?.spread(of: relationship.name, in: name))
          })
    }
  }

  /// The properties that the entity declares itself.
  private func own<Property: NSPropertyDescription>(
    _ entity: NSEntityDescription, _: Property.Type
  ) -> [Property] {
    entity.properties.compactMap { $0 as? Property }.filter { $0.entity === entity }
      .sorted { $0.name < $1.name }
  }
}

extension NSEntityDescription {
  /// The topmost ancestor, in whose table the rows are.
  fileprivate var root: NSEntityDescription { superentity?.root ?? self }
}

extension InspectedAttribute {
  fileprivate init(_ attribute: NSAttributeDescription) {
    self.init(
      name: attribute.name, type: attribute.attributeType.documentName,
      isOptional: attribute.isOptional, isTransient: attribute.isTransient,
      isDerived: attribute.isDerived)
  }
}

extension InspectedRelationship {
  fileprivate init(_ relationship: NSRelationshipDescription, spread: InspectedSpread?) {
    self.init(
      name: relationship.name, destination: relationship.destinationEntity?.name,
      inverse: relationship.inverseRelationship?.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered, isOptional: relationship.isOptional,
      spread: spread, deleteRule: relationship.deleteRule.documentName)
  }
}
