import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// Writes one history transaction, inside of the transaction that it describes.
///
/// Its statements are housekeeping: they are reported, but not counted as INSERTs of rows.
final class HistoryWriter {
  private let store: SQLiteStore
  private let tables: HistoryTables
  private let connection: Connection
  private let scope: ProfileScope
  private let transaction: Int64
  private var lastChange: Int64
  private let firstChange: Int64

  /// Begins a history transaction: one read of `Z_PRIMARYKEY` for each table.
  init(
    _ store: SQLiteStore, _ tables: HistoryTables, _ connection: Connection, _ scope: ProfileScope
  )
    throws
  {
    self.store = store
    self.tables = tables
    self.connection = connection
    self.scope = scope
    transaction =
      try HistoryWriter.last(HistoryTables.transactionEntity, "ATRANSACTION", connection) + 1
    firstChange = try HistoryWriter.last(HistoryTables.changeEntity, "ACHANGE", connection)
    lastChange = firstChange
  }

  /// Returns the last primary key, which others can follow.
  private static func last(
    _ entity: Int, _ table: String, _ connection: Connection
  ) throws -> Int64 {
    let last = try HistoryTables.lastKey(of: entity, table, on: connection)
    guard last >= 0, last < Int64.max / 2 else { throw NSError.exhaustedKeys(of: table, last) }
    return last
  }

  /// Records one row of a save.
  func record(
    _ type: NSPersistentHistoryChangeType, _ object: NSManagedObject
  ) throws {
    lastChange += 1
    var columns: SQLiteValue = .null
    if type == .update { columns = bits(object.writtenPropertyNames, object.layout.entity) }
    var tombstones: [SQLiteValue] = []
    if type == .delete, tables.tombstoneCount > 0 {
      tombstones = tables.preservedAttributes(of: object.layout.entity).map { attribute in
        guard let attribute, case .slot(let slot)? = object.layout.position(of: attribute.name)
        else { return .null }
        return object.row.rawValue(object.layout.slots[slot]).sqliteValue
      }
    }
    let names = (0..<tombstones.count).map { ", ZTOMBSTONE\($0)" }.joined()
    let marks = String(repeating: ", ?", count: tombstones.count)
    try run(
      "INSERT INTO ACHANGE(Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, "
        + "ZCOLUMNS\(names)) VALUES(?, \(HistoryTables.changeEntity), 1, ?, ?, ?, ?, ?\(marks))",
      [
        .integer(lastChange), .integer(Int64(type.rawValue)),
        .integer(Int64(store.layouts.entityNumber(object.layout))), .integer(object.primaryKey),
        .integer(transaction), columns,
      ] + tombstones)
  }

  /// Records rows of an entity's table that a batch request changes: one statement for each
  /// concrete entity.
  ///
  /// - Parameters:
  ///   - condition: The operand of `Z_PK IN` that selects the rows.
  ///   - properties: The properties that an update writes.
  func record(
    _ type: NSPersistentHistoryChangeType, rowsOf entity: SQLEntity, in condition: String,
    _ binds: [SQLiteValue], _ intArrays: [ContiguousArray<Int64>], properties: [String] = []
  ) throws {
    for concrete in entity.root.family where !concrete.description.isAbstract {
      for (index, values) in intArrays.enumerated() { try connection.bindIntArray(index, values) }
      let preserved =
        type == .delete ? tables.preservedAttributes(of: concrete.description) : []
      let names = preserved.indices.map { ", ZTOMBSTONE\($0)" }.joined()
      let values = preserved.map { attribute -> String in
        let column = attribute.flatMap { concrete.column(named: $0.name) }
        return ", " + (column.map { SQLSyntax.quoted($0.name) } ?? "NULL")
      }.joined()
      let columns = type == .update ? bits(properties, concrete.description) : .null
      lastChange += Int64(
        try run(
          "INSERT INTO ACHANGE(Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, "
            + "ZTRANSACTIONID, ZCOLUMNS\(names)) SELECT ? + row_number() OVER (ORDER BY Z_PK), "
            + "\(HistoryTables.changeEntity), 1, ?, Z_ENT, Z_PK, ?, ?\(values) "
            + "FROM \(SQLSyntax.quoted(entity.table)) WHERE Z_ENT = ? AND Z_PK IN (\(condition))",
          [
            .integer(lastChange), .integer(Int64(type.rawValue)), .integer(transaction), columns,
            .integer(Int64(concrete.number)),
          ] + binds))
    }
  }

  /// Writes the transaction itself, unless it has no changes.
  func finish() throws {
    guard lastChange > firstChange else { return }
    let author = try text(scope.author)
    let bundle = try text(HistoryWriter.bundle)
    let name = try text(scope.contextName)
    let process = try text(HistoryWriter.process)
    try run(
      "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP, "
        + ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"]
        .map { "Z\($0)\(tables.hasStrings ? "TS" : "")" }.joined(separator: ", ")
        + ") VALUES(?, \(HistoryTables.transactionEntity), 1, ?, ?, ?, ?, ?)",
      [
        .integer(transaction), .real(Date.timeIntervalSinceReferenceDate), author, bundle, name,
        process,
      ])
    try count(transaction, HistoryTables.transactionEntity)
    try count(lastChange, HistoryTables.changeEntity)
    store.openTransaction.withLock { [transaction] in $0 = transaction }
  }

  private static let bundle =
    CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
  private static let process = String(ProcessInfo.processInfo.processIdentifier)

  /// Returns a string as a transaction stores it: the key of its row in the table of strings, or
  /// itself.
  private func text(_ text: String?) throws -> SQLiteValue {
    guard let text else { return .null }
    guard tables.hasStrings else { return .text(text) }
    let sql = "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"
    if let key = try connection.values(sql, [.text(text)]).first?.first { return key }
    let key =
      try HistoryWriter.last(HistoryTables.stringEntity, "ATRANSACTIONSTRING", connection) + 1
    try run(
      "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, Z_OPT, ZNAME) "
        + "VALUES(?, \(HistoryTables.stringEntity), 1, ?)", [.integer(key), .text(text)])
    try count(key, HistoryTables.stringEntity)
    return .integer(key)
  }

  private func count(_ key: Int64, _ entity: Int) throws {
    try run(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
      [.integer(key), .integer(Int64(entity))])
  }

  /// Returns a bit for each stored property, set for those that were written.
  private func bits(_ names: [String], _ entity: NSEntityDescription) -> SQLiteValue {
    let properties = entity.historyProperties
    var bytes = [UInt8](repeating: 0, count: (properties.count + 7) / 8)
    for (index, property) in properties.enumerated()
    where names.contains(property.name) || isWritten(property, names) {
      bytes[index / 8] |= 1 << UInt8(index % 8)
    }
    return .blob(bytes)
  }

  /// Returns whether a leaf of a composite attribute is among the names.
  private func isWritten(_ property: NSPropertyDescription, _ names: [String]) -> Bool {
    guard let composite = property as? NSCompositeAttributeDescription else { return false }
    return composite.leaves.contains { names.contains($0.name) }
  }

  @discardableResult
  private func run(_ sql: String, _ binds: [SQLiteValue]) throws -> Int {
    try store.change(sql, binds, kind: .housekeeping, on: connection, in: scope)
  }
}

extension NSManagedObject {
  /// The stored properties that the next save writes.
  fileprivate var writtenPropertyNames: [String] {
    let slots =
      state.contains(.overwritten) ? Array(layout.slots.indices) : changedSlotIndices()
    var names = slots.map { layout.slots[$0].name }
    for (index, relationship) in layout.toMany.enumerated() {
      if case .toMany(let value)? = values?[layout.valueIndex(.toMany(index))], value.hasChanges {
        names.append(relationship.name)
      }
    }
    return names
  }
}

extension SQLiteStore {
  /// Records a save's changes in the history, if there is one.
  func recordHistory(
    of plan: SavePlan, on connection: Connection, in scope: ProfileScope
  ) throws {
    guard let tables = try historyTables(on: connection) else { return }
    let writer = try HistoryWriter(self, tables, connection, scope)
    for object in plan.inserted { try writer.record(.insert, object) }
    for object in plan.updated {
      try writer.record(object.state.contains(.restored) ? .insert : .update, object)
    }
    for object in plan.deleted { try writer.record(.delete, object) }
    try writer.finish()
  }
}
