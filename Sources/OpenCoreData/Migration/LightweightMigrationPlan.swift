import ManagedModel
import SQLiteDriver

/// The SQL that migrates a store in place to another version of its model.
///
/// Rows keep their primary keys and versions (`Z_OPT`), and a table is copied only if it loses a
/// column, if a column's type changes, or if its rows are split. Creating the plan reads the
/// schema, but no rows.
///
/// With `Cleanup.later`, a table isn't copied for a column that it loses, and tables and indexes
/// that the new version doesn't have stay: `deferred` lists them.
struct LightweightMigrationPlan {
  let mapping: InferredMapping
  /// The old model, mapped to the file's tables.
  let source: SQLModel
  /// The new model, mapped to the tables of a new file.
  let destination: SQLModel
  let sourceSchema: SchemaBuilder
  let destinationSchema: SchemaBuilder
  /// The indexes of the new version.
  let requiredIndexes: [SchemaIndex]
  let file: FileSchema
  let objects: FileObjects
  /// What becomes of columns, tables, and indexes that the new version doesn't have.
  let cleanup: Cleanup
  /// The metadata of the file.
  let metadata: StoreMetadata
  /// The deferred work of earlier migrations of the file.
  let pending: DeferredWork
  /// The source entity of each destination entity that has one, by destination.
  let former: [ObjectIdentifier: SQLEntity]
  /// The destination entity of each source entity that has one, by source.
  let later: [ObjectIdentifier: SQLEntity]
  /// The new entity IDs of rows whose ID changes, by the old one.
  let newNumbers: [Int: Int]
  /// What becomes of the properties of each destination entity.
  let properties: [ObjectIdentifier: InferredMapping.Entity]

  /// The statements and checks.
  private(set) var statements = MigrationStatements()
  /// The work that's deferred after this migration.
  var deferred = DeferredWork()
  /// The destination root that keeps the table of each source root, by source.
  private(set) var heirs: [ObjectIdentifier: SQLEntity] = [:]
  /// The source roots whose tables are changed in place.
  var keptRoots: Set<ObjectIdentifier> = []
  /// The changes of the tables of root entities.
  var tables: [TableMigration] = []
  /// The changes of the tables of many-to-many relationships.
  private(set) var joins: [JoinTableMigration] = []
  /// The tables of many-to-many relationships that are created without rows.
  var emptyJoinTables: Set<String> = []
  /// The temporary tables with pairs of keys, by name.
  var pairTables: [String: KeptJoinRows] = [:]
  /// The tables that keep their indexes, by their uppercase names in the file.
  private(set) var altered: [String: AlteredTable] = [:]
  /// The program's indexes and triggers that are created again, by their statements.
  var restored: [String: String] = [:]

  /// A table that's changed in place.
  typealias AlteredTable = (name: String, newNames: [String: String])

  /// Plans the migration of a file.
  ///
  /// **Cost:** the statements that read the schema.
  /// - Parameters:
  ///   - mapping: A mapping without obstacles.
  ///   - configuration: The configuration of the models that the store contains; `nil` for all
  ///     entities.
  ///   - metadata: The file's metadata.
  ///   - connection: A connection to the file.
  ///   - planned: Indexes to add to those of the file.
  ///   - cleanup: Whether to defer what doesn't affect reading.
  /// - Throws: `SchemaMismatch` if the file isn't one of the source model; `SQLiteError`.
  init(
    _ mapping: InferredMapping, configuration: String?, of metadata: StoreMetadata,
    reading connection: Connection, adding planned: [SchemaIndex] = [], cleanup: Cleanup = .now
  ) throws {
    self.mapping = mapping
    self.cleanup = cleanup
    self.metadata = metadata
    pending = DeferredWork(metadata.values)
    file = try FileSchema(reading: connection)
    objects = try FileObjects(reading: connection, adding: planned)
    source = try SQLModel(
      model: mapping.source, configuration: mapping.source.known(configuration), file: file)
    destination = SQLModel(
      model: mapping.destination, configuration: mapping.destination.known(configuration))
    sourceSchema = SchemaBuilder(model: source)
    destinationSchema = SchemaBuilder(model: destination)
    requiredIndexes = destinationSchema.indexes
    var former: [ObjectIdentifier: SQLEntity] = [:]
    var later: [ObjectIdentifier: SQLEntity] = [:]
    var properties: [ObjectIdentifier: InferredMapping.Entity] = [:]
    for entity in mapping.entities {
      let before = entity.source.flatMap(source.storedEntity)
      guard let after = entity.destination.flatMap(destination.storedEntity) else { continue }
      properties[ObjectIdentifier(after)] = entity
      guard let before else { continue }
      former[ObjectIdentifier(after)] = before
      later[ObjectIdentifier(before)] = after
    }
    self.former = former
    self.later = later
    newNumbers = source.entities.reduce(into: [:]) { numbers, entity in
      guard let number = later[ObjectIdentifier(entity)]?.number, number != entity.number else {
        return
      }
      numbers[entity.number] = number
    }
    self.properties = properties
    plan()
  }

  private mutating func plan() {
    heirs = heirs(among: destination.roots)
    planTables()
    joins = joinTableMigrations()
    for table in tables where table.change == .alter {
      altered[table.source?.table.uppercased() ?? ""] = (table.root.table, table.newNames)
    }
    for join in joins where join.isKept {
      altered[join.former?.table.uppercased() ?? ""] = (join.table, join.newNames)
    }
    dropReplacedTables()
    removeObjects()
    removeInvalidReferences()
    for table in tables { table.add(to: &statements) }
    for table in tables { fillRelationships(of: table) }
    migrateJoinTables()
    dropTables()
    createIndexes()
    fillComposites()
    createTriggers()
    addChecks()
    renumberEntities()
  }

  // MARK: Entities and properties

  func formerEntity(of entity: SQLEntity) -> SQLEntity? { former[ObjectIdentifier(entity)] }

  func laterEntity(of entity: SQLEntity) -> SQLEntity? { later[ObjectIdentifier(entity)] }

  /// Returns the name that a property of a destination entity has in its source entity; `nil` if
  /// it's added.
  func formerName(of name: String, in entity: SQLEntity) -> String? {
    properties[ObjectIdentifier(entity)]?.sourceName(of: name)
  }

  /// A relationship of the source model, with the entity through which it was found.
  typealias FormerRelationship = (entity: SQLEntity, relationship: NSRelationshipDescription)

  /// Returns the source relationships of a destination relationship.
  ///
  /// There are several if subentities declared them separately before.
  func formerRelationships(
    of relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> [FormerRelationship] {
    var seen: Set<ObjectIdentifier> = []
    return entity.family.compactMap { entity in
      guard let former = formerEntity(of: entity),
        let name = formerName(of: relationship.name, in: entity),
        let found = former.description.relationshipsByName[name], !found.isTransient,
        seen.insert(ObjectIdentifier(found)).inserted
      else { return nil }
      return (former, found)
    }
  }

  /// Returns the source entities whose rows a relationship could refer to, but no longer can.
  func invalidDestinations(
    of former: NSRelationshipDescription, for relationship: NSRelationshipDescription
  ) -> [SQLEntity] {
    invalid(former.destinationEntity, below: relationship.destinationEntity)
  }

  /// Returns the descendants of a source entity that aren't descendants of a destination entity.
  func invalid(
    _ former: NSEntityDescription?, below entity: NSEntityDescription?
  ) -> [SQLEntity] {
    guard let former = former.flatMap(source.storedEntity), let entity else { return [] }
    // An entity that has left the configuration has no rows in the store.
    guard let stored = destination.storedEntity(for: entity) else { return former.family }
    let valid = Set(stored.concreteNumbers)
    return former.family.filter { candidate in
      laterEntity(of: candidate).map { !valid.contains($0.number) } ?? true
    }
  }

  /// Adds a statement to the plan.
  ///
  /// - Parameter table: The table whose rows it reads, changes, or indexes.
  mutating func add(
    _ phase: MigrationStatements.Phase, _ purpose: String, _ sql: String,
    _ values: [SQLiteValue] = [], rowsOf table: String? = nil
  ) {
    statements.add(phase, purpose, sql, values, rowsOf: table)
  }

  /// Adds a check to the plan.
  mutating func add(_ check: MigrationStatements.Check) { statements.add(check) }

  /// Returns entity IDs as an SQL list.
  static func list(_ entities: [SQLEntity]) -> String {
    entities.map { "\($0.number)" }.joined(separator: ", ")
  }
}

/// When a lightweight migration removes what doesn't affect reading: the columns of removed
/// properties, the tables of removed entities and relationships, and indexes.
enum Cleanup: Hashable, Sendable {
  /// In the migration itself.
  case now
  /// After the migration, when the app finishes it.
  case later
  /// For one table, whose migration is finished; other tables don't change.
  case of(table: String)

  /// Whether only deferred work of an earlier migration is done.
  var isFinishing: Bool {
    if case .of = self { true } else { false }
  }
}

extension LightweightMigrationPlan {
  /// Returns whether the migration removes columns and indexes of a table that the new version
  /// doesn't have.
  ///
  /// - Parameter table: The table's name in the new version.
  func cleansUp(_ table: String) -> Bool {
    switch cleanup {
    case .now: true
    case .later: false
    case .of(let finished): finished.uppercased() == table.uppercased()
    }
  }
}

// Conditions that migrated rows must meet.

extension LightweightMigrationPlan {
  /// Adds the checks of values that became required or have a narrower type.
  ///
  /// A to-many relationship that became required isn't checked: validation does that when an object
  /// is saved.
  mutating func addChecks() {
    for entity in destination.entities {
      let members = Self.list(entity.family)
      let table = SQLSyntax.quoted(entity.table)
      for column in entity.ownColumns {
        let name = SQLSyntax.quoted(column.name)
        func check(_ condition: String, _ problem: MigrationFailure.Problem) {
          add(
            MigrationStatements.Check(
              sql: "SELECT COUNT(*) FROM \(table) WHERE \(condition) AND Z_ENT IN (\(members))",
              entity: entity.name, property: column.property.name, problem: problem))
        }
        let formers = formerProperties(of: column.property, of: entity)
        if let problem = missing(column, of: entity, formers) { check("\(name) IS NULL", problem) }
        if let relationship = column.property as? NSRelationshipDescription,
          gainsToOneInverse(relationship, of: entity)
        {
          add(
            MigrationStatements.Check(
              sql: "SELECT COUNT(*) FROM (SELECT 1 FROM \(table) WHERE \(name) IS NOT NULL "
                + "AND Z_ENT IN (\(members)) GROUP BY \(name) HAVING COUNT(*) > 1)",
              entity: entity.name, property: relationship.name, problem: .sharedDestination))
        }
        if let relationship = column.property as? NSRelationshipDescription,
          let inverse = joinedInverse(of: relationship, of: entity)
        {
          check(
            "EXISTS (SELECT 1 FROM \(SQLSyntax.quoted(inverse.table)) AS cdprof_other "
              + "WHERE cdprof_other.Z_PK = \(table).\(name) "
              + "AND cdprof_other.\(SQLSyntax.quoted(inverse.column)) IS NOT \(table).Z_PK)",
            .mismatchedInverse)
        }
        if let condition = overflow(of: column, formers) { check(condition, .outOfRange) }
      }
    }
    addChecksOfJoinedInverses()
    addChecksOfComposites()
    addChecksOfAbstractEntities()
  }

  /// Returns the problem of rows that have no value in a column; `nil` if it's optional, or all of
  /// them had and keep one.
  private func missing(
    _ column: SQLColumn, of entity: SQLEntity, _ formers: [NSPropertyDescription?]
  ) -> MigrationFailure.Problem? {
    guard !column.property.isOptional, !formers.isEmpty else { return nil }
    let wasRequired = formers.allSatisfy {
      $0.map { !$0.isOptional && !$0.isTransient } ?? false
    }
    if let relationship = column.property as? NSRelationshipDescription {
      let keepsAll = formerRelationships(of: relationship, of: entity).allSatisfy {
        invalidDestinations(of: $0.relationship, for: relationship).isEmpty
      }
      return wasRequired && keepsAll ? nil : .missingDestination
    }
    let isDerived = (column.property as? NSAttributeDescription)?.isDerived ?? false
    return wasRequired || isDerived ? nil : .missingValue
  }

  /// Returns the condition of values that a column's type can't represent; `nil` if it can
  /// represent those of all former properties.
  private func overflow(of column: SQLColumn, _ formers: [NSPropertyDescription?]) -> String? {
    guard let type = (column.property as? NSAttributeDescription)?.attributeType else { return nil }
    let name = SQLSyntax.quoted(column.name)
    if let range = type.narrowIntegers,
      formers.contains(where: { $0.map { !fits($0, range) } ?? false })
    {
      return "\(name) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    }
    let wasDouble = formers.contains {
      ($0 as? NSAttributeDescription)?.attributeType == .doubleAttributeType
    }
    guard type == .floatAttributeType, wasDouble else { return nil }
    // Greater numbers would become infinity, which is a value of both types.
    return "abs(\(name)) >= \(0x1.ffffffp127) AND abs(\(name)) < 9e999"
  }

  /// Returns whether a to-one relationship, whose destination any number of objects could share,
  /// has an inverse that refers to one of them.
  private func gainsToOneInverse(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> Bool {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return false }
    return formerRelationships(of: relationship, of: entity).contains {
      $0.relationship.inverseRelationship?.isToMany ?? true
    }
  }

  /// Returns the table and column of a to-one inverse that existed before, but wasn't the inverse;
  /// `nil` for any other relationship.
  ///
  /// What Core Data does with rows that don't match isn't known; to choose one of two references
  /// would lose the other.
  private func joinedInverse(
    of relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> (table: String, column: String)? {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let owner = inverse.entity.flatMap(destination.storedEntity),
      let column = owner.column(named: inverse.name)
    else { return nil }
    let others = formerRelationships(of: inverse, of: owner).map(\.relationship)
    guard !others.isEmpty else { return nil }
    let isJoined = formerRelationships(of: relationship, of: entity).contains { former in
      let known = former.relationship.inverseRelationship
      return !former.relationship.isToMany && !others.contains { $0 === known }
    }
    return isJoined ? (owner.table, column.name) : nil
  }

  private func fits(_ former: NSPropertyDescription, _ range: ClosedRange<Int64>) -> Bool {
    guard let type = (former as? NSAttributeDescription)?.attributeType else { return true }
    if type == .booleanAttributeType { return true }
    return type.narrowIntegers.map { range.contains($0.lowerBound) } ?? false
  }

  /// Returns the source property of each source entity whose rows have a property; `nil` for an
  /// added one.
  private func formerProperties(
    of property: NSPropertyDescription, of entity: SQLEntity
  ) -> [NSPropertyDescription?] {
    entity.family.compactMap { member in
      guard let former = formerEntity(of: member) else { return nil }
      let name = formerName(of: property.name, in: member)
      return .some(
        name.flatMap {
          former.description.propertiesByName[$0] ?? former.column(named: $0)?.property
        })
    }
  }
}

extension NSAttributeType {
  /// The values of an integer type that's narrower than SQLite's; `nil` for any other type.
  fileprivate var narrowIntegers: ClosedRange<Int64>? {
    switch self {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }
}
