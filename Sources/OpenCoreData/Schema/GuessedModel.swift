import ManagedModel
import SQLiteDriver

/// A model read off the tables of a store that carries none.
///
/// Entities and their hierarchy are exact: `Z_PRIMARYKEY` has them. Names of properties are guesses,
/// as columns are in capitals. So is where a to-one relationship leads, except for a polymorphic one,
/// whose second column names the entity by number. The columns of a hierarchy are all given to its
/// root, for nothing tells whose they are. Many-to-many relationships are exact but for the case of
/// their names; one-to-many relationships have no column of their own and are not seen.
struct GuessedModel {
  private let file: FileSchema
  private let connection: Connection
  private var entities: [Int: NSEntityDescription] = [:]
  private var roots: [(entity: NSEntityDescription, table: FileSchema.Table)] = []
  private var properties: [ObjectIdentifier: [String: NSPropertyDescription]] = [:]

  /// Reads the schema.
  ///
  /// Some SELECTs for each column that may be a relationship, each ending at its first row.
  ///
  /// - Throws: `SQLiteError`.
  static func read(from connection: Connection) throws -> NSManagedObjectModel {
    var guess = GuessedModel(file: try FileSchema(reading: connection), connection: connection)
    return try guess.model()
  }

  private init(file: FileSchema, connection: Connection) {
    self.file = file
    self.connection = connection
  }

  private mutating func model() throws -> NSManagedObjectModel {
    placeEntities()
    let indexed = try indexedColumns()
    var toOne: [ToOne] = []
    for (root, table) in roots {
      toOne += try addColumns(of: table, to: root, indexed: indexed[table.name] ?? [])
    }
    try pair(toOne)
    for table in file.tables.values.sorted(by: { $0.name < $1.name }) {
      addManyToMany(in: table)
    }
    for entity in entities.values {
      entity.properties = (properties[ObjectIdentifier(entity)] ?? [:]).values
        .sorted { $0.name < $1.name }
    }
    let model = NSManagedObjectModel()
    model.entities = entities.keys.sorted().compactMap { entities[$0] }
    return model
  }

  // MARK: Entities

  private mutating func placeEntities() {
    var names: Set<String> = []
    var byParent: [Int: [FileSchema.NumberedEntity]] = [:]
    for entity in file.entities
    where entity.number < FileSchema.firstHistoryEntity && names.insert(entity.name).inserted {
      byParent[entity.superNumber, default: []].append(entity)
    }
    for root in byParent[0] ?? [] { placeRoot(root, byParent) }
    // Numbers of parents that are damaged form a circle, or lead nowhere: what has a table is read.
    let all = byParent.values.joined().sorted { $0.number < $1.number }
    for entity in all where entities[entity.number] == nil { placeRoot(entity, byParent) }
  }

  private mutating func placeRoot(
    _ root: FileSchema.NumberedEntity, _ byParent: [Int: [FileSchema.NumberedEntity]]
  ) {
    guard let table = file.tables[SQLNames.plain(root.name)] else { return }
    roots.append((place(root, byParent), table))
  }

  private mutating func place(
    _ numbered: FileSchema.NumberedEntity, _ byParent: [Int: [FileSchema.NumberedEntity]]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = numbered.name
    entities[numbered.number] = entity
    // An entity that has been placed already would be a circle.
    entity.subentities = (byParent[numbered.number] ?? [])
      .filter { entities[$0.number] == nil }
      .map { place($0, byParent) }
    return entity
  }

  // MARK: Columns

  /// A to-one relationship and where it is kept.
  private struct ToOne {
    let relationship: NSRelationshipDescription
    let table: String
    let column: String
    let root: NSEntityDescription
  }

  private mutating func addColumns(
    of table: FileSchema.Table, to entity: NSEntityDescription, indexed: Set<String>
  ) throws -> [ToOne] {
    var found: [ToOne] = []
    for column in table.columns {
      let name = column.name.uppercased()
      guard name.hasPrefix("Z"), !name.hasPrefix("Z_"), name.count > 1 else { continue }
      if let hidden = name.wholeMatch(of: /Z(\d+)(_?)(.+)/) {
        if hidden.2.isEmpty, let number = Int(hidden.1), let owner = entities[number] {
          addHiddenToMany(String(hidden.3), of: owner, to: entity)
        }
        continue
      }
      let plain = String(name.dropFirst())
      if let destination = try destination(of: column, plain, in: table, indexed) {
        let relationship = NSRelationshipDescription()
        relationship.name = plain.lowercased()
        relationship.destinationEntity = destination
        relationship.maxCount = 1
        add(relationship, to: entity)
        found.append(
          ToOne(
            relationship: relationship, table: table.name, column: column.name, root: entity))
      } else {
        let attribute = NSAttributeDescription()
        attribute.name = plain.lowercased()
        attribute.attributeType = NSAttributeType(column: column.type)
        add(attribute, to: entity)
      }
    }
    return found
  }

  private mutating func add(_ property: NSPropertyDescription, to entity: NSEntityDescription) {
    let own = properties[ObjectIdentifier(entity)] ?? [:]
    guard own[property.name] == nil else { return }
    properties[ObjectIdentifier(entity), default: [:]][property.name] = property
  }

  private mutating func addHiddenToMany(
    _ name: String, of owner: NSEntityDescription, to destination: NSEntityDescription
  ) {
    let relationship = NSRelationshipDescription()
    relationship.name = name.lowercased()
    relationship.destinationEntity = destination
    add(relationship, to: owner)
  }

  /// The entity that a column's keys lead to; nil for an ordinary number.
  private func destination(
    of column: FileSchema.Column, _ plain: String, in table: FileSchema.Table,
    _ indexed: Set<String>
  ) throws -> NSEntityDescription? {
    guard column.type == StoredType.integer.declaration else { return nil }
    for other in table.columns {
      if let match = other.name.uppercased().wholeMatch(of: /Z(\d+)_(.+)/),
        match.2 == plain, let number = Int(match.1), let entity = entities[number]
      {
        return entity
      }
    }
    guard indexed.contains(column.name.uppercased()) else { return nil }
    let same = entities.sorted { $0.key < $1.key }.first { $0.value.name?.uppercased() == plain }
    if let same { return same.value }
    let similar = roots.filter { root in
      let name = (root.entity.name ?? "").uppercased()
      return name.hasSuffix(plain) || plain.hasSuffix(name)
    }
    if let entity = try similar.first(where: { try leads(column, of: table, to: $0.table) }) {
      return entity.entity
    }
    guard try hasKeys(column, of: table) else { return nil }
    let possible = try roots.filter { try leads(column, of: table, to: $0.table) }
    return possible.count == 1 ? possible[0].entity : nil
  }

  /// The columns by table that have the index which relationships always have.
  private func indexedColumns() throws -> [String: Set<String>] {
    var columns: [String: Set<String>] = [:]
    for row in try connection.values(
      "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND name LIKE '%\\_INDEX' ESCAPE '\\'"
    ) {
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { continue }
      let (start, end) = ("\(table)_".uppercased(), "_INDEX")
      guard name.uppercased().hasPrefix(start), name.count > start.count + end.count else {
        continue
      }
      columns[table, default: []].insert(
        String(name.uppercased().dropFirst(start.count).dropLast(end.count)))
    }
    return columns
  }

  private func hasKeys(_ column: FileSchema.Column, of table: FileSchema.Table) throws -> Bool {
    let name = SQLNames.quoted(column.name)
    return try !connection.values(
      "SELECT 1 FROM \(SQLNames.quoted(table.name)) WHERE \(name) IS NOT NULL LIMIT 1"
    ).isEmpty
  }

  /// Whether each key in a column is one of a table's.
  private func leads(
    _ column: FileSchema.Column, of table: FileSchema.Table, to other: FileSchema.Table
  ) throws -> Bool {
    let name = SQLNames.quoted(column.name)
    return try connection.values(
      "SELECT 1 FROM \(SQLNames.quoted(table.name)) WHERE \(name) IS NOT NULL "
        + "AND \(name) NOT IN (SELECT Z_PK FROM \(SQLNames.quoted(other.name))) LIMIT 1"
    ).isEmpty
  }

  // MARK: Inverses and join tables

  /// Makes inverses of to-one relationships that name each other in every row.
  private func pair(_ all: [ToOne]) throws {
    for (index, one) in all.enumerated() where one.relationship.inverseRelationship == nil {
      for other in all.dropFirst(index + 1)
      where other.relationship.inverseRelationship == nil
        && one.relationship.destinationEntity === other.root
        && other.relationship.destinationEntity === one.root
      {
        guard try mirrors(one, other), try mirrors(other, one) else { continue }
        one.relationship.inverseRelationship = other.relationship
        other.relationship.inverseRelationship = one.relationship
        break
      }
    }
  }

  private func mirrors(_ one: ToOne, _ other: ToOne) throws -> Bool {
    let (column, back) = (SQLNames.quoted(one.column), SQLNames.quoted(other.column))
    let tables =
      "FROM \(SQLNames.quoted(one.table)) a LEFT JOIN \(SQLNames.quoted(other.table)) b "
      + "ON b.Z_PK = a.\(column) WHERE a.\(column) IS NOT NULL"
    return try connection.values("SELECT 1 \(tables) AND b.\(back) IS NOT a.Z_PK LIMIT 1").isEmpty
      && !connection.values("SELECT 1 \(tables) LIMIT 1").isEmpty
  }

  private mutating func addManyToMany(in table: FileSchema.Table) {
    guard table.name.uppercased().wholeMatch(of: /Z_\d+.+/) != nil else { return }
    let keys = table.columns.compactMap { column -> (number: Int, name: String)? in
      guard let match = column.name.uppercased().wholeMatch(of: /Z_(\d+)(.+)/),
        let number = Int(match.1)
      else { return nil }
      return (number, String(match.2))
    }
    if keys.count == 1, let entity = entities[keys[0].number],
      table.columns.contains(where: { $0.name.uppercased() == "REFLEXIVE" })
    {
      let own = NSRelationshipDescription()
      own.name = keys[0].name.lowercased()
      own.destinationEntity = entity
      own.inverseRelationship = own
      return add(own, to: entity)
    }
    guard keys.count == 2, let first = entities[keys[0].number],
      let second = entities[keys[1].number]
    else { return }
    let orders = Set(table.columns.map { $0.name.uppercased() }.filter { $0.hasPrefix("Z_FOK_") })
    // A column is named by the relationship that gives its keys.
    let toFirst = NSRelationshipDescription()
    let toSecond = NSRelationshipDescription()
    for (relationship, key, destination, inverse) in [
      (toFirst, keys[0], first, toSecond), (toSecond, keys[1], second, toFirst),
    ] {
      relationship.name = key.name.lowercased()
      relationship.destinationEntity = destination
      relationship.inverseRelationship = inverse
      relationship.isOrdered = orders.contains("Z_FOK_\(key.number)\(key.name)")
    }
    add(toFirst, to: second)
    add(toSecond, to: first)
  }
}

extension NSAttributeType {
  /// The type that a column's declaration points to.
  fileprivate init(column type: String) {
    switch type {
    case "INTEGER": self = .integer64AttributeType
    case "FLOAT": self = .doubleAttributeType
    case "TIMESTAMP": self = .dateAttributeType
    case "DECIMAL": self = .decimalAttributeType
    case "VARCHAR": self = .stringAttributeType
    default: self = .binaryDataAttributeType
    }
  }
}
