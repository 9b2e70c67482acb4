package import SQLiteDriver

/// An index of a store file.
package struct FileIndex {
  /// A column or an expression, with its sort order and collation.
  package struct Part: Equatable {
    /// The column's name in uppercase; empty for an expression.
    package let column: String
    let isDescending: Bool
    let collation: String
  }

  package let name: String
  /// The table's name in uppercase.
  package let table: String
  package var parts: [Part]
  package let isUnique: Bool
  /// Whether the index has a `WHERE` clause.
  package let isPartial: Bool
  /// Whether a `CREATE INDEX` statement created the index, not a constraint of its table.
  package let isExplicit: Bool

  /// Creates an index of columns that are compared byte by byte, as on a server.
  ///
  /// - Parameter parts: The columns; an expression is an empty string.
  package init(
    name: String, table: String, parts: [(column: String, isDescending: Bool)], isUnique: Bool,
    isPartial: Bool
  ) {
    self.name = name
    self.table = table.uppercased()
    self.parts = parts.map {
      Part(column: $0.column.uppercased(), isDescending: $0.isDescending, collation: "BINARY")
    }
    self.isUnique = isUnique
    self.isPartial = isPartial
    isExplicit = true
  }

  fileprivate init(
    name: String, table: String, parts: [Part], isUnique: Bool, isPartial: Bool, isExplicit: Bool
  ) {
    (self.name, self.table, self.parts) = (name, table, parts)
    (self.isUnique, self.isPartial, self.isExplicit) = (isUnique, isPartial, isExplicit)
  }

  /// Returns all indexes of a file.
  ///
  /// **Cost:** one SELECT.
  package static func all(on connection: Connection) throws -> [FileIndex] {
    var indexes: [FileIndex] = []
    for row in try connection.values(
      """
      SELECT m.name, upper(m.tbl_name), l."unique", l.partial, l.origin, upper(i.name), i."desc", \
      i.coll FROM sqlite_master m, pragma_index_list(m.tbl_name) l, pragma_index_xinfo(m.name) i \
      WHERE m.type = 'index' AND l.name = m.name AND i.key = 1 ORDER BY m.tbl_name, m.name, i.seqno
      """)
    {
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { continue }
      var (column, collation) = ("", "BINARY")
      if case .text(let name) = row[5] { column = name }
      if case .text(let name) = row[7] { collation = name }
      let part = Part(column: column, isDescending: row[6] == .integer(1), collation: collation)
      if indexes.last?.name == name {
        indexes[indexes.count - 1].parts.append(part)
      } else {
        indexes.append(
          FileIndex(
            name: name, table: table, parts: [part], isUnique: row[2] == .integer(1),
            isPartial: row[3] == .integer(1), isExplicit: row[4] == .text("c")))
      }
    }
    return indexes
  }

  /// Returns whether the index serves every search that another index serves.
  package func covers(_ other: FileIndex) -> Bool {
    table == other.table && !isPartial && !other.isPartial && parts.starts(with: other.parts)
      && !other.parts.contains { $0.column.isEmpty }
  }
}
