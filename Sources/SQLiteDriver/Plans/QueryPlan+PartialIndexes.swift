extension QueryPlan {
  /// The plan with the condition of each partial index that is scanned behind its name.
  ///
  /// `SCAN t0 USING INDEX warm` becomes `SCAN t0 USING INDEX warm WHERE ZLATITUDE > 50`: SQLite's words do
  /// not tell such a scan from one of all rows. What was printed so can be read back.
  /// - Parameter condition: The condition of the index of a name; nil when it is not partial.
  package func telling(
    conditionsOfPartialIndexes condition: (String) -> String?
  ) -> QueryPlan {
    QueryPlan(
      nodes.map { node in
        var detail = node.detail
        if node.operation == .scan, node.partialCondition == nil,
          let condition = node.index.flatMap(condition)
        {
          detail += Node.conditionMark + condition
        }
        return Row(id: node.id, parent: node.parent, detail: detail)
      })
  }
}

extension QueryPlan.Node {
  static let conditionMark = " WHERE "

  /// The condition of the partial index that is scanned; nil for any other step, and as long as nobody
  /// has told it.
  package var partialCondition: String? {
    guard operation == .scan, let mark = detail.firstRange(of: QueryPlan.Node.conditionMark) else {
      return nil
    }
    return String(detail[mark.upperBound...])
  }
}

extension Connection {
  /// The condition of a partial index, on one line; nil for any other index.
  ///
  /// One statement.
  package func conditionOfIndex(_ name: String) -> String? {
    let rows = try? values(
      "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(name)])
    guard case .text(let sql)?? = rows?.first?.first else { return nil }
    return Connection.condition(ofIndex: sql)
  }

  /// What stands behind WHERE in `CREATE INDEX`, outside of brackets and quotes.
  static func condition(ofIndex sql: String) -> String? {
    var depth = 0
    var quote: Character?
    var word = ""
    for place in sql.indices {
      let character = sql[place]
      if let open = quote {
        if character == open { quote = nil }
      } else if "'\"`".contains(character) {
        quote = character
      } else if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
      }
      word = character.isLetter && quote == nil && depth == 0 ? word + character.uppercased() : ""
      guard word == "WHERE" else { continue }
      let condition = sql[sql.index(after: place)...].split(whereSeparator: \.isWhitespace)
      return condition.joined(separator: " ")
    }
    return nil
  }
}
