import OpenCoreData
import SQLiteDriver

/// Values or objects that a step of a migration doesn't carry over.
package struct MigrationLoss: Sendable, Equatable {
  package let entity: String
  /// The property whose values are lost; `nil` for objects.
  package let property: String?
  /// The number of values, or of objects.
  package let values: Int
}

/// Counts what a step of a migration doesn't carry over.
struct MigrationLosses {
  private let context: NSManagedObjectContext
  private let step: ProgressiveMigration.Step

  /// Returns the losses, by entity and property.
  ///
  /// **Cost:** a `SELECT COUNT` for each entity and each property that isn't carried over.
  /// - Parameters:
  ///   - copy: A store of the step's source model, which is opened read-only.
  ///   - type: The type of the store.
  static func of(
    _ step: ProgressiveMigration.Step, in copy: URL, _ type: NSPersistentStore.StoreType
  ) throws -> [MigrationLoss] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: step.source)
    let opened = try coordinator.addPersistentStore(
      type: type, at: copy, options: [NSReadOnlyPersistentStoreOption: true])
    defer { try? coordinator.remove(opened) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let losses = MigrationLosses(context: context, step: step)
    let counts = try step.mappingModels.isEmpty ? losses.inferred() : losses.mapped()
    return counts.flatMap { entity, properties in
      properties.map { MigrationLoss(entity: entity, property: $0.key, values: $0.value) }
    }
    .filter { $0.values > 0 }
    .sorted { ($0.entity, $0.property ?? "") < ($1.entity, $1.property ?? "") }
  }

  /// Counts by entity, and by property or `nil` for objects.
  private typealias Counts = [String: [String?: Int]]

  private func count(_ entity: NSEntityDescription, _ predicate: NSPredicate?) throws -> Int {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.includesSubentities = false
    request.predicate = predicate
    return try context.performAndWait { try context.count(for: request) }
  }

  /// Adds the values of a property of one entity to those of the entity that declares it.
  private func add(
    _ property: NSPropertyDescription, of entity: NSEntityDescription,
    among condition: NSPredicate? = nil, to counts: inout Counts
  ) throws {
    guard let isPresent = property.isPresent else { return }
    let owner = property.entity?.name ?? entity.name ?? ""
    let predicate = condition.map {
      NSCompoundPredicate(andPredicateWithSubpredicates: [isPresent, $0])
    }
    counts[owner, default: [:]][property.name, default: 0] += try count(
      entity, predicate ?? isPresent)
  }

  // MARK: Inferred

  private func inferred() throws -> Counts {
    var counts: Counts = [:]
    for entity in InferredMapping(from: step.source, to: step.destination).entities {
      guard let source = entity.source, !source.isAbstract else { continue }
      guard entity.destination != nil else {
        counts[source.name ?? "", default: [:]][nil] = try count(source, nil)
        continue
      }
      for property in entity.properties where property.destination == nil {
        guard let removed = property.source else { continue }
        try add(removed, of: source, to: &counts)
      }
    }
    return counts
  }

  // MARK: Mapped

  /// Counts what no entity mapping reads.
  ///
  /// A property that only a policy or a function reads isn't counted correctly; those aren't run
  /// here.
  private func mapped() throws -> Counts {
    let mappings = step.mappingModels.flatMap { $0.entityMappings ?? [] }
      .filter { $0.mappingType != .removeEntityMappingType }
    let readers = Dictionary(grouping: mappings.filter { $0.destinationEntityName != nil }) {
      $0.sourceEntityName ?? ""
    }
    let names = Set(mappings.compactMap(\.sourceEntityName))
    var counts: Counts = [:]
    for entity in step.source.entities where !entity.isAbstract {
      let mapped = entity.lineage.first { names.contains($0.name ?? "") }
      guard let mapped, let reading = readers[mapped.name ?? ""] else {
        counts[entity.name ?? "", default: [:]][nil] = try count(entity, nil)
        continue
      }
      if let unfetched = try filter(of: reading) {
        counts[entity.name ?? "", default: [:]][nil] = try count(entity, unfetched)
      }
      let read = reading.reduce(into: Set<String>()) { $0.formUnion($1.sourceKeys) }
      for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name })
      where !read.contains(property.name) && !isReadFromOtherSide(property, mappings) {
        try add(property, of: entity, to: &counts)
      }
    }
    return counts
  }

  /// The condition of objects that no mapping fetches; `nil` if one fetches all.
  private func filter(of mappings: [NSEntityMapping]) throws -> NSPredicate? {
    let conditions = mappings.map(\.condition)
    guard !conditions.contains(nil) else { return nil }
    let parsed = try conditions.compactMap {
      try $0.map { try NSPredicate.parse($0, arguments: []) }
    }
    return NSCompoundPredicate(
      notPredicateWithSubpredicate: NSCompoundPredicate(orPredicateWithSubpredicates: parsed))
  }

  /// Whether a relationship is carried over by its inverse.
  private func isReadFromOtherSide(
    _ property: NSPropertyDescription, _ mappings: [NSEntityMapping]
  ) -> Bool {
    guard let inverse = (property as? NSRelationshipDescription)?.inverseRelationship,
      let other = inverse.entity
    else { return false }
    return mappings.contains { mapping in
      guard let source = mapping.sourceEntityName.flatMap({ step.source.entitiesByName[$0] }) else {
        return false
      }
      return (source.isKind(of: other) || other.isKind(of: source))
        && mapping.relationshipKeys.contains(inverse.name)
    }
  }
}

extension NSEntityDescription {
  /// The entity and its ancestors, the root last.
  fileprivate var lineage: [NSEntityDescription] {
    [self] + (superentity?.lineage ?? [])
  }
}

extension NSEntityMapping {
  /// The properties of the source that the mapping reads.
  fileprivate var sourceKeys: Set<String> {
    let expressions = ((attributeMappings ?? []) + (relationshipMappings ?? []))
      .compactMap(\.valueExpression)
    return expressions.reduce(into: []) { $0.formUnion($1.sourceKeys) }
  }

  /// The properties of the source that the relationships are set from.
  fileprivate var relationshipKeys: Set<String> {
    (relationshipMappings ?? []).compactMap(\.valueExpression)
      .reduce(into: []) { $0.formUnion($1.sourceKeys) }
  }

  /// The predicate by which source instances are fetched, as text; `nil` if all are fetched, or the
  /// expression is another one.
  fileprivate var condition: String? {
    guard case .fetch(let request, _, _)? = sourceExpression?.node,
      case .method(_, MappingExpression.fetchRequest, let arguments) = request.node,
      arguments.count == 2, case .constant(.string(let text)) = arguments[1].node,
      !text.isEmpty, text != "TRUEPREDICATE"
    else { return nil }
    return text
  }
}

extension NSExpression {
  /// The first keys of all key paths that begin with `$source`.
  fileprivate var sourceKeys: Set<String> {
    var keys: Set<String> = []
    if case .path(let operand, let path) = node,
      case .variable(NSMigrationSourceObjectKey) = operand.node,
      case .keyPath(let path) = path.node,
      let first = path.keys.first
    {
      keys.insert(first)
    }
    if case .conditional(let predicate, _, _) = node {
      // A predicate's key paths have the same form as text.
      keys.formUnion(Self.sourceKeys(in: predicate.predicateFormat))
    }
    return node.children.reduce(into: keys) { $0.formUnion($1.sourceKeys) }
  }

  private static func sourceKeys(in text: String) -> [String] {
    text.components(separatedBy: "$\(NSMigrationSourceObjectKey).").dropFirst().map {
      String($0.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
  }
}

extension NSPropertyDescription {
  /// The condition for an object to have a value of its own; `nil` if none is stored with the
  /// object.
  ///
  /// The pairs of a one-to-many relationship are stored with its inverse.
  fileprivate var isPresent: NSPredicate? {
    guard !isTransient else { return nil }
    switch self {
    case let attribute as NSAttributeDescription:
      return attribute.isDerived ? nil : NSPredicate(format: "%K != nil", name)
    case let relationship as NSRelationshipDescription:
      guard relationship.isToMany else { return NSPredicate(format: "%K != nil", name) }
      guard relationship.inverseRelationship?.isToMany != false else { return nil }
      return NSPredicate(format: "%K.@count > 0", name)
    default: return nil
    }
  }
}
