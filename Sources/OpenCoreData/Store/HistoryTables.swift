import ManagedModel
import SQLiteDriver
import Synchronization

/// The tables of a store's persistent history in its file.
package struct HistoryTables: Sendable {
  /// The table of changes.
  package static let changes = "ACHANGE"
  /// The table of transactions.
  package static let transactions = "ATRANSACTION"
  /// The table of the transactions' strings.
  package static let strings = "ATRANSACTIONSTRING"

  /// Core Data's entity IDs of the history.
  static let changeEntity = 16_001
  static let transactionEntity = 16_002
  static let stringEntity = 16_003

  /// The entity ID of each table, with the table.
  package static let entityIDs = [
    (changeEntity, changes), (transactionEntity, transactions), (stringEntity, strings),
  ]

  /// Whether strings are stored once each in `ATRANSACTIONSTRING`; stores of 2017 have none.
  let hasStrings: Bool
  /// The number of columns `ZTOMBSTONE0`, `ZTOMBSTONE1`, and so on.
  let tombstoneCount: Int
  /// The attributes whose values are in these columns, in their order, by entity; `nil` if the
  /// metadata doesn't list them.
  let listed: [String: [String]]?
  /// Those listed, or else those of the model in the file.
  let preserved: [String: [String]]

  /// Returns the attribute of each column with preserved values of an entity; `nil` for a column
  /// of an attribute that the entity doesn't preserve.
  ///
  /// An attribute can be preserved without a new version of the model, so its column isn't known
  /// from the model.
  func preservedAttributes(of entity: NSEntityDescription) -> [NSAttributeDescription?] {
    let current = entity.preservedAttributes
    guard let names = preserved[entity.name ?? ""] else {
      return Array(current.prefix(tombstoneCount))
    }
    return names.prefix(tombstoneCount).map { name in current.first { $0.name == name } }
  }

  /// Returns the tables of a file; `nil` if it has no history.
  static func find(on connection: Connection) throws -> HistoryTables? {
    let names = try connection.values(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN "
        + "('\(changes)', '\(transactions)', '\(strings)')")
    guard names.contains([.text(changes)]), names.contains([.text(transactions)]) else {
      return nil
    }
    let columns = try connection.values(
      "SELECT name FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMBSTONE%'")
    let listed = try listedAttributes(on: connection)
    let preserved = try listed ?? (columns.isEmpty ? [:] : preservedByModel(on: connection))
    return HistoryTables(
      hasStrings: names.contains([.text(strings)]), tombstoneCount: columns.count, listed: listed,
      preserved: preserved)
  }

  /// Returns the attributes that the metadata lists; `nil` if it lists none, or was corrupted
  /// after the store was opened.
  private static func listedAttributes(
    on connection: Connection
  ) throws -> [String: [String]]? {
    do {
      let values = try StoreMetadata(reading: connection).values
      return values[StoreMetadata.preservedAttributesKey] as? [String: [String]]
    } catch is StoreMetadata.Problem {
      return nil
    }
  }

  /// Returns the attributes that the model in a file preserves; none if it can't be read.
  private static func preservedByModel(on connection: Connection) throws -> [String: [String]] {
    do {
      return try ModelArchive.readModel(on: connection).map { preserved(by: $0.entities) } ?? [:]
    } catch let error as SQLiteError {
      throw error
    } catch {
      return [:]
    }
  }

  /// Returns the attributes that entities preserve, in the order of the columns of a new history,
  /// by entity; entities without any are omitted.
  static func preserved(by entities: [NSEntityDescription]) -> [String: [String]] {
    entities.reduce(into: [:]) { preserved, entity in
      let names = entity.preservedAttributes.map(\.name)
      if !names.isEmpty { preserved[entity.name ?? ""] = names }
    }
  }

  /// Returns the last primary key of a table; a file's counter may be lower than its rows' keys.
  static func lastKey(
    of entity: Int, _ table: String, on connection: Connection
  ) throws -> Int64 {
    let rows = try connection.values(
      "SELECT MAX(IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), "
        + "IFNULL((SELECT MAX(Z_PK) FROM \(table)), 0))", [.integer(Int64(entity))])
    guard case .integer(let last)? = rows.first?.first else { return 0 }
    return last
  }

  /// Creates the tables, or the columns that the model requires and the file lacks, in one
  /// transaction, unless another process has created them.
  ///
  /// Attributes that the model preserves in addition get the next columns; the metadata lists them.
  static func make(on connection: Connection, for model: SQLModel) throws {
    let wanted = preserved(by: model.entities.map(\.description))
    let before = try missing(on: connection, wanted)
    guard !before.statements.isEmpty || before.list != nil else { return }
    try connection.execute("BEGIN EXCLUSIVE")
    do {
      let (statements, list) = try missing(on: connection, wanted)
      for statement in statements { try connection.execute(statement) }
      if let list {
        var metadata = try StoreMetadata(reading: connection)
        metadata.values[StoreMetadata.preservedAttributesKey] = list
        try metadata.write(to: connection)
      }
      try connection.execute("COMMIT")
    } catch {
      // The original error is the one to report.
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Returns the statements that create what a file lacks, and the list of preserved attributes if
  /// it differs from that in the metadata.
  private static func missing(
    on connection: Connection, _ wanted: [String: [String]]
  ) throws -> (statements: [String], list: [String: [String]]?) {
    let present = try find(on: connection)
    let list = (present?.preserved ?? [:]).merging(wanted) { known, wanted in
      known + wanted.filter { !known.contains($0) }
    }
    let count = list.values.map(\.count).max() ?? 0
    let isListed = list == (present?.listed ?? [:])
    guard let present else {
      return (statements(creating: count), isListed ? nil : list)
    }
    let columns = present.tombstoneCount..<max(count, present.tombstoneCount)
    return (
      columns.map { "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\($0)" }, isListed ? nil : list
    )
  }

  /// Returns the statements that create the tables of a history.
  private static func statements(creating tombstones: Int) -> [String] {
    let columns = (0..<tombstones).map { ", ZTOMBSTONE\($0)" }.joined()
    let indexes = ["AUTHORTS", "BUNDLEIDTS", "CONTEXTNAMETS", "PROCESSIDTS"].map {
      "CREATE INDEX ATRANSACTION_Z\($0)_INDEX ON ATRANSACTION (Z\($0))"
    }
    return [
      "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, "
        + "ZCOLUMNS BLOB\(columns))",
      "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, "
        + "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
        + "ZPROCESSID VARCHAR, ZQUERYGEN BLOB)",
      "CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZNAME VARCHAR)",
      "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    ] + indexes + [
      "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION "
        + "(ZAUTHOR COLLATE BINARY ASC)",
      "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION "
        + "(ZTIMESTAMP COLLATE BINARY ASC)",
      "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING "
        + "(ZNAME COLLATE BINARY ASC)",
      "INSERT OR IGNORE INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES"
        + "(\(changeEntity), 'CHANGE', 0, 0), (\(transactionEntity), 'TRANSACTION', 0, 0), "
        + "(\(stringEntity), 'TRANSACTIONSTRING', 0, 0)",
    ]
  }
}

extension NSEntityDescription {
  /// The stored attributes whose last values the history preserves, in the order of their columns;
  /// for composite ones, their leaves.
  var preservedAttributes: [NSAttributeDescription] {
    attributesByName.values
      .filter { $0.preservesValueInHistoryOnDeletion && !$0.isTransient }
      .flatMap { ($0 as? NSCompositeAttributeDescription)?.leaves ?? [$0] }
      .sortedByName()
  }

  /// The stored properties in the order of the bits of `ZCOLUMNS`.
  var historyProperties: [NSPropertyDescription] {
    propertiesByName.values
      .filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
      .sortedByName()
  }
}

extension SQLiteStore {
  /// Creates the history tables if the store was opened with history tracking, and begins to watch
  /// the file if it was opened with remote change notifications.
  ///
  /// A file that has a history keeps it, regardless of the options.
  func openHistory() throws {
    if !isReadOnly, options.isSet(NSPersistentHistoryTrackingKey) {
      try pool.withWriter { try HistoryTables.make(on: $0, for: mapping) }
    }
    if options.isSet(NSPersistentStoreRemoteChangeNotificationPostOptionKey),
      let made = StoreWatcher(self)
    {
      watcher.withLock { $0 = made }
    }
  }

  /// Returns the tables of the history; `nil` if the file has none.
  ///
  /// Others can create them at any time. **Cost:** nothing once they're known; without a history,
  /// the number of the schema's version.
  func historyTables(on connection: Connection) throws -> HistoryTables? {
    let known = knownHistory.withLock { $0 }
    if let tables = known?.tables { return tables }
    let version = try connection.statement("PRAGMA schema_version")
    defer { version.reset() }
    let schema = try version.step() ? version.int64(0) : 0
    if let known, known.schema == schema { return nil }
    let found = try HistoryTables.find(on: connection)
    knownHistory.withLock { $0 = (tables: found, schema: schema) }
    if let listed = found?.listed {
      updateStoredMetadata { $0[StoreMetadata.preservedAttributesKey] = listed }
    }
    return found
  }

  /// Returns the number of the last history transaction; `nil` if there's none.
  func lastTransaction(on connection: Connection) throws -> Int64? {
    guard try historyTables(on: connection) != nil else { return nil }
    return try HistoryTables.lastKey(
      of: HistoryTables.transactionEntity, HistoryTables.transactions, on: connection)
  }

  /// Numbers the transactions of this new store after those of a store whose UUID it has, so that
  /// tokens for the history of that store have expired in this one.
  ///
  /// Two statements; one if that store has no history.
  func skipTransactions(of former: SQLiteStore) throws {
    let reader = try former.pool.lease()
    defer { former.pool.returnToPool(reader) }
    guard let last = try former.lastTransaction(on: reader), last < Int64.max / 2 else { return }
    // The number in between is missing, like that of a deleted transaction.
    _ = try pool.withWriter { connection in
      try connection.values(
        "INSERT OR REPLACE INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
          + "VALUES(?, 'TRANSACTION', 0, ?)",
        [.integer(Int64(HistoryTables.transactionEntity)), .integer(last + 1)])
    }
  }
}
