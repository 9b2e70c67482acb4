package import SQLiteDriver

extension QueryPlan {
  /// The full scans of a statement's plan, without those of partial indexes that hold just what it asks for.
  package func needlessScans(of sql: String) -> [Node] {
    fullScans.filter { !$0.isAnswered(byConditionIn: sql) }
  }
}

extension QueryPlan.Node {
  /// Whether the step scans a partial index whose own condition is all that a statement asks for.
  ///
  /// SQLite takes a partial index only where the statement's condition implies the index's; so nothing is
  /// left to be checked when the statement compares no other column.
  func isAnswered(byConditionIn sql: String) -> Bool {
    guard let condition = partialCondition, let table,
      let start = sql.firstRange(of: " WHERE ")?.upperBound
    else { return false }
    let rest = sql[start...]
    let ends = [" ORDER BY ", " GROUP BY ", " LIMIT "].compactMap { rest.firstRange(of: $0) }
    let compared = rest[..<(ends.map(\.lowerBound).min() ?? rest.endIndex)]
    let own = Set(Self.names(in: condition[...]).map { $0.uppercased() })
    return Self.names(in: compared).allSatisfy { name in
      let parts = name.split(separator: ".")
      // Without a table in front, a name of SQL is a column or a word such as AND.
      guard parts.count == 2 else { return !name.uppercased().hasPrefix("Z") }
      return parts[0] != table || own.contains(parts[1].uppercased())
    }
  }

  private static func names(in text: Substring) -> [String] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }.map(String.init)
  }
}
