import Foundation
import SQLiteDriver

/// Gives a store the traces that files of older frameworks and of earlier migrations have.
///
/// Real files have each of them: index names of another form, two indexes on the same columns,
/// columns in the order in which they were added, columns and tables that no version of the model
/// has, and former names of entities.
struct OlderFile<Generator: RandomNumberGenerator> {
  let url: URL
  var random: Generator
  /// What was changed, for the report of a failing test.
  private(set) var log: [String] = []

  init(_ url: URL, _ random: Generator) {
    (self.url, self.random) = (url, random)
  }

  /// Changes the file, without changing what a context reads from it.
  ///
  /// - Parameter pending: The indexes that deferred migrations have left to remove by their names,
  ///   which stay.
  mutating func age(except pending: Set<String> = []) throws {
    let connection = try Connection(path: url.path, access: .writing)
    defer { connection.close() }
    try connection.execute("BEGIN")
    for table in try names(of: "table", on: connection) where table.hasPrefix("Z") {
      guard !table.hasPrefix("Z_"), table != "ZREMOVED", Bool.random(using: &random) else {
        continue
      }
      try reorder(table, on: connection)
    }
    // A migration doesn't change the indexes of the history.
    for index in try names(of: "index", on: connection)
    where ["ZE", "ZS", "Z_"].contains(index.prefix(2)) && !index.contains("TRANSACTION") {
      let name = "I\(Int.random(in: 0..<1_000_000, using: &random))_\(index)"
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try copy(index, to: name, on: connection)
      case 1 where !pending.contains(index):
        try copy(index, to: name, on: connection)
        try connection.execute("DROP INDEX \"\(index)\"")
      default: break
      }
    }
    try connection.execute("CREATE TABLE IF NOT EXISTS ZREMOVED (Z_PK INTEGER PRIMARY KEY)")
    try connection.execute("INSERT INTO ZREMOVED VALUES (NULL)")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Former' || Z_NAME WHERE Z_ENT % 2")
    try connection.execute("COMMIT")
  }

  private func names(of type: String, on connection: Connection) throws -> [String] {
    try connection.values(
      "SELECT name FROM sqlite_master WHERE type = ? AND sql IS NOT NULL ORDER BY name",
      [.text(type)]
    ).compactMap { if case .text(let name)? = $0.first { name } else { nil } }
  }

  private func sql(of name: String, on connection: Connection) throws -> String {
    let rows = try connection.values(
      "SELECT sql FROM sqlite_master WHERE name = ?", [.text(name)])
    guard case .text(let sql)? = rows.first?.first else { return "" }
    return sql
  }

  private mutating func copy(
    _ index: String, to name: String, on connection: Connection
  ) throws {
    let statement = try sql(of: index, on: connection)
    guard let range = statement.range(of: index) else { return }
    try connection.execute(statement.replacingCharacters(in: range, with: name))
    log.append("copy \(index) to \(name)")
  }

  /// Makes a table again with its columns in another order, and with one that no version has.
  private mutating func reorder(_ table: String, on connection: Connection) throws {
    let statement = try sql(of: table, on: connection)
    guard let open = statement.firstIndex(of: "("), let close = statement.lastIndex(of: ")") else {
      return
    }
    var columns = statement[statement.index(after: open)..<close].split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    columns = columns.prefix(1) + columns.dropFirst().shuffled(using: &random)
    // An attribute that's added later may get the name of the column.
    let left = "ZAA\(Int.random(in: 1..<40, using: &random))"
    if columns.allSatisfy({ !$0.hasPrefix(left + " ") }) { columns.append("\(left) VARCHAR") }
    let names = columns.map { $0.prefix { $0 != " " } }
      .filter { $0 != left || statement.contains("\(left) ") }
    let indexes = try connection.values(
      "SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL "
        + "AND tbl_name = ?", [.text(table)])
    try connection.execute("PRAGMA legacy_alter_table=ON")
    try connection.execute("ALTER TABLE \(table) RENAME TO ZOLDER")
    try connection.execute("CREATE TABLE \(table) (\(columns.joined(separator: ", ")))")
    let list = names.joined(separator: ", ")
    try connection.execute("INSERT INTO \(table) (\(list)) SELECT \(list) FROM ZOLDER")
    try connection.execute("DROP TABLE ZOLDER")
    for row in indexes {
      if case .text(let sql)? = row.first { try connection.execute(sql) }
    }
    log.append("reorder \(table) with \(left)")
  }
}
