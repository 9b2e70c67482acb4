import ManagedModel
import SQLiteDriver

/// A model inferred from the tables of a store without a model.
///
/// Entities and their hierarchy are exact: they're in `Z_PRIMARYKEY`. Property names are guesses,
/// because column names are uppercase. So are the destinations of to-one relationships, except for
/// polymorphic ones, whose second column contains the entity ID. All columns of a hierarchy are
/// assigned to its root, because their entities are unknown. Many-to-many relationships are exact
/// except for the case of their names; one-to-many relationships have no columns and aren't
/// detected.
struct InferredModel {
  private let file: FileSchema
  private let connection: Connection
  private var entities: [Int: NSEntityDescription] = [:]
  private var roots: [(entity: NSEntityDescription, name: String, table: FileSchema.Table)] = []
  /// The entities by uppercase name.
  private var byName: [String: NSEntityDescription] = [:]
  private var properties: [ObjectIdentifier: [String: NSPropertyDescription]] = [:]
  /// Whether the limits on reading values were reached; the types of further properties are
  /// guesses.
  private var isSpent = false

  /// Reads the schema.
  ///
  /// Some SELECTs for each column that may be a relationship, each ending at its first row; limited
  /// in number and in VM steps. Beyond the limits, columns are attributes and relationships have no
  /// inverse.
  ///
  /// - Throws: `SQLiteError`.
  static func read(from connection: Connection) throws -> NSManagedObjectModel {
    var guess = InferredModel(file: try FileSchema(reading: connection), connection: connection)
    return try connection.withStepLimit(StoreLimits.inferenceSteps) { try guess.model() }
  }

  /// Returns whether a SELECT finds a row; `nil` if that's unknown because of the limits.
  private mutating func finds(_ sql: String) throws -> Bool? {
    comparisons += 1
    if isSpent || comparisons > StoreLimits.inferenceComparisons { return nil }
    do {
      return try connection.hasRow(sql)
    } catch {
      guard connection.isStepLimitReached else { throw error }
      isSpent = true
      return nil
    }
  }

  private var comparisons = 0

  private init(file: FileSchema, connection: Connection) {
    self.file = file
    self.connection = connection
  }

  private mutating func model() throws -> NSManagedObjectModel {
    addEntities()
    byName = Dictionary(
      entities.sorted { $0.key < $1.key }.map { ($0.value.name?.uppercased() ?? "", $0.value) }
    ) { first, _ in first }
    let indexed = try indexedColumns()
    var toOne: [ToOne] = []
    for root in roots {
      toOne += try addColumns(
        of: root.table, to: root.entity, indexed: indexed[root.table.name] ?? [])
    }
    try pair(toOne)
    for table in file.tables.values.sorted(by: { $0.name < $1.name }) {
      addManyToMany(in: table)
    }
    for entity in entities.values {
      entity.properties = (properties[ObjectIdentifier(entity)] ?? [:]).values
        .sortedByName()
    }
    let model = NSManagedObjectModel()
    model.entities = entities.keys.sorted().compactMap { entities[$0] }
    return model
  }

  // MARK: Entities

  private mutating func addEntities() {
    var names: Set<String> = []
    var byParent: [Int: [FileSchema.NumberedEntity]] = [:]
    for entity in file.entities
    where entity.number < FileSchema.firstHistoryEntity && names.insert(entity.name).inserted {
      byParent[entity.superNumber, default: []].append(entity)
    }
    for root in byParent[0] ?? [] { addRoot(root, byParent) }
    // Corrupt parent IDs form a cycle, or refer to no entity: every entity with a table is read.
    let all = byParent.values.joined().sorted { $0.number < $1.number }
    for entity in all where entities[entity.number] == nil { addRoot(entity, byParent) }
  }

  private mutating func addRoot(
    _ root: FileSchema.NumberedEntity, _ byParent: [Int: [FileSchema.NumberedEntity]]
  ) {
    guard let table = file.tables[SQLNames.plain(root.name)] else { return }
    roots.append((add(root, byParent, depth: 0), root.name.uppercased(), table))
  }

  private mutating func add(
    _ numbered: FileSchema.NumberedEntity, _ byParent: [Int: [FileSchema.NumberedEntity]],
    depth: Int
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = numbered.name
    entities[numbered.number] = entity
    guard depth < StoreLimits.inferredDepth else { return entity }
    // An entity that was already added would be a cycle.
    entity.subentities = (byParent[numbered.number] ?? [])
      .filter { entities[$0.number] == nil }
      .map { add($0, byParent, depth: depth + 1) }
    return entity
  }

  // MARK: Columns

  /// A to-one relationship and its column.
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
    let polymorphic = polymorphicDestinations(in: table)
    for column in table.columns {
      let name = column.name.uppercased()
      guard name.hasPrefix("Z"), !name.hasPrefix("Z_"), name.count > 1 else { continue }
      if let numbered = NumberedColumn(name) {
        // `Z2_OWNER` has the entity IDs of `ZOWNER`.
        if !numbered.name.hasPrefix("_"), let owner = entities[numbered.number] {
          addHiddenToMany(numbered.name, of: owner, to: entity)
        }
        continue
      }
      let plain = String(name.dropFirst())
      let isKey = column.type == StoredType.integer.declaration
      let isIndexed = indexed.contains(name)
      let known = polymorphic[plain] ?? (isIndexed ? byName[plain] : nil)
      if isKey,
        let destination = try known
          ?? (isIndexed ? destination(of: column, plain, in: table) : nil)
      {
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

  /// Returns the entities whose IDs are in second columns, by the relationship's column without its
  /// Z.
  private func polymorphicDestinations(
    in table: FileSchema.Table
  ) -> [String: NSEntityDescription] {
    table.columns.reduce(into: [:]) { destinations, column in
      guard let numbered = NumberedColumn(column.name.uppercased()), numbered.name.first == "_",
        numbered.name.count > 1, let entity = entities[numbered.number]
      else { return }
      let plain = String(numbered.name.dropFirst())
      if destinations[plain] == nil { destinations[plain] = entity }
    }
  }

  /// Returns the entity that an indexed column's keys refer to, by similar names and by values;
  /// `nil` for an ordinary integer.
  private mutating func destination(
    of column: FileSchema.Column, _ plain: String, in table: FileSchema.Table
  ) throws -> NSEntityDescription? {
    // Many columns times many tables take too long even if no name is similar.
    comparisons += 1
    if comparisons > StoreLimits.inferenceComparisons { return nil }
    for root in roots where root.name.hasSuffix(plain) || plain.hasSuffix(root.name) {
      if try leads(column, of: table, to: root.table) { return root.entity }
    }
    guard try hasKeys(column, of: table) else { return nil }
    var possible: [NSEntityDescription] = []
    for root in roots where try leads(column, of: table, to: root.table) {
      possible.append(root.entity)
      if possible.count > 1 { return nil }
    }
    return possible.first
  }

  /// Returns the columns by table with the index that relationships always have.
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

  private mutating func hasKeys(
    _ column: FileSchema.Column, of table: FileSchema.Table
  ) throws -> Bool {
    let name = SQLSyntax.quoted(column.name)
    return try finds(
      "SELECT 1 FROM \(SQLSyntax.quoted(table.name)) WHERE \(name) IS NOT NULL") == true
  }

  /// Returns whether each key in a column refers to a row of a table.
  private mutating func leads(
    _ column: FileSchema.Column, of table: FileSchema.Table, to other: FileSchema.Table
  ) throws -> Bool {
    let name = SQLSyntax.quoted(column.name)
    return try finds(
      "SELECT 1 FROM \(SQLSyntax.quoted(table.name)) WHERE \(name) IS NOT NULL "
        + "AND \(name) NOT IN (SELECT Z_PK FROM \(SQLSyntax.quoted(other.name)))") == false
  }

  // MARK: Inverses and join tables

  /// Pairs to-one relationships that refer to each other in every row as inverses.
  private mutating func pair(_ all: [ToOne]) throws {
    // Only columns with keys can be inverses of each other.
    var filled: [ToOne] = []
    for one in all {
      let column = SQLSyntax.quoted(one.column)
      let sql = "SELECT 1 FROM \(SQLSyntax.quoted(one.table)) WHERE \(column) IS NOT NULL"
      if try finds(sql) == true { filled.append(one) }
    }
    for (index, one) in filled.enumerated() where one.relationship.inverseRelationship == nil {
      for other in filled.dropFirst(index + 1)
      where other.relationship.inverseRelationship == nil
        && one.relationship.destinationEntity === other.root
        && other.relationship.destinationEntity === one.root
      {
        if isSpent || comparisons > StoreLimits.inferenceComparisons { return }
        guard try mirrors(one, other), try mirrors(other, one) else { continue }
        one.relationship.inverseRelationship = other.relationship
        other.relationship.inverseRelationship = one.relationship
        break
      }
    }
  }

  private mutating func mirrors(_ one: ToOne, _ other: ToOne) throws -> Bool {
    let (column, back) = (SQLSyntax.quoted(one.column), SQLSyntax.quoted(other.column))
    return try finds(
      "SELECT 1 FROM \(SQLSyntax.quoted(one.table)) a LEFT JOIN \(SQLSyntax.quoted(other.table)) b "
        + "ON b.Z_PK = a.\(column) WHERE a.\(column) IS NOT NULL "
        + "AND b.\(back) IS NOT a.Z_PK") == false
  }

  private mutating func addManyToMany(in table: FileSchema.Table) {
    guard NumberedColumn(table.name.uppercased(), prefix: "Z_") != nil else { return }
    let keys = table.columns.compactMap { NumberedColumn($0.name.uppercased(), prefix: "Z_") }
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
    // A join table's column is named after the relationship whose destinations it contains.
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

/// The name of a column or a join table with an entity ID: a prefix, the ID, and the rest.
private struct NumberedColumn {
  let number: Int
  let name: String

  /// Reads an uppercase name; `nil` if it isn't of this form.
  init?(_ text: String, prefix: String = "Z") {
    guard text.hasPrefix(prefix) else { return nil }
    let rest = text.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let name = rest.dropFirst(digits.count)
    guard let number = Int(digits), !name.isEmpty else { return nil }
    self.number = number
    self.name = String(name)
  }
}

extension NSAttributeType {
  /// Creates the attribute type for a column's declaration.
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
