/// What a statement asks of one table: by which columns it searches, sorts and reads.
package struct TableNeeds: Equatable {
  /// One sort key.
  struct Key: Equatable {
    var column: String
    var isDescending: Bool
  }

  /// As the statement spells it.
  var table: String
  /// Columns compared for equality, `IN` among them, in the order of the text.
  package var equal: [String] = []
  /// Columns compared with `<`, `>`, `BETWEEN`.
  var ranges: [String] = []
  /// The sort keys, when all of them are plain columns of this table.
  var order: [Key] = []
  /// Every column that the statement names.
  var columns: [String] = []

  /// The needs of a statement, table by table; a table that is read twice is listed twice.
  ///
  /// Integer arrays and housekeeping tables are left out.
  package static func all(of sql: String) -> [TableNeeds] {
    let outline = SQLOutline(sql)
    let tables = outline.tables.filter { !isInternal($0.table) }
    let isAlone = tables.count == 1
    return tables.map { table in
      var needs = TableNeeds(table: table.table)
      needs.read(outline.words) { word in
        if word.hasPrefix("\(table.alias).") {
          return String(word.dropFirst(table.alias.count + 1))
        }
        // Without an alias, the columns of the only table have no prefix.
        let isBare = isAlone && word.hasPrefix("Z") && !word.contains(".") && word != table.table
        return isBare ? word : nil
      }
      return needs
    }
  }

  private static func isInternal(_ table: String) -> Bool {
    table.hasPrefix("_Z_intarray") || table.hasPrefix("sqlite_")
      || ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"].contains(table.uppercased())
  }

  private mutating func read(_ words: [String], column: (String) -> String?) {
    var sorted: [Key]? = []
    var place = 0
    while place < words.count {
      let upper = words[place].uppercased()
      if upper == "ORDER", place + 1 < words.count, words[place + 1].uppercased() == "BY" {
        sorted = TableNeeds.keys(words[(place + 2)...], column: column)
      }
      if let name = column(words[place]) {
        if !columns.contains(name) { columns.append(name) }
        compare(name, words, place, column)
      }
      place += 1
    }
    order = sorted ?? []
    // Rows of an index that are alike otherwise lie in the order of the primary key.
    if order.last?.column == "Z_PK", order.last?.isDescending == false { order.removeLast() }
  }

  private mutating func compare(
    _ name: String, _ words: [String], _ place: Int, _ column: (String) -> String?
  ) {
    guard name != "Z_PK", name != "Z_ENT" else { return }
    let next = place + 1 < words.count ? words[place + 1].uppercased() : ""
    let previous = place > 0 ? words[place - 1] : ""
    switch next {
    case "=", "==", "IN": add(name, to: \.equal)
    case "<", ">", "<=", ">=", "BETWEEN": add(name, to: \.ranges)
    case "IS":
      let object = place + 2 < words.count ? words[place + 2].uppercased() : ""
      if object != "NOT" { add(name, to: \.equal) }
    default:
      // The right side of a join: `t0.Z_PK = t1.ZOWNER`.
      if previous == "=", place > 1, words[place - 2].contains(".") { add(name, to: \.equal) }
    }
  }

  private mutating func add(_ name: String, to list: WritableKeyPath<TableNeeds, [String]>) {
    if !self[keyPath: list].contains(name) { self[keyPath: list].append(name) }
  }

  /// Nil when a key isn't a plain column of this table, or sorts by a collation that no fetch index has.
  private static func keys(
    _ words: ArraySlice<String>, column: (String) -> String?
  ) -> [Key]? {
    var keys: [Key] = []
    var item: [String] = []
    func take() -> Bool {
      guard let first = item.first, let name = column(first) else { return false }
      guard !item.contains(where: { $0.uppercased() == "COLLATE" }) else { return false }
      keys.append(Key(column: name, isDescending: item.last?.uppercased() == "DESC"))
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
