import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

extension SQLiteStore {

  /// Returns the transactions after a position, in order.
  ///
  /// Its SELECTs are housekeeping and not counted. A context that's pinned to a query generation
  /// gets the newest history, too: that's what it merges.
  /// - Parameter isEnough: Called with each of several parts of the transactions; if it returns
  ///   true, the following ones are left out. `nil` to read all at once.
  func history(
    after position: NSPersistentHistoryChangeRequest.Position, withChanges: Bool,
    in context: NSManagedObjectContext,
    until isEnough: (([NSPersistentHistoryTransaction]) throws -> Bool)? = nil
  ) throws -> [NSPersistentHistoryTransaction] {
    context.endReadTransaction()
    do {
      guard let reader = try beginReading() as? SQLiteReader else { return [] }
      defer { reader.end() }
      guard let tables = try historyTables(on: reader.connection) else { return [] }
      let reading = HistoryReading(store: self, tables: tables, connection: reader.connection)
      return try reading.transactions(
        after: position, withChanges: withChanges, until: isEnough)
    } catch {
      throw NSError.from(error, store: self)
    }
  }

  /// Deletes the history before a position.
  ///
  /// - Returns: The number of deleted transactions.
  /// - Throws: 134030 if there's a history, and the store is read-only; the errors of SQLite.
  func deleteHistory(
    before position: NSPersistentHistoryChangeRequest.Position, in context: NSManagedObjectContext
  ) throws -> Int {
    let (condition, bind) = HistoryReading.condition(position, "<", in: identifier)
    guard let bind, try hasHistory() else { return 0 }
    return try writable().pool.withWriter { connection in
      try transaction(on: connection, in: context.scope) {
        try change(
          "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN "
            + "(SELECT Z_PK FROM ATRANSACTION WHERE \(condition))",
          [bind], kind: .housekeeping, on: connection, in: context.scope)
        return try change(
          "DELETE FROM ATRANSACTION WHERE \(condition)", [bind], kind: .housekeeping,
          on: connection, in: context.scope)
      }
    }
  }

  private func hasHistory() throws -> Bool {
    let reader = try pool.lease()
    defer { pool.returnToPool(reader) }
    return try historyTables(on: reader) != nil
  }
}

/// Reads a store's history in one snapshot.
struct HistoryReading {
  let store: SQLiteStore
  let tables: HistoryTables
  let connection: Connection

  /// Returns the condition for transactions after or before a position, and its bound value; no
  /// value if the position isn't in this store.
  static func condition(
    _ position: NSPersistentHistoryChangeRequest.Position, _ comparison: String, in store: String
  ) -> (String, SQLiteValue?) {
    switch position {
    case .date(let date):
      return ("ZTIMESTAMP \(comparison) ?", .real(date.timeIntervalSinceReferenceDate))
    case .token(let token):
      return ("Z_PK \(comparison) ?", token?.transactions[store].map { .integer($0) })
    }
  }

  /// Returns the transactions after a position, in order.
  ///
  /// - Throws: 134301 for a token after which transactions were deleted, or after the last one.
  func transactions(
    after position: NSPersistentHistoryChangeRequest.Position, withChanges: Bool,
    until isEnough: (([NSPersistentHistoryTransaction]) throws -> Bool)? = nil
  ) throws -> [NSPersistentHistoryTransaction] {
    if case .token(let token?) = position { try check(token) }
    let (condition, bind) = HistoryReading.condition(position, ">", in: store.identifier)
    let filter = bind == nil ? "1" : condition
    let binds = [bind].compactMap { $0 }
    guard let isEnough else { return try transactions(filter, binds, withChanges: withChanges) }
    var found: [NSPersistentHistoryTransaction] = []
    var (limit, part) = (100, filter)
    while true {
      let page = try transactions(part, binds, limit: limit, withChanges: withChanges)
      found += page
      guard page.count == limit, let last = page.last?.transactionNumber, try !isEnough(page)
      else { return found }
      part = "\(filter) AND Z_PK > \(last)"
      limit *= 2
    }
  }

  /// Returns the first transactions that satisfy a condition, in order; all without a limit.
  private func transactions(
    _ filter: String, _ binds: [SQLiteValue], limit: Int? = nil, withChanges: Bool
  ) throws -> [NSPersistentHistoryTransaction] {
    let texts = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"].map { name in
      tables.hasStrings
        ? "IFNULL(Z\(name), (SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.Z\(name)TS))"
        : "Z\(name)"
    }
    let rows = try connection.values(
      "SELECT Z_PK, ZTIMESTAMP, \(texts.joined(separator: ", ")) FROM ATRANSACTION t "
        + "WHERE \(filter) ORDER BY Z_PK" + (limit.map { " LIMIT \($0)" } ?? ""), binds)
    var read = filter
    if limit != nil, case .integer(let last)? = rows.last?.first {
      read += " AND Z_PK <= \(last)"
    }
    let changes = try withChanges && !rows.isEmpty ? changes(of: read, binds) : [:]
    return rows.compactMap { row in
      guard case .integer(let number) = row[0] else { return nil }
      return NSPersistentHistoryTransaction(
        transactionNumber: number, storeID: store.identifier,
        timestamp: Date(timeIntervalSinceReferenceDate: row[1].number ?? 0),
        bundleID: row[3].string ?? "", processID: row[5].string ?? "", contextName: row[4].string,
        author: row[2].string, changes: withChanges ? changes[number] ?? [] : nil)
    }
  }

  /// Checks that no transaction after a token was deleted, wherever it was: transactions are
  /// numbered consecutively, so a missing number indicates a deleted one.
  ///
  /// A token after the last transaction is that of a newer file, of which this one is a copy: the
  /// next transactions get numbers that the token includes.
  private func check(_ token: NSPersistentHistoryToken) throws {
    guard let last = token.transactions[store.identifier] else { return }
    let rows = try connection.values(
      "SELECT COUNT(*), MAX(IFNULL(MAX(Z_PK), 0), IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY "
        + "WHERE Z_ENT = \(HistoryTables.transactionEntity)), 0)) FROM ATRANSACTION WHERE Z_PK > ?",
      [.integer(last)])
    guard case .integer(let count)? = rows.first?.first,
      case .integer(let newest)? = rows.first?.last,
      newest.subtractingReportingOverflow(last) != (count, false)
    else { return }
    let cause =
      newest < last
      ? "The history ends before transaction \(last): the store is an older copy."
      : "Transactions after \(last) were deleted from the history."
    throw NSError.coreData(
      NSPersistentHistoryTokenExpiredError,
      "\(cause) Refetch the data that you need, and continue from "
        + "currentPersistentHistoryToken(fromStores:).",
      [NSAffectedStoresErrorKey: [store]])
  }

  /// Returns the changes of the transactions that satisfy a condition, by transaction.
  private func changes(
    of condition: String, _ binds: [SQLiteValue]
  ) throws -> [Int64: [NSPersistentHistoryChange]] {
    let tombstones = (0..<tables.tombstoneCount).map { ", ZTOMBSTONE\($0)" }.joined()
    let rows = try connection.values(
      "SELECT Z_PK, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS\(tombstones) "
        + "FROM ACHANGE WHERE ZTRANSACTIONID IN "
        + "(SELECT Z_PK FROM ATRANSACTION WHERE \(condition)) ORDER BY Z_PK", binds)
    var result: [Int64: [NSPersistentHistoryChange]] = [:]
    for row in rows {
      // Changes of entities that aren't in the model are skipped.
      guard case .integer(let number) = row[0], case .integer(let transaction) = row[1],
        case .integer(let code) = row[2], case .integer(let entity) = row[3],
        case .integer(let key) = row[4], key > 0, let entityNumber = Int(exactly: entity),
        let type = NSPersistentHistoryChangeType(rawValue: Int(truncatingIfNeeded: code)),
        let layout = store.layouts.layout(entityNumber: entityNumber)
      else { continue }
      result[transaction, default: []].append(
        NSPersistentHistoryChange(
          changeID: number,
          changedObjectID: NSManagedObjectID(layout: layout, primaryKey: key, store: store),
          changeType: type,
          tombstone: type == .delete ? tombstone(row.dropFirst(6), layout) : nil,
          updatedProperties: type == .update ? properties(row[5], layout.entity) : nil))
    }
    return result
  }

  private func tombstone(
    _ values: ArraySlice<SQLiteValue>, _ layout: EntityLayout
  ) -> [AnyHashable: Any]? {
    var result: [AnyHashable: Any] = [:]
    for (attribute, value) in zip(tables.preservedAttributes(of: layout.entity), values) {
      guard let attribute, case .slot(let index)? = layout.position(of: attribute.name)
      else { continue }
      let slot = layout.slots[index]
      let value = layout.value(slot, of: value.rowValue)
      // The file of a deleted value is removed with its row.
      if value is ExternalFile { continue }
      result[attribute.name] = KeyedValue.boxed(value, slot.kind)
    }
    return result.isEmpty ? nil : result
  }

  private func properties(
    _ bits: SQLiteValue, _ entity: NSEntityDescription
  ) -> Set<NSPropertyDescription> {
    guard case .blob(let bytes) = bits else { return [] }
    let written = entity.historyProperties.enumerated().filter { index, _ in
      index / 8 < bytes.count && bytes[index / 8] & (1 << UInt8(index % 8)) != 0
    }
    return Set(written.map(\.element))
  }
}

extension SQLiteValue {
  /// The number, whether it's an integer or a real.
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  /// The string; for a number, its digits, because a process may be identified by one.
  fileprivate var string: String? {
    switch self {
    case .text(let text): text
    case .integer(let value): String(value)
    default: nil
    }
  }

  fileprivate var rowValue: RowValue {
    switch self {
    case .null: .null
    case .integer(let value): .int64(value)
    case .real(let value): .double(value)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(Data(bytes))
    }
  }
}

/// The entities that history requests name: Core Data's, without tables of their own.
enum HistoryEntities {
  static let change = make(
    "CHANGE", ["changeID", "changedEntity", "changedObjectID", "changeType"])
  static let transaction = make(
    "TRANSACTION",
    [
      "author", "bundleID", "contextName", "processID", "storeID", "timestamp",
      "transactionNumber",
    ])

  /// Returns a request for one of the two.
  static func request(_ entity: NSEntityDescription) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    return request
  }

  private static func make(_ name: String, _ attributes: [String]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      return attribute
    }
    return entity
  }
}
