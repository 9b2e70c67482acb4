/// An index that a model asks for, or that every store has for a relationship.
package struct SchemaIndex: Hashable, Sendable {
  /// One column of an index.
  package struct Part: Hashable, Sendable {
    /// The column, as the file spells it.
    package let column: String
    /// Whether small values come first.
    package let isAscending: Bool
  }

  /// The index's name by the rule for new files; a file may have it under an older one.
  package let name: String
  /// The table, as the file spells it.
  package let table: String
  /// The most significant first.
  package let parts: [Part]
  /// Whether no two rows may have the same values.
  package let isUnique: Bool
  /// What a row must fulfil to be in the index; nil for all rows.
  package let condition: String?
  /// Whether collation and order are written out, as they are where the model asks for the index.
  private let isSpelledOut: Bool

  /// An index of a relationship or of the entity numbers.
  init(name: String, table: String, columns: [String]) {
    self.name = name
    self.table = table
    parts = columns.map { Part(column: $0, isAscending: true) }
    isUnique = false
    condition = nil
    isSpelledOut = false
  }

  /// An index that the model asks for.
  init(name: String, table: String, parts: [Part], isUnique: Bool = false, condition: String? = nil)
  {
    self.name = name
    self.table = table
    self.parts = parts
    self.isUnique = isUnique
    self.condition = condition
    isSpelledOut = true
  }

  /// The statement that makes it.
  package var sql: String {
    let columns = parts.map { part in
      let column = SQLNames.quoted(part.column)
      return isSpelledOut ? "\(column) COLLATE BINARY \(part.isAscending ? "ASC" : "DESC")" : column
    }
    return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLNames.quoted(name)) "
      + "ON \(SQLNames.quoted(table)) (\(columns.joined(separator: ", ")))"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}
