import OpenCoreData
import PostgresDriver

import class ManagedModel.NSManagedObjectModel

/// Reads and writes a store's metadata, and creates the tables of a new store.
struct StoreMetadata {
  let location: StoreLocation

  private static let format: Int64 = 1
  /// The key of the lock under which a store is created: "OpenCore" in ASCII.
  private static let creationLock: Int64 = 0x4F70_656E_436F_7265

  /// Returns the metadata; nil if the schema has no store.
  ///
  /// - Throws: 134080 for a store of a newer format, or metadata that isn't a property list.
  func read(_ connection: PostgresConnection) throws -> [String: Any]? {
    let table = location.qualified(SchemaCreation.metadataTable)
    // Not to_regclass, which may return what the connection knew before it waited for the lock.
    let exists = try connection.query(
      "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relname = $2",
      [.text(location.schema), .text(SchemaCreation.metadataTable)])
    guard exists.rowCount > 0 else { return nil }
    let result = try connection.query("SELECT z_format, z_plist FROM \(table)")
    guard result.rowCount == 1, result.integer(0, 0) == Self.format,
      let data = result.data(0, 1),
      let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
      let metadata = list as? [String: Any]
    else {
      throw StoreError.make(
        NSPersistentStoreOpenError,
        "The schema '\(location.schema)' has a table z_metadata that this version can't read.")
    }
    return metadata
  }

  /// Writes the metadata.
  ///
  /// - Throws: 134030 for values that aren't of a property list.
  func write(_ metadata: [String: Any], _ connection: PostgresConnection) throws {
    try connection.query(
      "UPDATE \(location.qualified(SchemaCreation.metadataTable)) SET z_plist = $1",
      [.bytes(try data(metadata))])
  }

  private func data(_ metadata: [String: Any]) throws -> Data {
    guard PropertyListSerialization.propertyList(metadata, isValidFor: .binary) else {
      throw StoreError.make(
        NSPersistentStoreSaveError,
        "The store's metadata has a value that isn't of a property list.")
    }
    return try PropertyListSerialization.data(
      fromPropertyList: metadata, format: .binary, options: 0)
  }

  /// Returns the numbers of an existing store's entities.
  func entityNumbers(_ connection: PostgresConnection) throws -> [String: Int64] {
    let result = try connection.query(
      "SELECT z_name, z_ent FROM \(location.qualified(SchemaCreation.entityTable))")
    var numbers: [String: Int64] = [:]
    for row in 0..<result.rowCount {
      if let name = result.text(row, 0) { numbers[name] = result.integer(row, 1) }
    }
    return numbers
  }

  /// Returns the metadata, after creating a store that doesn't exist, in one transaction.
  ///
  /// If several processes open a new store, one creates it.
  func readOrCreate(
    _ schema: StoreSchema, _ initial: [String: Any], _ connection: PostgresConnection
  ) throws -> [String: Any] {
    if let metadata = try read(connection) { return metadata }
    guard !location.settings.isReadOnly else {
      throw StoreError.make(
        NSPersistentStoreOpenError,
        "The schema '\(location.schema)' has no store, and a read-only store isn't created.")
    }
    return try connection.transaction {
      try connection.query("SELECT pg_advisory_xact_lock($1)", [.integer(Self.creationLock)])
      if let metadata = try read(connection) { return metadata }
      let present = try connection.query(
        "SELECT FROM pg_namespace WHERE nspname = $1", [.text(location.schema)])
      if present.rowCount == 0 {
        try connection.execute("CREATE SCHEMA \(location.quotedSchema)")
      }
      for statement in SchemaCreation(schema).statements { try connection.execute(statement) }
      try connection.query(
        "INSERT INTO \(location.qualified(SchemaCreation.metadataTable)) VALUES ($1::bigint, $2)",
        [.integer(Self.format), .bytes(try data(initial))])
      let mappings = schema.entities.values.sorted { $0.number < $1.number }
      try connection.query(
        "INSERT INTO \(location.qualified(SchemaCreation.entityTable)) SELECT * FROM unnest($1, $2)",
        [
          .integers(mappings.map(\.number)), .array(.text, mappings.map { .text($0.name) }),
        ])
      return initial
    }
  }
}
