import OpenCoreData
import SQLiteDriver

/// Values or objects that a step of a migration doesn't carry over.
package struct MigrationLoss: Sendable, Equatable {
  /// What is lost of a value.
  package enum Aspect: Sendable, Comparable {
    case value
    /// Digits that the new type can't represent.
    case precision
    /// The order of the objects of a to-many relationship.
    case order
    /// The entity of objects, which become objects of another one.
    case entity
  }

  package let entity: String
  /// The property whose values are lost, or the path of an element of a composite attribute; `nil`
  /// for objects.
  package let property: String?
  /// The number of values, or of objects.
  package let values: Int
  /// What is lost of each value.
  package var aspect = Aspect.value
}

/// Counts what a step of a migration doesn't carry over.
struct MigrationLosses {
  private let context: NSManagedObjectContext
  let step: ProgressiveMigration.Step
  /// The names of the entities of the source model that the store contains.
  private let storedNames: Set<String>
  /// The names of the entities of the destination model that the migrated store contains.
  let laterNames: Set<String>

  /// Returns the losses, by entity and property.
  ///
  /// **Cost:** a `SELECT COUNT` for each entity and each property that isn't carried over as it is.
  /// - Parameters:
  ///   - copy: A store of the step's source model, which is opened read-only.
  ///   - type: The type of the store.
  static func of(
    _ step: ProgressiveMigration.Step, in copy: URL, _ type: NSPersistentStore.StoreType
  ) throws -> [MigrationLoss] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: step.source)
    let opened = try coordinator.addPersistentStore(
      type: type, configuration: step.configuration, at: copy,
      options: [NSReadOnlyPersistentStoreOption: true])
    defer { try? coordinator.remove(opened) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let stored = [step.source, step.destination].map { model in
      Set(model.entitiesInNumberingOrder(of: step.configuration).compactMap(\.name))
    }
    let losses = MigrationLosses(
      context: context, step: step, storedNames: stored[0], laterNames: stored[1])
    let counts = try step.mappingModels.isEmpty ? losses.inferred() : losses.mapped()
    return counts.map { key, values in
      MigrationLoss(
        entity: key.entity, property: key.property, values: values, aspect: key.aspect)
    }
    .filter { $0.values > 0 }
    .sorted {
      ($0.entity, $0.property ?? "", $0.aspect) < ($1.entity, $1.property ?? "", $1.aspect)
    }
  }

  /// What is counted.
  struct Key: Hashable {
    let entity: String
    /// `nil` for objects.
    var property: String?
    var aspect = MigrationLoss.Aspect.value

    /// The objects of an entity.
    init(_ entity: NSEntityDescription, _ aspect: MigrationLoss.Aspect = .value) {
      self.entity = entity.name ?? ""
      self.aspect = aspect
    }

    /// A property, which can be inherited by an entity, or the path of an element.
    init(
      _ property: NSPropertyDescription, _ path: String? = nil, of entity: NSEntityDescription,
      _ aspect: MigrationLoss.Aspect = .value
    ) {
      self.entity = property.entity?.name ?? entity.name ?? ""
      self.property = path ?? property.name
      self.aspect = aspect
    }
  }

  typealias Counts = [Key: Int]

  /// Returns whether the store can contain values of a property: relationships to entities of
  /// other configurations are empty.
  func contains(_ property: NSPropertyDescription) -> Bool {
    guard let relationship = property as? NSRelationshipDescription else { return true }
    return relationship.destinationEntity?.name.map(storedNames.contains) ?? false
  }

  /// Returns the number of objects of an entity, without those of its subentities; 0 for an entity
  /// of another configuration.
  func count(_ entity: NSEntityDescription, _ predicate: NSPredicate?) throws -> Int {
    guard storedNames.contains(entity.name ?? "") else { return 0 }
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.includesSubentities = false
    request.predicate = predicate
    return try context.performAndWait { try context.count(for: request) }
  }
}

extension NSPropertyDescription {
  /// The condition for an object to have a value of its own; `nil` if none is stored with the
  /// object.
  ///
  /// The pairs of a one-to-many relationship are stored with its inverse.
  var isPresent: NSPredicate? {
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

extension NSRelationshipDescription {
  /// The condition for an object to have several destinations.
  var hasSeveral: NSPredicate { NSPredicate(format: "%K.@count > 1", name) }
}

extension NSAttributeDescription {
  /// Returns the condition of values that a conversion to another type rounds; `nil` if it rounds
  /// none, or doesn't convert them.
  ///
  /// A number that the type can't represent at all fails the migration instead.
  /// - Parameter path: The path of an element of a composite attribute, or the attribute's name.
  func isRounded(as type: NSAttributeType, _ path: String) -> NSPredicate? {
    switch (attributeType, type) {
    case (.integer64AttributeType, .doubleAttributeType):
      return NSPredicate(format: "%K != nil AND %K * 1.0 != %K", path, path, path)
    case (.decimalAttributeType, .doubleAttributeType):
      // The nearest number can have other digits.
      return NSPredicate(
        format: "%K != nil AND CAST(%K * %f, 'NSDecimalNumber') != %K", path, path, 1.0, path)
    case (.integer32AttributeType, .floatAttributeType),
      (.integer64AttributeType, .floatAttributeType), (.doubleAttributeType, .floatAttributeType):
      return Self.isNoFloat(path)
    case (.decimalAttributeType, .floatAttributeType):
      let parts = [isRounded(as: .doubleAttributeType, path), Self.isNoFloat(path)]
      return NSCompoundPredicate(orPredicateWithSubpredicates: parts.compactMap(\.self))
    case (.doubleAttributeType, .integer16AttributeType),
      (.doubleAttributeType, .integer32AttributeType),
      (.doubleAttributeType, .integer64AttributeType),
      (.floatAttributeType, .integer16AttributeType),
      (.floatAttributeType, .integer32AttributeType),
      (.floatAttributeType, .integer64AttributeType):
      // The sum has no fraction, like greater numbers.
      return NSPredicate(
        format: "%K != nil AND ((%K >= 0 AND %K < %f AND %K + %f - %f != %K) "
          + "OR (%K < 0 AND %K > %f AND %K - %f + %f != %K))",
        path, path, path, 0x1p52, path, 0x1p52, 0x1p52, path,
        path, path, -0x1p52, path, 0x1p52, 0x1p52, path)
    case (.decimalAttributeType, .integer16AttributeType),
      (.decimalAttributeType, .integer32AttributeType),
      (.decimalAttributeType, .integer64AttributeType):
      return NSPredicate(format: "%K != nil AND %K != trunc:(%K)", path, path, path)
    case (.integer16AttributeType, .booleanAttributeType),
      (.integer32AttributeType, .booleanAttributeType),
      (.integer64AttributeType, .booleanAttributeType),
      (.doubleAttributeType, .booleanAttributeType), (.floatAttributeType, .booleanAttributeType),
      (.decimalAttributeType, .booleanAttributeType):
      return NSPredicate(format: "%K != nil AND %K != 0 AND %K != 1", path, path, path)
    default: return nil
    }
  }

  /// Returns the condition of numbers that aren't the same as a `Float`.
  private static func isNoFloat(_ path: String) -> NSPredicate {
    // The difference has the 24 leading bits, by Veltkamp's method. The sum of a number below the
    // least normal one has its multiple of the least number.
    NSPredicate(
      format: "%K != nil AND (%K * %f - (%K * %f - %K) != %K "
        + "OR (%K > %f AND %K < %f AND %K + %f - %f != %K))",
      path, path, 0x1p29 + 1, path, 0x1p29 + 1, path, path,
      path, -0x1p-126, path, 0x1p-126, path, 0x1.8p-97, 0x1.8p-97, path)
  }
}
