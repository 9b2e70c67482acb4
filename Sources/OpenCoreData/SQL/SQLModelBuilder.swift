import ManagedModel
import SQLiteDriver

/// Builds the entities of a `SQLModel`, by Core Data's rules or from a file.
struct SQLModelBuilder {
  let model: NSManagedObjectModel
  let configuration: String?
  let file: FileSchema?
  /// Whether missing tables and columns get their default names.
  let ignoresMissing: Bool

  /// In numbering order, so that parents come first.
  private(set) var entities: [SQLEntity] = []
  private var byDescription: [ObjectIdentifier: SQLEntity] = [:]
  private var claims: [String: ColumnClaims] = [:]
  /// The tables of entities so far, in uppercase, and those of every file.
  private var takenTables = HousekeepingTables.names

  init(
    model: NSManagedObjectModel, configuration: String?, file: FileSchema?, ignoresMissing: Bool
  ) {
    self.model = model
    self.configuration = configuration
    self.file = file
    self.ignoresMissing = ignoresMissing
  }

  mutating func build() throws(SchemaMismatch) -> [SQLEntity] {
    try addEntities()
    for entity in entities { try addColumns(of: entity) }
    var joins = JoinTables(file: file, ignoresMissing: ignoresMissing, tables: takenTables)
    for entity in entities {
      var own: [SQLToMany] = []
      // Relationships to entities of another store have no column.
      for relationship in entity.description.ownStoredRelationships
      where relationship.isToMany && self.entity(of: relationship) != nil {
        own.append(try add(relationship, of: entity, joins: &joins))
      }
      entity.setOwnToMany(own)
    }
    return entities
  }

  // MARK: Entities and tables

  private mutating func addEntities() throws(SchemaMismatch) {
    let descriptions = model.entitiesInNumberingOrder(of: configuration)
    let numbers = try EntityNumbers(
      descriptions, file: file, ignoresMissing: ignoresMissing)
    for description in descriptions {
      let parent = description.superentity.flatMap { byDescription[ObjectIdentifier($0)] }
      let table =
        if let parent { parent.table } else {
          try table(of: description, nameInFile: numbers.nameInFile(description))
        }
      let entity = SQLEntity(
        description: description, number: numbers.number(description), table: table,
        superentity: parent)
      entities.append(entity)
      byDescription[ObjectIdentifier(description)] = entity
    }
    for root in entities where root.superentity == nil {
      let names = root.family.flatMap { $0.description.ownStoredProperties.map(\.name) }
      claims[root.table] = ColumnClaims(
        file: file?.tables[root.table.uppercased()], reserved: Set(names.map(SQLNames.plain)))
    }
  }

  /// Returns the table of a root entity, which must be unique: names that differ in case get a
  /// number.
  private mutating func table(
    of entity: NSEntityDescription, nameInFile: String?
  ) throws(SchemaMismatch) -> String {
    let name = SQLNames.plain(entity.name ?? "")
    guard let file else { return SQLNames.take(name, from: &takenTables) }
    let renamed = entity.explicitRenamingIdentifier
    for candidate in [entity.name, nameInFile, renamed].compactMap({ $0 }) {
      let spelled = SQLNames.free(SQLNames.plain(candidate)) { takenTables.contains($0) }
      if let table = file.tables[spelled] {
        takenTables.insert(spelled)
        return table.name
      }
    }
    if ignoresMissing { return SQLNames.take(name, from: &takenTables) }
    throw SchemaMismatch(entity: entity.name ?? "", property: nil, table: name, column: nil)
  }

  private func entity(of relationship: NSRelationshipDescription) -> SQLEntity? {
    relationship.destinationEntity.flatMap { byDescription[ObjectIdentifier($0)] }
  }

  // MARK: Columns

  private mutating func addColumns(of entity: SQLEntity) throws(SchemaMismatch) {
    var columns: [SQLColumn] = []
    for attribute in entity.description.ownStoredAttributes {
      let name = try claim(
        SQLNames.plain, for: attribute, of: entity,
        declaration: StoredType(attribute.attributeType).declaration)
      columns.append(
        SQLColumn(property: attribute, name: name, entityColumn: nil, orderColumn: nil))
    }
    for relationship in entity.description.ownStoredRelationships where !relationship.isToMany {
      columns.append(try addToOne(relationship, of: entity))
    }
    entity.setOwnColumns(columns)
  }

  private mutating func addToOne(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity
  ) throws(SchemaMismatch) -> SQLColumn {
    let name = try claim(SQLNames.plain, for: relationship, of: entity)
    var entityColumn: String?
    if let destination = self.entity(of: relationship), !destination.subentities.isEmpty {
      let number = destination.number
      entityColumn = try claim(
        { SQLNames.concreteEntity(number, $0) }, for: relationship, of: entity)
    }
    var orderColumn: String?
    if let inverse = relationship.inverseRelationship, inverse.isToMany, inverse.isOrdered {
      orderColumn = try claim(SQLNames.order, for: relationship, of: entity)
    }
    return SQLColumn(
      property: relationship, name: name, entityColumn: entityColumn, orderColumn: orderColumn)
  }

  /// Claims a column of an entity's table for a property, by its current or former name.
  private mutating func claim(
    _ spell: (String) -> String, for property: NSPropertyDescription, of entity: SQLEntity,
    declaration: String = StoredType.integer.declaration
  ) throws(SchemaMismatch) -> String {
    var bases = [spell(property.name)]
    if file != nil {
      if let former = property.explicitRenamingIdentifier { bases.append(spell(former)) }
      // Core Data's column names for elements of a composite attribute aren't publicly known.
      let path = property.name.split(separator: ".").map(String.init)
      if path.count > 1 { bases += [spell(path.joined()), spell(path[path.count - 1])] }
    }
    if let name = claims[entity.table]?.claim(bases, declaration: declaration) { return name }
    if ignoresMissing { return bases[0] }
    throw SchemaMismatch(
      entity: entity.name, property: property.name, table: entity.table, column: bases[0])
  }

  // MARK: To-many relationships

  private mutating func add(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity, joins: inout JoinTables
  ) throws(SchemaMismatch) -> SQLToMany {
    guard let destination = self.entity(of: relationship) else {
      fatalError(
        "The relationship \(relationship) has a destination that isn't in the model.")
    }
    let storage: SQLToMany.Storage
    if let inverse = relationship.inverseRelationship, inverse.isToMany {
      storage = try joins.storage(of: relationship, from: entity, to: destination)
    } else if let inverse = relationship.inverseRelationship,
      let column = destination.column(named: inverse.name)
    {
      storage = .foreignKey(
        column: column.name, orderColumn: relationship.isOrdered ? column.orderColumn : nil)
    } else if file != nil, let stated = relationship.unreadTexts["inverseName"],
      let column = destination.column(named: stated), column.property is NSRelationshipDescription
    {
      // Core Data's files have no second column for a to-many whose inverse belongs to another one.
      storage = .foreignKey(column: column.name, orderColumn: nil)
    } else {
      storage = try addHiddenInverse(relationship, of: entity, in: destination)
    }
    return SQLToMany(relationship: relationship, destination: destination, storage: storage)
  }

  private mutating func addHiddenInverse(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity, in destination: SQLEntity
  ) throws(SchemaMismatch) -> SQLToMany.Storage {
    let number = entity.number
    let column = try claim(
      { SQLNames.hiddenInverse(number, $0) }, for: relationship, of: destination)
    let orderColumn =
      relationship.isOrdered
      ? try claim({ "Z_FOK_\(number)" + $0.uppercased() }, for: relationship, of: destination)
      : nil
    return .foreignKey(column: column, orderColumn: orderColumn)
  }
}

/// Names the tables of many-to-many relationships, by Core Data's rules or from a file.
struct JoinTables {
  private let file: FileSchema?
  private let ignoresMissing: Bool

  /// Join columns in use, of which a second one with the same name gets the suffix 1; with a file,
  /// the join tables in use.
  private var taken: Set<String> = []
  /// The tables of a new file, in uppercase.
  private var tables: Set<String>
  private var storages: [ObjectIdentifier: SQLToMany.Storage] = [:]

  /// - Parameter tables: The tables of entities, in uppercase.
  init(file: FileSchema?, ignoresMissing: Bool = false, tables: Set<String> = []) {
    self.file = file
    self.ignoresMissing = ignoresMissing
    self.tables = tables
  }

  /// Returns the storage of a many-to-many relationship.
  ///
  /// Both ends have the same table.
  mutating func storage(
    of relationship: NSRelationshipDescription, from source: SQLEntity, to destination: SQLEntity
  ) throws(SchemaMismatch) -> SQLToMany.Storage {
    if let storage = storages[ObjectIdentifier(relationship)] { return storage }
    guard let inverse = relationship.inverseRelationship else {
      fatalError("A many-to-many relationship has an inverse.")
    }
    // The side with the lower entity ID names the table. Entities are visited by ID and their
    // relationships by name, so the first side is that side.
    let wanted = Wanted(relationship, inverse, source: source.number, destination.number)
    let pair: Pair
    if let file, let found = find(wanted, in: file) {
      pair = found
    } else if file == nil || ignoresMissing {
      pair = invent(wanted)
    } else {
      throw SchemaMismatch(
        entity: source.name, property: relationship.name, table: wanted.table, column: nil)
    }
    storages[ObjectIdentifier(inverse)] = .joinTable(
      table: pair.table, sourceColumn: pair.destinationColumn,
      destinationColumn: pair.sourceColumn,
      orderColumn: try orderColumn(of: inverse, destination, pair.sourceColumn, in: pair.table))
    let storage = SQLToMany.Storage.joinTable(
      table: pair.table, sourceColumn: pair.sourceColumn,
      destinationColumn: pair.destinationColumn,
      orderColumn: try orderColumn(of: relationship, source, pair.destinationColumn, in: pair.table)
    )
    storages[ObjectIdentifier(relationship)] = storage
    return storage
  }

  /// Returns the column with the order keys of an ordered relationship, whose primary keys are in
  /// `column`.
  private func orderColumn(
    of relationship: NSRelationshipDescription, _ entity: SQLEntity, _ column: String,
    in table: String
  ) throws(SchemaMismatch) -> String? {
    guard relationship.isOrdered else { return nil }
    let name = SQLNames.joinOrder(column)
    guard let file else { return name }
    let orders = (file.tables[table.uppercased()]?.columns ?? [])
      .filter { $0.name.uppercased().hasPrefix("Z_FOK_") }
    let ending = relationship.name.uppercased()
    let found =
      orders.first { $0.name.uppercased() == name.uppercased() }
      ?? orders.first { $0.name.uppercased().hasSuffix(ending) }
      ?? (orders.count == 1 ? orders[0] : nil)
    guard let found else {
      if ignoresMissing { return name }
      throw SchemaMismatch(
        entity: entity.name, property: relationship.name, table: table, column: name)
    }
    return found.name
  }

  /// The default names.
  ///
  /// A column is named after the relationship whose destinations it contains.
  private struct Wanted {
    let table: String
    let inverseTable: String
    let sourceColumn: String
    let destinationColumn: String
    let name: String
    let inverseName: String

    init(
      _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription,
      source: Int, _ destination: Int
    ) {
      name = relationship.name.uppercased()
      inverseName = inverse.name.uppercased()
      table = SQLNames.join(source, name)
      inverseTable = SQLNames.join(destination, inverseName)
      sourceColumn = relationship === inverse ? "REFLEXIVE" : SQLNames.join(source, inverseName)
      destinationColumn = SQLNames.join(destination, name)
    }
  }

  private struct Pair {
    let table: String
    let sourceColumn: String
    let destinationColumn: String
  }

  private mutating func invent(_ wanted: Wanted) -> Pair {
    let table = SQLNames.take(wanted.table, from: &tables)
    // As in `match`, the source's column gets the number if the names differ only in case.
    let destination = take(wanted.destinationColumn)
    return Pair(
      table: table, sourceColumn: take(wanted.sourceColumn), destinationColumn: destination)
  }

  private mutating func take(_ column: String) -> String {
    column == "REFLEXIVE" ? column : SQLNames.take(column, from: &taken)
  }

  /// Finds the table: by its rule name, by the other side's, then any with matching columns.
  ///
  /// If the IDs in the names aren't this file's, there must be only one match.
  private mutating func find(_ wanted: Wanted, in file: FileSchema) -> Pair? {
    let names = [wanted.table, wanted.inverseTable]
    let others = file.tables.values
      .filter { $0.name.hasPrefix("Z_") && !names.contains($0.name.uppercased()) }
      .sorted { $0.name < $1.name }
    let candidates = (names.compactMap { file.tables[$0] } + others)
      .filter { !taken.contains($0.name) }
    let exact = candidates.compactMap { match(wanted, $0, exactNumbers: true) }
    let stale = candidates.compactMap { match(wanted, $0, exactNumbers: false) }
    let found = exact.first ?? (stale.count == 1 ? stale[0] : nil)
    if let found { taken.insert(found.table) }
    return found
  }

  private func match(_ wanted: Wanted, _ table: FileSchema.Table, exactNumbers: Bool) -> Pair? {
    func column(_ full: String, _ name: String, not other: String?) -> String? {
      let keys = table.columns.map(\.name)
        .filter { !$0.uppercased().hasPrefix("Z_FOK_") && $0 != other }
      if let exact = keys.first(where: { $0.uppercased() == full }) { return exact }
      return keys.first { key in
        let key = key.uppercased()
        return exactNumbers ? isSuffixed(key, full) : isNumbered(key, name)
      }
    }
    guard let destination = column(wanted.destinationColumn, wanted.name, not: nil),
      let source = column(wanted.sourceColumn, wanted.inverseName, not: destination)
    else { return nil }
    return Pair(table: table.name, sourceColumn: source, destinationColumn: destination)
  }

  /// Returns whether a column is a name with a number after it: `Z_23USERS1`.
  private func isSuffixed(_ column: String, _ name: String) -> Bool {
    column.hasPrefix(name) && Int(column.dropFirst(name.count)) != nil
  }

  /// Returns whether a column is a name with any entity ID before it: `Z_14USERS`, `Z_14USERS1`.
  private func isNumbered(_ column: String, _ name: String) -> Bool {
    guard column.hasPrefix("Z_") else { return false }
    let rest = column.dropFirst(2).drop(while: \.isNumber)
    return rest == name || isSuffixed(String(rest), name)
  }
}
