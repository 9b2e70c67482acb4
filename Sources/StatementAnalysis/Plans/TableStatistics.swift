import SQLiteDriver

/// What `ANALYZE` has written down about a store's tables and indexes.
package struct TableStatistics: Sendable {
  /// Rows by table.
  private var rows: [String: Int] = [:]
  /// By index: entries in all, then entries for one value of the first column, then of the first two.
  private var indexes: [String: [Int]] = [:]

  /// Reads `sqlite_stat1`.
  ///
  /// Nothing is known where `ANALYZE` has never run. Cost: two reads, not recorded.
  init(_ connection: Connection) {
    guard
      (try? connection.values("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'"))?.isEmpty
        == false
    else { return }
    for values in (try? connection.values("SELECT tbl, idx, stat FROM sqlite_stat1")) ?? [] {
      guard case .text(let table) = values[0], case .text(let text) = values[2] else { continue }
      let numbers = text.split(separator: " ").prefix { Int($0) != nil }.compactMap { Int($0) }
      guard let all = numbers.first else { continue }
      if case .text(let index) = values[1] { indexes[index] = numbers }
      rows[table] = max(all, rows[table] ?? 0)
    }
  }

  /// Whether `ANALYZE` has never run.
  package var isEmpty: Bool { rows.isEmpty }

  /// The rows of a table when it was analysed; nil when it was not, or was empty.
  package func rows(of table: String) -> Int? { rows[table] }

  /// Entries of an index that have the same values in its first columns.
  ///
  /// - Parameter columns: How many of them are compared with `=`; 0 for the whole index.
  func entries(of index: String, equal columns: Int) -> Int? {
    guard let numbers = indexes[index], !numbers.isEmpty else { return nil }
    return numbers[min(columns, numbers.count - 1)]
  }
}
