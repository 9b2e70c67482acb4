import OpenCoreData
import SQLiteDriver

/// Values for a statement whose own are not known, taken from the store it ran on.
///
/// Each placeholder gets a value of the column it is compared with, from the middle of the table, and
/// each `_Z_intarrayN` up to a hundred of them: what a search of that shape would typically look for.
struct BindSampler {
  /// Keys put into an integer array.
  private static let arrayLength = 100
  /// What a bound `LIMIT` is taken to be: a page.
  private static let limit = SQLiteValue.integer(20)

  let connection: Connection

  /// One value for each placeholder of a SELECT.
  func binds(of sql: String) -> [SQLiteValue] {
    let outline = SQLOutline(sql)
    var values: [SQLiteValue] = []
    var latest: SQLiteValue = .integer(1)
    for (place, word) in outline.words.enumerated() {
      if word == "?" {
        let previous = place > 0 ? outline.words[place - 1].uppercased() : ""
        switch previous {
        case "LIMIT": values.append(BindSampler.limit)
        case "OFFSET": values.append(.integer(0))
        default: values.append(latest)
        }
      } else if let (table, column) = BindSampler.column(word, outline.tables) {
        latest = sample(column, of: table) ?? latest
      }
    }
    return values
  }

  /// Fills the integer arrays that a statement reads.
  func bindArrays(of sql: String) throws {
    let outline = SQLOutline(sql)
    let prefix = "_Z_intarray"
    var latest: (table: String, column: String)?
    for word in outline.words {
      if let found = BindSampler.column(word, outline.tables) { latest = found }
      guard word.hasPrefix(prefix), let index = Int(word.dropFirst(prefix.count)) else { continue }
      let found = latest.map { keys($0.column, of: $0.table) } ?? []
      try connection.bindIntArray(index, ContiguousArray(found))
    }
  }

  private static func column(
    _ word: String, _ tables: [(table: String, alias: String)]
  ) -> (table: String, column: String)? {
    if let dot = word.firstIndex(of: ".") {
      let alias = word[..<dot]
      guard let table = tables.first(where: { $0.alias == alias })?.table else { return nil }
      return (table, String(word[word.index(after: dot)...]))
    }
    guard tables.count == 1, word.hasPrefix("Z"), word != tables[0].table else { return nil }
    return (tables[0].table, word)
  }

  private func sample(_ column: String, of table: String) -> SQLiteValue? {
    let (column, table) = (SQLNames.quoted(column), SQLNames.quoted(table))
    return try? connection.values(
      """
      SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL LIMIT 1 OFFSET \
      (SELECT COUNT(\(column)) / 2 FROM \(table))
      """
    ).first?.first
  }

  private func keys(_ column: String, of table: String) -> [Int64] {
    let (column, table) = (SQLNames.quoted(column), SQLNames.quoted(table))
    let rows = try? connection.values(
      "SELECT DISTINCT \(column) FROM \(table) WHERE \(column) IS NOT NULL "
        + "LIMIT \(BindSampler.arrayLength)")
    return (rows ?? []).compactMap { row in
      if case .integer(let key)? = row.first { key } else { nil }
    }
  }
}
