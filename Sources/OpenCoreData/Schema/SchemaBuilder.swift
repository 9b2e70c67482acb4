import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Writes the schema of a new store, in Apple's words and order.
struct SchemaBuilder: Sendable {
  let model: SQLModel
  /// Each stored to-many relationship once, where it is declared, by entity and name.
  let declaredToMany: [SQLToMany]
  /// The columns of to-many relationships without an inverse, by the root whose table has them.
  let hiddenColumns: [ObjectIdentifier: [HiddenColumn]]

  /// A column in the destination's table, for a to-many relationship without an inverse.
  typealias HiddenColumn = (column: String, orderColumn: String?)

  /// Cost: one pass over the relationships; each table is then described without another one.
  init(model: SQLModel) {
    self.model = model
    declaredToMany = model.entities.flatMap { entity in
      entity.toMany.values
        .filter { $0.relationship.entity === entity.description }
        .sorted { $0.relationship.name < $1.relationship.name }
    }
    var hidden: [ObjectIdentifier: [HiddenColumn]] = [:]
    for relationship in declaredToMany where relationship.relationship.inverseRelationship == nil {
      guard case .foreignKey(let column, let orderColumn) = relationship.storage else { continue }
      let root = ObjectIdentifier(relationship.destination.root)
      hidden[root, default: []].append((column, orderColumn))
    }
    hiddenColumns = hidden
  }

  /// What a connection to a file that is still empty runs first: the file takes both for life.
  static let newFilePragmas = [("page_size", "4096"), ("auto_vacuum", "2")]

  /// All `CREATE` statements: tables, join tables, indexes, unique indexes, R-trees, the triggers of
  /// derived attributes, housekeeping.
  var statements: [String] {
    let roots = model.entities.filter { $0.superentity == nil }
    return roots.map(table) + joinTables.map(\.table) + indexes.map(\.sql)
      + rangeIndexes.flatMap(\.statements) + triggers + Self.housekeeping
  }

  /// Creates the schema and the rows every store has, in one transaction.
  ///
  /// - Parameters:
  ///   - connection: A connection to an empty file, opened with `newFilePragmas`.
  ///   - metadata: What `Z_METADATA` holds.
  ///   - modelCache: The archived model, nil for none.
  ///   - teller: Hears of the statements.
  func create(
    on connection: Connection, metadata: StoreMetadata, modelCache: [UInt8]?,
    telling teller: OpeningTeller? = nil
  ) throws {
    func run(_ sql: String, _ kind: StatementKind = .housekeeping) throws {
      try teller.telling(sql, kind) { try connection.execute(sql) }
    }
    func insert(_ sql: String, _ values: [SQLiteValue]) throws {
      _ = try teller.telling(sql) { try connection.values(sql, values) }
    }
    try run("BEGIN EXCLUSIVE", .transaction)
    do {
      for statement in statements { try run(statement) }
      for entity in model.entities {
        try insert(
          "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
          [
            .integer(Int64(entity.number)), .text(entity.name),
            .integer(Int64(entity.superentity?.number ?? 0)),
          ])
      }
      try metadata.write(to: connection, telling: teller)
      if let modelCache {
        try insert("INSERT INTO Z_MODELCACHE(Z_CONTENT) VALUES(?)", [.blob(modelCache)])
      }
      try run("COMMIT", .transaction)
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  static let housekeeping = [
    "CREATE TABLE Z_PRIMARYKEY "
      + "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA "
      + "(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]
}
