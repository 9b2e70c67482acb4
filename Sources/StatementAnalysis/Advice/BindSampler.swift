package import SQLiteDriver

/// Samples a store for values to bind to a statement whose bound values are unknown.
///
/// Each placeholder gets a value from the middle of the table, of the column that it's compared
/// with or assigned to. Each `_Z_intarrayN` gets up to a hundred values. These approximate what the
/// statement typically searches for.
package struct BindSampler {
  /// The maximum number of keys in an integer array.
  private static let arrayLength = 100
  /// The value for a bound `LIMIT`: a typical batch.
  private static let limit = SQLiteValue.integer(20)

  private let connection: Connection

  /// Creates a sampler of the store that a connection is open to.
  package init(_ connection: Connection) {
    self.connection = connection
  }

  /// Returns one value for each placeholder of a statement.
  ///
  /// **Cost:** a SELECT of one row for each column that the statement compares or sets.
  package func binds(of sql: String) -> [SQLiteValue] {
    let outline = SQLOutline(sql)
    let assignments = outline.changesRows ? 0..<(outline.condition?.startIndex ?? .max) : 0..<0
    var values: [SQLiteValue] = []
    var latest: SQLiteValue = .integer(1)
    for (position, word) in outline.words.enumerated() {
      if word == "?" {
        let previous = position > 0 ? outline.words[position - 1].uppercased() : ""
        switch previous {
        case "LIMIT": values.append(BindSampler.limit)
        case "OFFSET": values.append(.integer(0))
        default:
          let right = BindSampler.rightSide(of: outline.words[(position + 1)...], outline)
          values.append(right.flatMap { sample($0.column, of: $0.table) } ?? latest)
        }
      } else if let (table, column) = BindSampler.column(word, outline) {
        // A column without values stays so: a value of another one can have another type.
        let missing = assignments.contains(position) ? .null : latest
        latest = sample(column, of: table) ?? missing
      }
    }
    return values
  }

  /// Binds sampled keys to the integer arrays that a statement reads.
  ///
  /// **Cost:** a SELECT for each array.
  /// - Throws: A `SQLiteError`.
  package func bindArrays(of sql: String) throws {
    let outline = SQLOutline(sql)
    let prefix = "_Z_intarray"
    var latest: (table: String, column: String)?
    for word in outline.words {
      if let found = BindSampler.column(word, outline) { latest = found }
      guard word.hasPrefix(prefix), let index = Int(word.dropFirst(prefix.count)) else { continue }
      let found = latest.map { keys($0.column, of: $0.table) } ?? []
      try connection.bindIntArray(index, ContiguousArray(found))
    }
  }

  /// Returns the column that follows words' comparison operator: `ZX` of `<= t0.ZX`.
  private static func rightSide(
    of words: ArraySlice<String>, _ outline: SQLOutline
  ) -> (table: String, column: String)? {
    guard let sign = words.first, sign.allSatisfy("=<>!".contains),
      let word = words.dropFirst().first
    else { return nil }
    return column(word, outline)
  }

  /// Returns the column that a word names; without an alias, a column of the only table, or of the
  /// one that an UPDATE or a DELETE changes.
  private static func column(
    _ word: String, _ outline: SQLOutline
  ) -> (table: String, column: String)? {
    if let dot = word.firstIndex(of: ".") {
      guard let table = outline.table(of: String(word[..<dot])) else { return nil }
      return (table, String(word[word.index(after: dot)...]))
    }
    guard word.hasPrefix("Z") else { return nil }
    let tables = outline.tables.map(\.table).filter { !TableNeeds.isInternal($0) }
    guard let table = tables.first, word != table,
      outline.changesRows || tables.dropFirst().isEmpty
    else { return nil }
    return (table, word)
  }

  private func sample(_ column: String, of table: String) -> SQLiteValue? {
    let (column, table) = (SQLSyntax.quoted(column), SQLSyntax.quoted(table))
    return try? connection.values(
      """
      SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL LIMIT 1 OFFSET \
      (SELECT COUNT(\(column)) / 2 FROM \(table))
      """
    ).first?.first
  }

  private func keys(_ column: String, of table: String) -> [Int64] {
    let (column, table) = (SQLSyntax.quoted(column), SQLSyntax.quoted(table))
    let rows = try? connection.values(
      "SELECT DISTINCT \(column) FROM \(table) WHERE \(column) IS NOT NULL "
        + "LIMIT \(BindSampler.arrayLength)")
    return (rows ?? []).compactMap { row in
      if case .integer(let key)? = row.first { key } else { nil }
    }
  }
}
