import SQLiteDriver

/// The indexes, triggers, and R-trees in a store's file.
struct FileObjects: Sendable {
  /// An index, whether created by a statement or by a constraint of `CREATE TABLE`.
  struct Index: Hashable, Sendable {
    let name: String
    /// The table, as spelled in the file.
    let table: String
    /// Its columns.
    ///
    /// An expression, and a column with a collation that a model's index doesn't have, have a name
    /// that no column has.
    let parts: [SchemaIndex.Part]
    /// The columns of the table that it contains; `nil` for an expression.
    let columns: [String?]
    let isUnique: Bool
    /// The WHERE clause of a partial index; `nil` for all rows.
    let condition: String?
    /// Whether it belongs to a constraint of its table, so that only a new table is without it.
    let isConstraint: Bool
    /// The statement that created it; `nil` for an index of a constraint.
    let sql: String?

    /// Whether it contains only columns, in SQLite's usual order, of all rows.
    var isPlain: Bool {
      condition == nil && zip(parts, columns).allSatisfy { $0.column == $1 }
    }
  }

  /// A trigger.
  struct Trigger: Hashable, Sendable {
    let name: String
    let table: String
    let sql: String
  }

  /// All indexes but those of primary keys, in the order of creation.
  let indexes: [Index]
  /// The indexes of constraints, which only older files have, by the table's name in uppercase.
  let constraints: [String: [Index]]
  /// All triggers, in the order of creation.
  let triggers: [Trigger]
  /// The names of the virtual tables that are R-trees.
  let rangeTables: [String]

  /// Reads the objects.
  ///
  /// **Cost:** two statements.
  /// - Parameters:
  ///   - connection: A connection to the file.
  ///   - planned: Indexes to add, as if they had been created last.
  init(
    reading connection: Connection, adding planned: [SchemaIndex] = []
  ) throws(SQLiteError) {
    let rows = try connection.values(
      """
      SELECT m.name, m.tbl_name, l."unique", l.origin, l.partial, i.name, i."desc", i.coll, m.sql \
      \(IndexColumns.source) AND l.origin != 'pk' ORDER BY m.rowid, i.seqno
      """)
    var indexes: [Index] = []
    for row in rows {
      guard case .text(let name) = row[0], case .text(let table) = row[1] else { continue }
      let column: String? = if case .text(let column) = row[5] { column } else { nil }
      let sql: String? = if case .text(let sql) = row[8] { sql } else { nil }
      let part = SchemaIndex.Part(
        column: row[7] == .text("BINARY") ? column ?? "" : "", isAscending: row[6] == .integer(0))
      if let last = indexes.last, last.name == name {
        indexes[indexes.count - 1] = last.adding(part, column)
        continue
      }
      indexes.append(
        Index(
          name: name, table: table, parts: [part], columns: [column],
          isUnique: row[2] == .integer(1),
          condition: row[4] == .integer(1) ? sql.flatMap(Connection.condition(ofIndex:)) : nil,
          isConstraint: row[3] == .text("u"), sql: sql))
    }
    indexes += planned.map(Index.init(of:))
    self.indexes = indexes
    constraints = Dictionary(grouping: indexes.filter(\.isConstraint)) { $0.table.uppercased() }
    let others = try connection.values(
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger' "
        + "OR sql LIKE 'CREATE VIRTUAL TABLE%USING RTREE%' ORDER BY rowid")
    triggers = others.compactMap { row in
      guard row[0] == .text("trigger"), case .text(let name) = row[1],
        case .text(let table) = row[2], case .text(let sql) = row[3]
      else { return nil }
      return Trigger(name: name, table: table, sql: sql)
    }
    rangeTables = others.compactMap { row in
      guard row[0] == .text("table"), case .text(let name) = row[1] else { return nil }
      return name
    }
  }
}

extension FileObjects.Index {
  /// The index that a model's statement creates.
  fileprivate init(of index: SchemaIndex) {
    let sql = index.sql
    self.init(
      name: index.name, table: index.table, parts: index.parts,
      columns: index.parts.map(\.column), isUnique: index.isUnique,
      condition: index.condition == nil ? nil : Connection.condition(ofIndex: sql),
      isConstraint: false, sql: sql)
  }

  fileprivate func adding(_ part: SchemaIndex.Part, _ column: String?) -> Self {
    Self(
      name: name, table: table, parts: parts + [part], columns: columns + [column],
      isUnique: isUnique, condition: condition, isConstraint: isConstraint, sql: sql)
  }

  /// Returns whether it's another index's columns, in the same table, under another name.
  func isCopy(of other: Self) -> Bool {
    name != other.name && isPlain == other.isPlain && columns == other.columns
      && table.uppercased() == other.table.uppercased() && parts == other.parts
      && isUnique == other.isUnique && condition == other.condition
  }

  /// Returns whether it's the same index but for its name, once columns are renamed.
  ///
  /// - Parameter newNames: The new names of renamed columns, by their uppercase names.
  func matches(_ index: SchemaIndex, renaming newNames: [String: String]) -> Bool {
    IndexContent(self, renaming: newNames) == IndexContent(index)
  }
}

/// What's the same in two indexes that differ only in their names and tables.
struct IndexContent: Hashable {
  private let parts: [SchemaIndex.Part]
  private let isUnique: Bool
  private let condition: String?

  init(_ index: SchemaIndex) {
    self.init(index.parts, [:], index.isUnique, index.condition)
  }

  /// - Parameter newNames: The new names of renamed columns, by their uppercase names.
  init(_ index: FileObjects.Index, renaming newNames: [String: String]) {
    self.init(index.parts, newNames, index.isUnique, index.condition)
  }

  private init(
    _ parts: [SchemaIndex.Part], _ newNames: [String: String], _ isUnique: Bool,
    _ condition: String?
  ) {
    self.parts = parts.map { part in
      let name = newNames[part.column.uppercased()] ?? part.column
      return SchemaIndex.Part(column: name.uppercased(), isAscending: part.isAscending)
    }
    (self.isUnique, self.condition) = (isUnique, condition)
  }
}
