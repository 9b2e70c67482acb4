import ManagedModel
import SQLiteDriver

/// Writes the schema of a new store, in Apple's words and order.
struct SchemaBuilder: Sendable {
  let model: SQLModel

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
  func create(
    on connection: Connection, metadata: StoreMetadata, modelCache: [UInt8]?
  ) throws {
    try connection.execute("BEGIN EXCLUSIVE")
    do {
      for statement in statements { try connection.execute(statement) }
      for entity in model.entities {
        _ = try connection.values(
          "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
          [
            .integer(Int64(entity.number)), .text(entity.name),
            .integer(Int64(entity.superentity?.number ?? 0)),
          ])
      }
      try metadata.write(to: connection)
      if let modelCache {
        _ = try connection.values(
          "INSERT INTO Z_MODELCACHE(Z_CONTENT) VALUES(?)", [.blob(modelCache)])
      }
      try connection.execute("COMMIT")
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
