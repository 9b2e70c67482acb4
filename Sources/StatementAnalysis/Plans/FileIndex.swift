package import SQLiteDriver

/// An index of a store file.
package struct FileIndex {
  /// A column or an expression, with its sort order and collation.
  package struct Part: Equatable {
    /// The column's name in uppercase; empty for an expression.
    package let column: String
    let isDescending: Bool
    let collation: String
    /// The expression as SQL, or `nil` for a column and if it's unknown.
    var expression: String?

    /// The column's name, or the expression.
    package var title: String { column.isEmpty ? expression ?? "an expression" : column }
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
      i.coll, m.sql, i.seqno \
      \(IndexColumns.source) \
      ORDER BY m.tbl_name, m.name, i.seqno
      """)
    {
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { continue }
      var (column, collation) = ("", "BINARY")
      if case .text(let name) = row[5] { column = name }
      if case .text(let name) = row[7] { collation = name }
      var part = Part(column: column, isDescending: row[6] == .integer(1), collation: collation)
      if column.isEmpty, case .text(let sql) = row[8], case .integer(let position) = row[9] {
        part.expression = terms(of: sql).dropFirst(Int(position)).first
      }
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

  /// Returns the columns and expressions of a `CREATE INDEX` statement, without their collations
  /// and sort orders.
  static func terms(of sql: String) -> [String] {
    let bytes = ArraySlice(sql.utf8)
    let tokens = SQLToken.all(in: bytes)
    guard let table = tokens.firstIndex(where: { $0.keyword == "ON" }),
      let start = tokens[table...].firstIndex(where: { $0.isSign("(") })
    else { return [] }
    var terms: [[SQLToken]] = [[]]
    var depth = 1
    for token in tokens[(start + 1)...] {
      if token.isSign("(") { depth += 1 }
      if token.isSign(")") { depth -= 1 }
      if depth == 0 { break }
      if depth == 1, token.isSign(",") {
        terms.append([])
      } else {
        terms[terms.count - 1].append(token)
      }
    }
    return terms.map { term in
      var term = term
      if ["ASC", "DESC"].contains(term.last?.keyword) { term.removeLast() }
      if term.dropLast().last?.keyword == "COLLATE" { term.removeLast(2) }
      guard let first = term.first, let last = term.last else { return "" }
      let text = bytes[first.bytes.startIndex..<last.bytes.endIndex]
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// Returns whether the index serves every search that another index serves.
  package func covers(_ other: FileIndex) -> Bool {
    table == other.table && !isPartial && !other.isPartial && parts.starts(with: other.parts)
      && !other.parts.contains { $0.column.isEmpty }
  }
}
