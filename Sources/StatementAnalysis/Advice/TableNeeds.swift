/// The columns of one table that a statement compares, sorts by, and reads.
package struct TableNeeds: Equatable {
  /// A sort key.
  struct Key: Equatable {
    var column: String
    var isDescending: Bool
  }

  /// The table's name, spelled as in the statement.
  var table: String
  /// The columns compared for equality, including `IN`, in their order in the statement.
  package var equal: [String] = []
  /// The columns compared with `<`, `>`, or `BETWEEN`.
  package var ranges: [String] = []
  /// The columns compared with `IS NOT NULL`, whose rows a partial index contains.
  var notNull: [String] = []
  /// The sort keys, if all of them are plain columns of this table; otherwise, empty.
  ///
  /// A last key that's the primary key is omitted.
  var order: [Key] = []
  /// Whether the primary key is descending as the last sort key, or `nil` if it isn't the last one.
  var sortsPrimaryKeysDescending: Bool?
  /// All columns of the table that appear in the statement.
  var columns: [String] = []

  /// Returns the needs of a statement, one element for each time it names a table.
  ///
  /// An UPDATE or a DELETE needs the columns of its condition; those that it sets don't find rows.
  /// Integer arrays and housekeeping tables are omitted.
  package static func all(of sql: String) -> [TableNeeds] {
    let outline = SQLOutline(sql)
    return all(of: Array(outline.searchingWords), in: outline)
  }

  /// Returns the needs of the sides of each `OR` of a statement, one list for each `OR` and table.
  ///
  /// Sides that don't compare a column of the table are omitted, and so are lists of fewer than two
  /// sides.
  static func sides(ofAlternativesIn sql: String) -> [[TableNeeds]] {
    let outline = SQLOutline(sql)
    return outline.alternatives.flatMap { sides -> [[TableNeeds]] in
      let needs = sides.map { all(of: Array($0), in: outline) }
      return (needs.first ?? []).indices.map { table in
        needs.map { $0[table] }.filter(\.isCompared)
      }
    }
    .filter { $0.count > 1 }
  }

  /// Returns the needs of words of a statement, one element for each table of the statement.
  private static func all(of words: [String], in outline: SQLOutline) -> [TableNeeds] {
    let tables = outline.tables.filter { !isInternal($0.table) }
    let isAlone = tables.count == 1
    return tables.map { table in
      var needs = TableNeeds(table: table.table)
      needs.read(words) { word in
        if word.hasPrefix("\(table.alias).") {
          return String(word.dropFirst(table.alias.count + 1))
        }
        // In a statement with one table and no alias, column names have no prefix.
        let isBare = isAlone && word.hasPrefix("Z") && !word.contains(".") && word != table.table
        return isBare ? word : nil
      }
      return needs
    }
  }

  /// Whether a condition or a sort needs a column, apart from the primary key and the entity ID.
  var isSearch: Bool { isCompared || !order.isEmpty }

  private var isCompared: Bool { !equal.isEmpty || !ranges.isEmpty || !notNull.isEmpty }

  /// Returns whether a table is an integer array or a housekeeping table.
  static func isInternal(_ table: String) -> Bool {
    table.hasPrefix("_Z_intarray") || table.hasPrefix("sqlite_")
      || ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"].contains(table.uppercased())
  }

  private mutating func read(_ words: [String], column: (String) -> String?) {
    var sorted: [Key]? = []
    var position = 0
    while position < words.count {
      let upper = words[position].uppercased()
      if upper == "ORDER", position + 1 < words.count, words[position + 1].uppercased() == "BY" {
        sorted = TableNeeds.keys(words[(position + 2)...], column: column)
      }
      if let name = column(words[position]) {
        if !columns.contains(name) { columns.append(name) }
        compare(name, words, position, column)
      }
      position += 1
    }
    order = sorted ?? []
    // Index entries with equal columns are in the order of the primary key.
    if let last = order.last, last.column.uppercased() == "Z_PK" {
      sortsPrimaryKeysDescending = last.isDescending
      order.removeLast()
    }
  }

  private mutating func compare(
    _ name: String, _ words: [String], _ position: Int, _ column: (String) -> String?
  ) {
    guard !["Z_PK", "Z_ENT"].contains(name.uppercased()) else { return }
    let next = position + 1 < words.count ? words[position + 1].uppercased() : ""
    let previous = position > 0 ? words[position - 1] : ""
    guard !SQLOutline.calculations.contains(previous) else { return }
    switch next {
    case "=", "==", "IN": add(name, to: \.equal)
    case "<", ">", "<=", ">=", "BETWEEN": add(name, to: \.ranges)
    case "IS":
      let object = words.dropFirst(position + 2).prefix(2).map { $0.uppercased() }
      if object == ["NOT", "NULL"] { add(name, to: \.notNull) }
      if object.first != "NOT" { add(name, to: \.equal) }
    case _ where SQLOutline.calculations.contains(next): break
    default:
      // The right side of a comparison: `t0.Z_PK = t1.ZOWNER`, `? <= t0.ZX`.
      switch previous {
      case "=", "==": add(name, to: \.equal)
      case "<", ">", "<=", ">=": add(name, to: \.ranges)
      default: break
      }
    }
  }

  private mutating func add(_ name: String, to list: WritableKeyPath<TableNeeds, [String]>) {
    if !self[keyPath: list].contains(name) { self[keyPath: list].append(name) }
  }

  /// Returns the sort keys, or `nil` if a key isn't a plain column of this table or has a
  /// collation, which a fetch index can't have.
  private static func keys(
    _ words: ArraySlice<String>, column: (String) -> String?
  ) -> [Key]? {
    var keys: [Key] = []
    var item: [String] = []
    func take() -> Bool {
      guard let first = item.first, let name = column(first) else { return false }
      guard !item.contains(where: { $0.uppercased() == "COLLATE" }) else { return false }
      keys.append(Key(column: name, isDescending: item.contains { $0.uppercased() == "DESC" }))
      item = []
      return true
    }
    for word in words {
      if ["LIMIT", "OFFSET", ")", ";"].contains(word.uppercased()) { break }
      if word == "," {
        guard take() else { return nil }
      } else {
        item.append(word)
      }
    }
    return take() ? keys : nil
  }
}
