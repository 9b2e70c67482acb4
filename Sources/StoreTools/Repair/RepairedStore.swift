import Foundation
import OpenCoreData
import SQLiteDriver

/// A new store with the recovered rows, in which everything that refers to lost rows is removed.
struct RepairedStore {
  let store: ExaminedStore
  /// The to-one values that were set to NULL because their row is lost, by entity and relationship,
  /// or by table and column of the history.
  private(set) var clearedReferences: [String: Int] = [:]
  /// The number of join rows that were removed because one end is lost.
  private(set) var removedJoinRows = 0
  /// The number of changes in the history that were removed.
  private(set) var removedChanges = 0
  /// The number of derived values that were computed again.
  private(set) var derivedValues = 0
  /// The names of external data files that recovered rows refer to, and that don't exist.
  private(set) var missingFiles: [String] = []
  /// The names of external data files that no recovered row refers to.
  private(set) var orphanedFiles: [String] = []

  private var connection: Connection { store.connection }

  init(_ store: ExaminedStore) { self.store = store }

  /// Removes what refers to lost rows, and computes derived values and `Z_MAX`.
  ///
  /// **Cost:** several statements for each relationship and derived attribute.
  /// - Parameter maximums: The former `Z_MAX` by entity ID of the new store.
  /// - Throws: A `SQLiteError` if the store can't be written.
  mutating func complete(maximums: [Int: Int64]) throws {
    try clearReferences()
    try removeJoinRows()
    if store.tables.contains(HistoryTables.changes) { try repairHistory() }
    for derived in store.anatomy.derivedColumns {
      guard let value = derived.value(of: "t") else { continue }
      let column = SQLSyntax.quoted(derived.column)
      derivedValues += try run(
        "UPDATE \(SQLSyntax.quoted(derived.entity.table)) AS t SET \(column) = \(value) "
          + "WHERE t.Z_ENT IN \(derived.entity.numberList) "
          + "AND \(DerivedValueRule.differs(derived, "t.\(column)", value))")
    }
    try setMaximums(maximums)
  }

  private func run(_ sql: String, _ values: [SQLiteValue] = []) throws -> Int {
    _ = try connection.values(sql, values)
    return connection.changes
  }

  private mutating func clearReferences() throws {
    for (entity, column) in store.columns {
      guard let relationship = column.property as? NSRelationshipDescription,
        let destination = store.mapping.destination(of: relationship)
      else { continue }
      try clear(
        column.name, [column.entityColumn, column.orderColumn].compactMap(\.self), in: entity,
        to: destination, named: "\(entity.name).\(relationship.name)")
      guard let number = column.entityColumn.map(SQLSyntax.quoted) else { continue }
      let key = "t.\(SQLSyntax.quoted(column.name))"
      let actual =
        "(SELECT d.Z_ENT FROM \(SQLSyntax.quoted(destination.table)) d WHERE d.Z_PK = \(key))"
      _ = try run(
        "UPDATE \(SQLSyntax.quoted(entity.table)) AS t SET \(number) = \(actual) "
          + "WHERE \(key) IS NOT NULL AND t.\(number) IS NOT \(actual)")
    }
    for (owner, toMany) in store.toMany where toMany.relationship.inverseRelationship == nil {
      guard case .foreignKey(let column, let order) = toMany.storage else { continue }
      try clear(
        column, [order].compactMap(\.self), in: toMany.destination, to: owner,
        named: "\(owner.name).\(toMany.relationship.name)")
    }
  }

  private mutating func clear(
    _ column: String, _ others: [String], in entity: SQLEntity, to destination: SQLEntity,
    named name: String
  ) throws {
    let table = SQLSyntax.quoted(entity.table)
    let key = SQLSyntax.quoted(column)
    let sets = ([column] + others).map { "\(SQLSyntax.quoted($0)) = NULL" }.joined(separator: ", ")
    let count = try run(
      "UPDATE \(table) AS t SET \(sets) WHERE t.\(key) IS NOT NULL AND NOT EXISTS "
        + "(SELECT 1 FROM \(SQLSyntax.quoted(destination.table)) d "
        + "WHERE d.Z_PK = t.\(key) AND d.Z_ENT IN \(destination.numberList))")
    if count > 0 { clearedReferences[name, default: 0] += count }
  }

  private mutating func removeJoinRows() throws {
    var seen: Set<String> = []
    for (entity, toMany) in store.toMany {
      guard case .joinTable(let table, let source, let destination, _) = toMany.storage,
        seen.insert(table).inserted
      else { continue }
      func exists(_ entity: SQLEntity, _ column: String) -> String {
        "EXISTS (SELECT 1 FROM \(SQLSyntax.quoted(entity.table)) d "
          + "WHERE d.Z_PK = j.\(SQLSyntax.quoted(column)) AND d.Z_ENT IN \(entity.numberList))"
      }
      removedJoinRows += try run(
        "DELETE FROM \(SQLSyntax.quoted(table)) AS j WHERE NOT \(exists(entity, source)) "
          + "OR NOT \(exists(toMany.destination, destination))")
    }
  }

  /// Removes changes without a transaction, and all changes of objects whose last change doesn't
  /// match the rows, because they or the rows are lost.
  private mutating func repairHistory() throws {
    let known = store.mapping.entities.map { String($0.number) }.joined(separator: ", ")
    removedChanges += try run(
      "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IS NULL "
        + "OR ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION) OR ZENTITY IS NULL "
        + "OR ZENTITY NOT IN (\(known)) OR ZCHANGETYPE IS NULL OR ZCHANGETYPE NOT IN (0, 1, 2)")
    if store.tables.contains(HistoryTables.strings) {
      let columns = try connection.values(
        "SELECT name FROM pragma_table_info('ATRANSACTION') "
          + "WHERE name IN ('ZAUTHORTS', 'ZBUNDLEIDTS', 'ZCONTEXTNAMETS', 'ZPROCESSIDTS')")
      for case .text(let name)? in columns.map(\.first) {
        let count = try run(
          "UPDATE ATRANSACTION SET \(name) = NULL WHERE \(name) IS NOT NULL "
            + "AND \(name) NOT IN (SELECT Z_PK FROM ATRANSACTIONSTRING)")
        if count > 0 { clearedReferences["ATRANSACTION.\(name)"] = count }
      }
    }
    for root in store.roots {
      let last =
        "SELECT ZENTITYPK k, ZCHANGETYPE kind, MAX(Z_PK) FROM ACHANGE "
        + "WHERE ZENTITY IN \(root.numberList) GROUP BY ZENTITYPK"
      let exists = "k IN (SELECT Z_PK FROM \(SQLSyntax.quoted(root.table)))"
      removedChanges += try run(
        "DELETE FROM ACHANGE WHERE ZENTITY IN \(root.numberList) AND (ZENTITYPK IS NULL OR "
          + "ZENTITYPK IN (SELECT k FROM (\(last)) WHERE (kind = 2) = (\(exists))))")
    }
  }

  private func setMaximums(_ maximums: [Int: Int64]) throws {
    let largestUsable = Int64.max - 2_000_000_000
    func set(_ number: Int, _ maximum: Int64) throws {
      _ = try run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(Z_MAX, ?) WHERE Z_ENT = ?",
        [.integer(maximum), .integer(Int64(number))])
    }
    for (number, maximum) in maximums where (1...largestUsable).contains(maximum) {
      try set(number, maximum)
    }
    var tables = store.roots.map { ($0.number, $0.table) }
    tables += HistoryTables.entityIDs.filter { store.tables.contains($0.1) }
    for (number, table) in tables {
      let largest = try store.number("SELECT MAX(Z_PK) FROM \(SQLSyntax.quoted(table))")
      try set(number, Int64(largest))
    }
  }

  /// Copies the external data files that rows refer to, and sets references to missing ones to
  /// NULL.
  ///
  /// - Parameters:
  ///   - source: The corrupt store's file.
  ///   - target: The new store's file.
  /// - Throws: An `NSError` if the folder of the files can't be read, or that of
  ///   `StoreFile.copyExternalFiles`; a `SQLiteError`.
  mutating func copyFiles(from source: URL, to target: URL) throws {
    let present = try ExternalStorage(storeURL: source).fileNames()
    var (owned, missing): (Set<String>, Set<String>) = ([], [])
    for (entity, column) in store.columns {
      guard let attribute = column.property as? NSAttributeDescription,
        attribute.allowsExternalBinaryDataStorage
      else { continue }
      for reference in try ExternalFileRule.references(in: column, of: entity, store) {
        if present.contains(reference.file) {
          owned.insert(reference.file)
        } else {
          missing.insert(reference.file)
          _ = try run(
            "UPDATE \(SQLSyntax.quoted(entity.table)) SET \(SQLSyntax.quoted(column.name)) = NULL "
              + "WHERE Z_PK = ?", [.integer(reference.key)])
        }
      }
    }
    if !owned.isEmpty {
      try StoreFile.copyExternalFiles(named: owned, from: source, to: target)
    }
    missingFiles = missing.sorted()
    orphanedFiles = present.subtracting(owned).sorted()
  }
}
