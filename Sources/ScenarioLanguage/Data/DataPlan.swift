package import ManagedModel
package import WorkbenchText

/// The data that a scenario runs on.
package struct DataPlan: Sendable {
  /// The source of the rows.
  package enum Source: Sendable {
    /// Generated rows, by entity in source order.
    case generated([EntityPlan])
    /// A copy of a store. The original isn't modified.
    case copied(URL)
  }

  package var source: Source
  /// The seed of the random values.
  ///
  /// The same seed gives the same values.
  package var seed: UInt64
  /// The version of the model that the data has, or `nil` for the current one.
  package var version: String?
  /// The file whose data is included, or `nil` if there's none.
  package var includedFile: URL?

  package init(source: Source, seed: UInt64 = 1) {
    self.source = source
    self.seed = seed
  }

  /// Sets the source range of all counts, so that errors name the place that includes them.
  package mutating func move(to range: SourceRange) {
    guard case .generated(var plans) = source else { return }
    for index in plans.indices { plans[index].count.range = range }
    source = .generated(plans)
  }

  /// Returns the row count of each planned entity, without subentities, in source order.
  ///
  /// Empty for a copied store.
  ///
  /// A count can use the entities above it, each with its subentities above it.
  ///
  /// - Throws: A `CountExpressionError` if a count isn't a nonnegative integer, or if the total
  ///   exceeds `InputLimits.rows`, with the rows of join tables.
  package func counts(scale: Int) throws(CountExpressionError) -> [EntityCount] {
    guard case .generated(let plans) = source else { return [] }
    var scope = CountExpressionScope(scale: scale)
    var counts = [EntityCount]()
    var total = 0
    for plan in plans {
      let count = try plan.count.value(in: scope)
      guard count >= 0 else {
        throw CountExpressionError(
          text: plan.count.text, message: "\(plan.entity) can't have \(count) rows",
          range: plan.count.range)
      }
      // A count beyond the limit isn't multiplied, which could overflow.
      total += count > InputLimits.rows ? count : count * (1 + plan.destinationCount)
      guard total <= InputLimits.rows else {
        let rows = total == count ? "\(count) rows of \(plan.entity)" : "\(total) rows"
        throw CountExpressionError(
          text: plan.count.text,
          message:
            "\(rows) exceed the limit for all data, \(NumberText.grouped(InputLimits.rows))",
          range: plan.count.range)
      }
      for name in [plan.entity] + plan.superentities { scope.rows[name, default: 0] += count }
      counts.append(EntityCount(name: plan.entity, count: count))
    }
    return counts
  }
}

/// The number of objects of an entity, and the generators of their properties.
package struct EntityPlan: Sendable {
  /// A property and its generator.
  package struct Property: Sendable {
    package var name: String
    package var generator: Generator

    package init(name: String, generator: Generator) {
      self.name = name
      self.generator = generator
    }
  }

  package var entity: String
  /// The names of the entity's parent, of the parent's parent, and so on.
  package var superentities: [String] = []
  package var count: CountExpression
  /// The properties with generators.
  ///
  /// Other properties get a valid value of their type.
  package var properties: [Property]

  /// The number of rows that each object has in join tables.
  fileprivate var destinationCount: Int {
    properties.reduce(0) { sum, property in
      if case .several(let number) = property.generator { sum + number } else { sum }
    }
  }

  package init(entity: String, count: CountExpression, properties: [Property] = []) {
    self.entity = entity
    self.count = count
    self.properties = properties
  }
}

extension EntityPlan {
  /// An attribute and the recipe of its values.
  package struct FilledAttribute {
    package var attribute: NSAttributeDescription
    package var recipe: ValueRecipe
    /// The number of rows of other entities that share the attribute's uniqueness constraint and
    /// are filled before; its values are those of the rows after them.
    package var firstRow = 0

    package init(attribute: NSAttributeDescription, recipe: ValueRecipe, firstRow: Int = 0) {
      (self.attribute, self.recipe, self.firstRow) = (attribute, recipe, firstRow)
    }
  }

  /// Returns the attributes that get generated values, sorted by name.
  ///
  /// - Parameters:
  ///   - entity: The entity of the plan.
  ///   - rows: The row counts of the entities that are filled before, which can share an inherited
  ///     uniqueness constraint.
  package func filledAttributes(
    of entity: NSEntityDescription, after rows: [String: Int] = [:]
  ) -> [FilledAttribute] {
    let unique = entity.uniqueNames
    return entity.attributesByName.sorted { $0.key < $1.key }.compactMap { name, attribute in
      // A save validates transient attributes, too.
      guard !attribute.isDerived, !attribute.isTransient || !attribute.isOptional else {
        return nil
      }
      let generator = generator(of: name)
      // The model's default value is valid.
      guard generator != nil || attribute.defaultValue == nil || unique.contains(name) else {
        return nil
      }
      return FilledAttribute(
        attribute: attribute,
        recipe: ValueRecipe(attribute, generator: generator, isUnique: unique.contains(name)),
        firstRow: entity.family(withUnique: name).reduce(0) { $0 + (rows[$1] ?? 0) })
    }
  }

  /// Adds generators for the required many-to-many relationships of the entity that have none.
  package mutating func addRequiredRelationships(of entity: NSEntityDescription) {
    let required = entity.relationshipsByName.values.filter { relationship in
      relationship.isManyToMany && !relationship.isOptional && !relationship.isTransient
        && relationship.leastDestinations <= Generator.mostDestinations
        && generator(of: relationship.name) == nil
    }
    properties += required.sortedByName().map {
      Property(name: $0.name, generator: .several($0.leastDestinations))
    }
  }

  /// Returns the relationships that get a destination: those with a generator, and to-one
  /// relationships that are required.
  package func filledRelationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
    entity.relationshipsByName.values
      .filter { generator(of: $0.name) != nil || (!$0.isToMany && !$0.isOptional) }
      .sortedByName()
  }

  /// Returns the number of destinations that each object gets, or `nil` for a to-one relationship.
  package func number(of relationship: NSRelationshipDescription) -> Int? {
    if case .several(let number)? = generator(of: relationship.name) { number } else { nil }
  }

  /// Returns the specified generator of a property, or `nil` if there's none.
  package func generator(of property: String) -> Generator? {
    properties.last { $0.name == property }?.generator
  }
}

extension NSEntityDescription {
  /// The attributes in the uniqueness constraints of the entity and its parent entities.
  fileprivate var uniqueNames: Set<String> {
    Set(uniquenessConstraintNames.joined()).union(superentity?.uniqueNames ?? [])
  }

  /// Returns the names of the entities among whose objects an attribute is in a uniqueness
  /// constraint; empty if there's no constraint.
  fileprivate func family(withUnique attribute: String) -> [String] {
    if let parent = superentity?.family(withUnique: attribute), !parent.isEmpty { return parent }
    let isOwn = uniquenessConstraintNames.contains { $0.contains(attribute) }
    return isOwn ? concreteEntityNames : []
  }
}

/// Finds relationships that can't have the planned destinations: required ones without any rows,
/// to-many ones with fewer objects than the model requires, and many-to-many ones whose inverse has
/// a generator, too.
package struct DestinationCheck {
  private let plans: [EntityPlan]
  private let counts: [EntityCount]
  private let model: NSManagedObjectModel

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - plans: The planned entities.
  ///   - counts: The row count of each one, without subentities.
  ///   - model: The model of the data.
  package init(plans: [EntityPlan], counts: [EntityCount], model: NSManagedObjectModel) {
    (self.plans, self.counts, self.model) = (plans, counts, model)
  }

  /// The problems, one for each relationship, at the count of its entity.
  package var problems: [LanguageProblem] {
    let rows = Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
    let late = BuildOrder(plans: plans, model: model).late
    let missing = plans.flatMap { plan -> [LanguageProblem] in
      guard rows[plan.entity] ?? 0 > 0, let entity = model.entitiesByName[plan.entity] else {
        return []
      }
      return plan.filledRelationships(of: entity).compactMap { relationship in
        guard !relationship.isOptional else { return nil }
        let name = "\(plan.entity).\(relationship.name)"
        let destination = relationship.destinationEntity
        let targets = destination?.concreteEntityNames ?? []
        guard targets.contains(where: { rows[$0] ?? 0 > 0 }) else {
          return LanguageProblem(
            "`\(name)` is required, but `data` has no \(destination?.name ?? "destination")",
            at: plan.count.range,
            nextStep: "specify a count above 0 for \(ModelNames.list(targets))")
        }
        guard late[plan.entity]?.contains(relationship.name) != true else {
          return LanguageProblem(
            "`\(name)` is required, but its destination requires \(plan.entity) to exist first",
            at: plan.count.range,
            nextStep: "make one of the relationships in the cycle optional in the model")
        }
        return nil
      }
    }
    return doubled + missing + plans.flatMap { lacking($0, rows) }
  }

  /// Returns the problems of to-many relationships with fewer objects than the model requires.
  private func lacking(_ plan: EntityPlan, _ rows: [String: Int]) -> [LanguageProblem] {
    guard rows[plan.entity] ?? 0 > 0, let entity = model.entitiesByName[plan.entity] else {
      return []
    }
    let toMany = entity.relationshipsByName.values.filter {
      $0.isToMany && !$0.isTransient && $0.destinationEntity != nil
    }
    return toMany.sortedByName().compactMap { relationship in
      let name = "\(plan.entity).\(relationship.name)"
      let least = relationship.leastDestinations
      let targets = relationship.destinationEntity?.concreteEntityNames ?? []
      guard let number = plan.number(of: relationship) else {
        guard !relationship.isOptional else { return nil }
        return LanguageProblem(
          relationship.isManyToMany
            ? "`\(name)` requires \(NumberText.grouped(least)) objects, more than can be generated"
            : "`\(name)` is required, but its objects are generated after those of \(plan.entity)",
          at: plan.count.range,
          nextStep: "make it optional in the model, or copy a store: `data: {store: FILE}`")
      }
      guard number >= least else {
        return LanguageProblem(
          "`\(name)` requires at least \(NumberText.grouped(least)) objects, not \(number)",
          at: plan.count.range, nextStep: "write `\(relationship.name): cycle \(least)`")
      }
      let available = targets.reduce(0) { $0 + (rows[$1] ?? 0) }
      guard available > 0, available < least else { return nil }
      return LanguageProblem(
        "`\(name)` requires at least \(NumberText.grouped(least)) objects, but `data` has "
          + NumberText.grouped(available),
        at: plan.count.range,
        nextStep: "specify higher counts for \(ModelNames.list(targets))")
    }
  }

  /// The problems of many-to-many relationships that are set at both ends.
  private var doubled: [LanguageProblem] {
    var known: Set<ObjectIdentifier> = []
    return plans.flatMap { plan -> [LanguageProblem] in
      guard let entity = model.entitiesByName[plan.entity] else { return [] }
      return plan.filledRelationships(of: entity).compactMap { relationship in
        guard relationship.isToMany, let inverse = relationship.inverseRelationship else {
          return nil
        }
        known.insert(ObjectIdentifier(relationship))
        guard inverse !== relationship, known.contains(ObjectIdentifier(inverse)) else {
          return nil
        }
        let name = "`\(plan.entity).\(relationship.name)`"
        if !relationship.isOptional, !inverse.isOptional {
          return LanguageProblem(
            "\(name) and its inverse are both required, so objects of neither entity can be saved "
              + "first", at: plan.count.range,
            nextStep: "make one of them optional in the model, or copy a store: "
              + "`data: {store: FILE}`")
        }
        return LanguageProblem(
          "\(name) and its inverse both have a generator",
          at: plan.count.range,
          nextStep: "remove one of the generators; a required relationship always has one")
      }
    }
  }
}

/// The order in which entities are created: after the destinations of their to-one relationships.
package struct BuildOrder {
  package private(set) var plans: [EntityPlan] = []
  /// The relationships of each entity that can be set only after all objects exist, because their
  /// destination is the same entity or one that is created later.
  package private(set) var late: [String: Set<String>] = [:]

  /// Arranges the planned entities, which are in source order.
  package init(plans written: [EntityPlan], model: NSManagedObjectModel) {
    let targets = Dictionary(
      written.map { ($0.entity, Self.targets(of: $0, in: model)) }, uniquingKeysWith: { $1 })
    var waiting = written
    while !waiting.isEmpty {
      let names = Set(waiting.map(\.entity))
      func open(_ plan: EntityPlan) -> [Target] {
        targets[plan.entity, default: []].filter { !$0.entities.isDisjoint(with: names) }
      }
      let next =
        waiting.firstIndex { open($0).isEmpty } ?? Self.breakingCycle(in: waiting, by: open)
      let plan = waiting.remove(at: next)
      for target in open(plan) { late[plan.entity, default: []].insert(target.relationship) }
      plans.append(plan)
    }
  }

  private struct Target {
    var relationship: String
    var entities: Set<String>
    var isRequired: Bool
  }

  /// Returns the index of the entity to create first if each one waits for another: the first one
  /// in source order that's part of a cycle, preferably without a required relationship in it.
  private static func breakingCycle(
    in waiting: [EntityPlan], by open: (EntityPlan) -> [Target]
  ) -> Int {
    let targets = Dictionary(
      waiting.map { ($0.entity, open($0)) }, uniquingKeysWith: { $1 })
    func isCyclic(_ index: Int) -> Bool {
      var found: Set<String> = []
      var next = [waiting[index].entity]
      while let entity = next.popLast() {
        for target in targets[entity, default: []] {
          next += target.entities.filter { targets[$0] != nil && found.insert($0).inserted }
        }
      }
      return found.contains(waiting[index].entity)
    }
    let free = waiting.indices.filter { index in
      !targets[waiting[index].entity, default: []].contains(where: \.isRequired)
    }
    return free.first(where: isCyclic) ?? waiting.indices.first(where: isCyclic) ?? 0
  }

  private static func targets(of plan: EntityPlan, in model: NSManagedObjectModel) -> [Target] {
    guard let entity = model.entitiesByName[plan.entity] else { return [] }
    return plan.filledRelationships(of: entity).map { relationship in
      Target(
        relationship: relationship.name,
        entities: Set(relationship.destinationEntity?.concreteEntityNames ?? []),
        isRequired: !relationship.isOptional)
    }
  }
}
