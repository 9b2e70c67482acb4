import OpenCoreData
import WorkbenchText

/// Makes the objects of one entity, row after row.
struct EntityFill {
  private struct Link {
    let relationship: NSRelationshipDescription
    let isRandom: Bool
    var random: SeededGenerator
  }

  private let entity: String
  private var attributes: [AttributeSource] = []
  private var links: [Link] = []
  private let late: Set<String>

  /// - Parameter late: relationships that are not set when the objects are inserted.
  init(plan: EntityPlan, model: NSManagedObjectModel, seed: UInt64, late: Set<String>) {
    entity = plan.entity
    self.late = late
    guard let description = model.entitiesByName[plan.entity] else { return }
    let generators = plan.generators
    attributes = EntityFill.attributes(of: description, plan: plan).map { filled in
      AttributeSource(filled, seed: seed, stream: "\(plan.entity).\(filled.attribute.name)")
    }
    links = Self.relationships(of: description, plan: plan).map { relationship in
      Link(
        relationship: relationship, isRandom: generators[relationship.name] == .random,
        random: SeededGenerator(seed: seed, stream: "\(plan.entity).\(relationship.name)"))
    }
  }

  /// An attribute that gets values, and how they are made.
  struct Filled {
    var attribute: NSAttributeDescription
    var recipe: ValueRecipe
  }

  /// The attributes that get values, by name.
  static func attributes(of entity: NSEntityDescription, plan: EntityPlan) -> [Filled] {
    let generators = plan.generators
    let unique = entity.uniqueNames
    return entity.attributesByName.sorted { $0.key < $1.key }.compactMap { name, attribute in
      guard !attribute.isTransient, !attribute.isDerived else { return nil }
      let generator = generators[name]
      // A default of the model's own is a valid value.
      guard generator != nil || attribute.defaultValue == nil || unique.contains(name) else {
        return nil
      }
      return Filled(
        attribute: attribute,
        recipe: ValueRecipe(attribute, generator: generator, isUnique: unique.contains(name)))
    }
  }

  /// The to-one relationships that get a destination: those with a generator, and those that must have
  /// one.
  static func relationships(
    of entity: NSEntityDescription, plan: EntityPlan
  ) -> [NSRelationshipDescription] {
    let named = Set(plan.properties.map(\.name))
    return entity.relationshipsByName.values
      .filter { !$0.isToMany && (named.contains($0.name) || !$0.isOptional) }
      .sorted { $0.name < $1.name }
  }

  /// Inserts and saves some rows, then lets them go.
  ///
  /// - Parameter made: the objects of each entity so far.
  /// - Returns: their IDs, in the order of the rows.
  mutating func insert(
    rows: Range<Int>, into context: NSManagedObjectContext, made: [String: [NSManagedObjectID]]
  ) throws -> [NSManagedObjectID] {
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(rows.count)
    let targets = targets(among: made)
    for row in rows {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      for index in attributes.indices {
        object.setValue(attributes[index].value(row: row), forKey: attributes[index].name)
      }
      relate(object, row: row, only: nil, to: targets, in: context)
      objects.append(object)
    }
    try context.save()
    let ids = objects.map(\.objectID)
    objects = []
    context.reset()
    return ids
  }

  /// For each relationship the objects it may point to.
  func targets(among made: [String: [NSManagedObjectID]]) -> [[NSManagedObjectID]] {
    links.map { link in
      (link.relationship.destinationEntity?.concreteEntityNames ?? []).flatMap { made[$0] ?? [] }
    }
  }

  /// Gives an object its destinations.
  ///
  /// - Parameters:
  ///   - only: the relationships to set; nil for all that are not late.
  ///   - targets: what `targets(among:)` gave.
  mutating func relate(
    _ object: NSManagedObject, row: Int, only: Set<String>?, to targets: [[NSManagedObjectID]],
    in context: NSManagedObjectContext
  ) {
    for index in links.indices {
      let name = links[index].relationship.name
      let choice = links[index].isRandom ? links[index].random.next() : UInt64(row)
      guard only?.contains(name) ?? !late.contains(name), !targets[index].isEmpty else { continue }
      let id = targets[index][Int(choice % UInt64(targets[index].count))]
      object.setValue(context.object(with: id), forKey: name)
    }
  }
}

extension NSEntityDescription {
  /// The attributes that a uniqueness constraint of the entity or of one above it names.
  fileprivate var uniqueNames: Set<String> {
    Set(uniquenessConstraintNames.joined()).union(superentity?.uniqueNames ?? [])
  }
}

extension EntityPlan {
  /// The generators that are named, by property.
  fileprivate var generators: [String: Generator] {
    Dictionary(properties.map { ($0.name, $0.generator) }, uniquingKeysWith: { $1 })
  }
}
