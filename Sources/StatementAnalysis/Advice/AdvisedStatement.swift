package import SQLiteDriver

/// A statement of the work that indexes are looked for.
package struct AdvisedStatement: Sendable, Equatable {
  /// The text with its placeholders.
  package var sql: String
  /// What one of its runs bound; nil when nobody knows, as for a log of level 1.
  package var binds: [SQLiteValue]?
  /// How often it ran.
  package var count: Int
  /// The entity it was run for; nil when it is not known.
  package var entity: String?

  package init(sql: String, binds: [SQLiteValue]? = nil, count: Int, entity: String? = nil) {
    self.sql = sql
    self.binds = binds
    self.count = count
    self.entity = entity
  }

  /// A recorded shape.
  package init(_ shape: StatementShape) {
    self.init(
      sql: shape.sql, binds: shape.binds?.map(BindText.value), count: shape.count,
      entity: shape.entity)
  }

  /// Whether it reads, so that an index may help it.
  package var reads: Bool {
    sql.drop(while: \.isWhitespace).prefix(7).uppercased().hasPrefix("SELECT")
  }

  /// The statements of several recordings, those of one text counted together.
  package static func all(in shapes: [StatementShape]) -> [AdvisedStatement] {
    var statements: [AdvisedStatement] = []
    var places: [String: Int] = [:]
    for shape in shapes {
      if let place = places[shape.sql] {
        statements[place].count += shape.count
        if statements[place].binds == nil {
          statements[place].binds = shape.binds?.map(BindText.value)
        }
      } else {
        places[shape.sql] = statements.count
        statements.append(AdvisedStatement(shape))
      }
    }
    return statements
  }
}
