package import OpenCoreData
package import ScenarioLanguage
package import WorkbenchText

/// Creates and fills a store according to a plan, using OpenCoreData.
///
/// Entities are created after the destinations of their to-one relationships, and the rows of an
/// entity in order, so primary keys are assigned in row order. The same seed gives the same values.
package struct StoreBuilder {
  /// The number of objects to save at a time.
  ///
  /// They're released after each save, so memory use is independent of the scale.
  private static let batch = 1_000

  private let model: NSManagedObjectModel
  private let seed: UInt64
  private let plans: [EntityPlan]
  private let counts: [String: Int]

  /// Creates a builder.
  ///
  /// - Parameters:
  ///   - model: The model of the store.
  ///   - plans: The entities to create.
  ///   - counts: The row count of each planned entity; see `DataPlan.counts(scale:)`.
  ///   - seed: The seed of the random values.
  package init(
    model: NSManagedObjectModel, plans: [EntityPlan], counts: [EntityCount], seed: UInt64
  ) {
    self.model = model
    self.seed = seed
    self.plans = plans
    self.counts = Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
  }

  /// Creates the store.
  ///
  /// - Parameters:
  ///   - url: The location of the store, which must not exist.
  ///   - type: The type of the store.
  ///   - options: The store's options; for a SQLite store, in addition to its own.
  ///   - progress: A closure that receives the number of rows after each save.
  /// - Throws: A `GeneratedRowsError` if generated values violate the model's validation rules or
  ///   uniqueness constraints; otherwise, the framework's `NSError`.
  package func build(
    at url: URL, type: NSPersistentStore.StoreType = .sqlite,
    options: [String: any Sendable] = [:], progress: (Int) -> Void = { _ in }
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var all: [String: Any] = options
    // A partial file is useless after a crash, so don't wait for the disk.
    if type == .sqlite { all[NSSQLitePragmasOption] = ["synchronous": "OFF"] }
    let store = try coordinator.addPersistentStore(type: type, at: url, options: all)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    var made: [String: [NSManagedObjectID]] = [:]
    var rows = 0
    let order = BuildOrder(plans: plans, model: model)
    var filled: [String: Int] = [:]
    for plan in order.plans {
      var fill = EntityFill(
        plan: plan, model: model, seed: seed, late: order.late[plan.entity] ?? [], after: filled)
      let count = counts[plan.entity] ?? 0
      filled[plan.entity] = count
      for start in stride(from: 0, to: count, by: StoreBuilder.batch) {
        let range = start..<min(count, start + StoreBuilder.batch)
        try StoreBuilder.saving(plan) {
          try context.performAndWait {
            let ids = try fill.insert(rows: range, into: context, made: made)
            made[plan.entity, default: []] += ids
          }
        }
        rows += range.count
        progress(rows)
      }
    }
    for plan in order.plans where !(order.late[plan.entity] ?? []).isEmpty {
      try StoreBuilder.saving(plan) {
        try relate(plan, late: order.late[plan.entity] ?? [], made: made, in: context)
      }
    }
  }

  /// Calls a closure that saves rows of an entity, and names the entity if they aren't valid.
  private static func saving(_ plan: EntityPlan, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      if let invalid = GeneratedRowsError(plan, error as NSError) { throw invalid }
      throw error
    }
  }

  /// Sets the relationships whose destinations were created later.
  private func relate(
    _ plan: EntityPlan, late: Set<String>, made: [String: [NSManagedObjectID]],
    in context: NSManagedObjectContext
  ) throws {
    var fill = EntityFill(plan: plan, model: model, seed: seed, late: [])
    let ids = made[plan.entity] ?? []
    let targets = fill.targets(among: made)
    for start in stride(from: 0, to: ids.count, by: StoreBuilder.batch) {
      let end = min(ids.count, start + StoreBuilder.batch)
      try context.performAndWait {
        for row in start..<end {
          let object = context.object(with: ids[row])
          fill.relate(object, row: row, only: late, to: targets, in: context)
        }
        try context.save()
        context.reset()
      }
    }
  }
}

/// Creates the objects of one entity.
struct EntityFill {
  private struct Link {
    let relationship: NSRelationshipDescription
    /// The number of destinations of each object, or `nil` for a to-one relationship.
    let number: Int?
    let isRandom: Bool
    var random: SeededGenerator
  }

  private let entity: String
  private var attributes: [AttributeSource] = []
  private var links: [Link] = []
  private let late: Set<String>

  /// Creates a fill.
  ///
  /// - Parameters:
  ///   - plan: The plan of the entity.
  ///   - model: The model of the store.
  ///   - seed: The seed of the random values.
  ///   - late: The relationships that aren't set when objects are inserted.
  ///   - rows: The row counts of the entities that are filled before.
  init(
    plan: EntityPlan, model: NSManagedObjectModel, seed: UInt64, late: Set<String>,
    after rows: [String: Int] = [:]
  ) {
    entity = plan.entity
    self.late = late
    guard let description = model.entitiesByName[plan.entity] else { return }
    attributes = plan.filledAttributes(of: description, after: rows).map { filled in
      AttributeSource(filled, seed: seed, stream: "\(plan.entity).\(filled.attribute.name)")
    }
    links = plan.filledRelationships(of: description).map { relationship in
      Link(
        relationship: relationship, number: plan.number(of: relationship),
        isRandom: plan.generator(of: relationship.name) == .random,
        random: SeededGenerator(seed: seed, stream: "\(plan.entity).\(relationship.name)"))
    }
  }

  /// Inserts and saves rows, and then resets the context.
  ///
  /// - Parameters:
  ///   - rows: The indexes of the rows to insert.
  ///   - context: The context to use.
  ///   - made: The object IDs that were created so far, by entity.
  /// - Returns: The object IDs, in row order.
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

  /// Returns the possible destinations of each relationship.
  func targets(among made: [String: [NSManagedObjectID]]) -> [[NSManagedObjectID]] {
    links.map { link in
      (link.relationship.destinationEntity?.concreteEntityNames ?? []).flatMap { made[$0] ?? [] }
    }
  }

  /// Sets the relationships of an object.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - row: The index of the object's row.
  ///   - only: The relationships to set, or `nil` to set all that aren't late.
  ///   - targets: The result of `targets(among:)`.
  ///   - context: The object's context.
  mutating func relate(
    _ object: NSManagedObject, row: Int, only: Set<String>?, to targets: [[NSManagedObjectID]],
    in context: NSManagedObjectContext
  ) {
    for index in links.indices {
      let name = links[index].relationship.name
      let choice = links[index].isRandom ? links[index].random.next() : UInt64(row)
      guard only?.contains(name) ?? !late.contains(name), !targets[index].isEmpty else { continue }
      let ids = targets[index]
      guard let number = links[index].number else {
        object.setValue(
          context.object(with: ids[Int(choice % UInt64(ids.count))]), forKey: name)
        continue
      }
      let several = (0..<number).map { context.object(with: ids[(row * number + $0) % ids.count]) }
      object.setValue(
        links[index].relationship.isOrdered ? NSOrderedSet(array: several) : Set(several),
        forKey: name)
    }
  }
}

/// Generates the values of one attribute.
struct AttributeSource {
  let name: String
  private let type: NSAttributeType
  private let recipe: ValueRecipe
  private let literals: [Any?]
  private let firstRow: Int
  private var random: SeededGenerator

  /// Creates a source of values.
  ///
  /// - Parameters:
  ///   - filled: The attribute and its recipe.
  ///   - seed: The seed of the random values.
  ///   - stream: The name of the stream of random numbers.
  init(_ filled: EntityPlan.FilledAttribute, seed: UInt64, stream: String) {
    name = filled.attribute.name
    let type = filled.attribute.attributeType
    self.type = type
    recipe = filled.recipe
    firstRow = filled.firstRow
    random = SeededGenerator(seed: seed, stream: stream)
    if case .literals(let words) = recipe {
      literals = words.map { AttributeLiteral(type).value(of: $0) }
    } else {
      literals = []
    }
  }

  /// Returns the value for a row index, starting at 0, or `nil` for no value.
  mutating func value(row: Int) -> Any? {
    switch recipe {
    case .serial(let least, let greatest):
      number(AttributeSource.serial(firstRow + row, least, greatest))
    case .random(let least, let greatest, let bound):
      number(random.whole(from: least, to: greatest, below: bound))
    case .hundredths(let least, let greatest, let bound):
      Decimal(random.whole(from: least, to: greatest, below: bound)) / 100
    case .fraction(let least, let greatest): fraction(least, greatest)
    case .text(let length, let isUnique):
      random.text(length: length, row: isUnique ? firstRow + row : nil)
    case .dates(let seconds, let least): date(Double(least + (firstRow + row) * seconds))
    case .anyDate(let least, let greatest):
      date(Double(least + random.below(ValueRecipe.length(from: least, to: greatest))))
    case .flag: random.below(2) == 1
    case .bytes(let length): random.bytes(length: length)
    case .uuid: random.uuid()
    case .address: URL(string: "https://example.org/\(firstRow + row + 1)")
    case .literals: literals.isEmpty ? nil : literals[row % literals.count]
    case .none: nil
    }
  }

  /// Returns consecutive integers within the bounds, repeated from the first.
  private static func serial(_ row: Int, _ least: Int, _ greatest: Int) -> Int {
    guard least < greatest else { return least }
    let (span, isOver) = greatest.subtractingReportingOverflow(least)
    return isOver ? row : least + row % (span == .max ? span : span + 1)
  }

  /// Returns an integer as a value of the attribute's type.
  private func number(_ number: Int) -> Any? {
    switch type {
    case .integer16AttributeType: Int16(clamping: number)
    case .integer32AttributeType: Int32(clamping: number)
    case .integer64AttributeType: Int64(number)
    case .decimalAttributeType: Decimal(number)
    case .doubleAttributeType: Double(number)
    case .floatAttributeType: Float(number)
    default: nil
    }
  }

  private mutating func fraction(_ least: Double, _ greatest: Double) -> Any? {
    let number = random.fraction(from: least, to: greatest)
    return type == .floatAttributeType ? Float(number) : number
  }

  private func date(_ seconds: Double) -> Date {
    Date(timeIntervalSinceReferenceDate: ValueRecipe.epoch + seconds)
  }
}
