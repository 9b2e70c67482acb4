import OpenCoreData

/// An index that could be made.
package struct IndexCandidate: Sendable, Hashable {
  /// One column of it.
  package struct Part: Sendable, Hashable {
    /// As the file spells it.
    package var column: String
    package var isDescending: Bool

    package init(_ column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  /// As the file spells it.
  package var table: String
  /// The most significant first.
  package var parts: [Part]
  /// The column that must not be NULL for a row to be in the index; nil for all rows.
  package var notNull: String?

  package init(table: String, parts: [Part], notNull: String? = nil) {
    self.table = table
    self.parts = parts
    self.notNull = notNull
  }

  /// The statement that makes it, in the form of Core Data's own.
  package func sql(named name: String) -> String {
    let columns = parts.map { part in
      "\(SQLNames.quoted(part.column)) COLLATE BINARY \(part.isDescending ? "DESC" : "ASC")"
    }
    return "CREATE INDEX \(SQLNames.quoted(name)) ON \(SQLNames.quoted(table)) "
      + "(\(columns.joined(separator: ", ")))"
      + (notNull.map { " WHERE \(SQLNames.quoted($0)) IS NOT NULL" } ?? "")
  }

  /// How much there is to keep: columns, and a partial index before a full one of as many.
  var width: Int { parts.count * 2 + (notNull == nil ? 1 : 0) }

  /// Whether it serves every search that another one serves.
  func covers(_ other: IndexCandidate) -> Bool {
    table.uppercased() == other.table.uppercased() && (notNull == nil || notNull == other.notNull)
      && parts.count >= other.parts.count
      && zip(parts, other.parts).allSatisfy {
        $0.column.uppercased() == $1.column.uppercased() && $0.isDescending == $1.isDescending
      }
  }

  /// Whether a file has it already, or a longer one.
  func isServed(by index: FileIndex) -> Bool {
    index.table == table.uppercased() && !index.isPartial && index.parts.count >= parts.count
      && zip(index.parts, parts).allSatisfy {
        $0.column == $1.column.uppercased() && $0.isDescending == $1.isDescending
          && $0.collation == "BINARY"
      }
  }
}
