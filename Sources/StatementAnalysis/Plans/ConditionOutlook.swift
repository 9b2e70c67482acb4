import SQLiteDriver

/// Whether an index on the compared columns could find the rows of a statement's condition.
///
/// SQLite searches an index for a column that's compared by itself with something that doesn't
/// depend on the same row; not for one in a function's argument or in a calculation, and not with
/// `<>` or `NOT`. With `IS NOT NULL`, a partial index can help. `LIKE` ignores case, which no fetch
/// index does. Each side of an `OR` must be searched, in the same table. A subquery can have its
/// own search.
enum ConditionOutlook: Equatable {
  /// An index could help.
  case indexable
  /// The columns that could be searched have indexes, of which one has this name, but the plan
  /// doesn't search them.
  case indexed(String)
  /// The condition calls a function, and nothing else of it can be searched.
  case onlyFunctions
  /// Nothing of the condition can be searched.
  case unsearchable
  /// The condition compares no column, such as `0 = 1`.
  case constant

  /// - Parameters:
  ///   - outline: A statement; without a condition, an index could help.
  ///   - plan: The statement's plan.
  ///   - present: The indexes of the store; empty if they're unknown.
  init(_ outline: SQLOutline, plan: QueryPlan, present: [FileIndex]) {
    guard let condition = outline.condition,
      condition.count <= SQLOutline.maximumConditionWords
    else {
      self = .indexable
      return
    }
    let columns = condition.filter(ConditionReader.isColumn)
    guard !columns.isEmpty else {
      self = .constant
      return
    }
    let reader = ConditionReader(outline, plan, present)
    // The entity's rows have an index of their own.
    let isOfEntity = columns.allSatisfy { ConditionReader.name(of: $0) == "Z_ENT" }
    let use = isOfEntity ? ConditionReader.Use.missing : reader.use(of: condition)
    switch use {
    case .missing: self = .indexable
    case .present(let name): self = .indexed(name)
    case .primaryKey, .nothing:
      self = ConditionReader.callsFunction(condition) ? .onlyFunctions : .unsearchable
    }
  }
}

/// Finds what an index can do for the parts of a condition.
private struct ConditionReader {
  /// What an index can do for a part of a condition, from the least to the most.
  enum Use: Equatable {
    case nothing
    /// The primary key can find the rows.
    case primaryKey
    /// An index that the store has can find the rows.
    case present(String)
    /// An index that the store doesn't have can find the rows.
    case missing

    var rank: Int {
      switch self {
      case .nothing: 0
      case .primaryKey: 1
      case .present: 2
      case .missing: 3
      }
    }
  }

  private let outline: SQLOutline
  private let present: [FileIndex]
  /// The aliases of the tables that the plan searches by more than their entity.
  private let searchedTables: Set<String>
  /// The aliases of the tables whose columns are examined, or `nil` for all.
  private var scope: Set<String>?

  init(_ outline: SQLOutline, _ plan: QueryPlan, _ present: [FileIndex]) {
    self.outline = outline
    let searches = plan.nodes.filter {
      $0.operation == .search && !$0.isAutomaticIndex && $0.constraint != "Z_ENT=?"
    }
    searchedTables = Set(searches.compactMap(\.table))
    let searchedIndexes = Set(searches.compactMap(\.index))
    self.present = present.filter { !searchedIndexes.contains($0.name) }
  }

  /// Returns what an index can do for a condition.
  func use(of words: ArraySlice<String>) -> Use {
    var words = words
    while words.first == "(", !ConditionReader.isSubquery(words),
      SQLOutline.end(of: words) == words.indices.last
    {
      words = words.dropFirst().dropLast()
    }
    let alternatives = SQLOutline.parts(of: words, at: "OR")
    if alternatives.count > 1 {
      let uses = alternatives.map { use(of: $0) }
      let isSearchable =
        !uses.contains(.nothing) && ConditionReader.haveTableInCommon(alternatives)
      return isSearchable ? ConditionReader.most(uses) : .nothing
    }
    let conditions = SQLOutline.parts(of: words, at: "AND")
    return conditions.count == 1
      ? use(ofComparison: words) : ConditionReader.most(conditions.map { use(of: $0) })
  }

  /// Returns what an index can do for a condition without `AND` and `OR`.
  private func use(ofComparison words: ArraySlice<String>) -> Use {
    let isNegated = words.first?.uppercased() == "NOT"
    let owners = words.filter(ConditionReader.isColumn).map(ConditionReader.owner)
    var uses: [Use] = []
    var rest = words
    var previous = ""
    while let word = rest.first {
      if ConditionReader.isSubquery(rest), let end = SQLOutline.end(of: rest) {
        uses.append(use(ofSubquery: rest[...end]))
        rest = rest[(end + 1)...]
      } else if ConditionReader.isCall(rest), let end = SQLOutline.end(of: rest.dropFirst()) {
        rest = rest[(end + 1)...]
      } else if word.uppercased() == "CASE" {
        rest = rest.drop { $0.uppercased() != "END" }.dropFirst()
      } else {
        rest = rest.dropFirst()
        let isEnclosed = previous == "(" && rest.first == ")"
        let following = (isEnclosed ? rest.dropFirst() : rest).prefix(2).map { $0.uppercased() }
        let next = following.first ?? ""
        let isAlone =
          ConditionReader.comparisons.contains(next) && !SQLOutline.calculations.contains(previous)
          || next.isEmpty && ConditionReader.comparisons.contains(previous)
        let isOnly = owners.count { $0 == ConditionReader.owner(of: word) } == 1
        if ConditionReader.isColumn(word), isAlone, isOnly, !isNegated {
          uses.append(use(of: word, comparedBy: following))
        }
      }
      previous = word.uppercased()
    }
    return ConditionReader.most(uses)
  }

  /// Returns what an index can do for a subquery: for the columns of its tables, except of those
  /// that the plan already searches.
  private func use(ofSubquery words: ArraySlice<String>) -> Use {
    let inside = Array(words.dropFirst().dropLast())
    guard let condition = SQLOutline.condition(in: inside) else { return .nothing }
    var reader = self
    reader.scope = Set(SQLOutline.tables(in: inside).map(\.alias)).subtracting(searchedTables)
    return reader.use(of: condition)
  }

  /// Returns what an index can do for a column that's compared by itself.
  ///
  /// - Parameter words: The two words that follow the column, in uppercase.
  private func use(of column: String, comparedBy words: [String]) -> Use {
    let owner = ConditionReader.owner(of: column)
    if let scope, !scope.contains(owner) { return .nothing }
    let name = ConditionReader.name(of: column)
    switch name {
    case "Z_ENT": return .nothing
    // The primary key is never NULL.
    case "Z_PK": return words.first == "IS" ? .nothing : .primaryKey
    default: break
    }
    let table = (outline.table(of: owner) ?? outline.tables.first?.table ?? "").uppercased()
    let index = present.first { index in
      index.table == table && index.isPartial == (words == ["IS", "NOT"])
        && index.parts.first?.column == name && index.parts.first?.collation == "BINARY"
    }
    guard let index else { return .missing }
    return .present(index.name)
  }

  /// Returns whether the columns of a table are in all sides of an `OR`.
  ///
  /// Rows that an index finds for one side are added to those of the other sides, before they're
  /// joined with rows of another table.
  private static func haveTableInCommon(_ sides: [ArraySlice<String>]) -> Bool {
    let owners = sides.map { Set($0.filter(isColumn).map(owner)) }
    return !owners.dropFirst().reduce(owners.first ?? []) { $0.intersection($1) }.isEmpty
  }

  private static func most(_ uses: [Use]) -> Use {
    uses.max { $0.rank < $1.rank } ?? .nothing
  }

  private static let comparisons: Set<String> = [
    "=", "==", "<", ">", "<=", ">=", "IN", "BETWEEN", "IS", "GLOB",
  ]

  /// Returns whether words call a function outside of their subqueries.
  static func callsFunction(_ words: ArraySlice<String>) -> Bool {
    var rest = words
    while !rest.isEmpty {
      if isCall(rest) { return true }
      let end = isSubquery(rest) ? SQLOutline.end(of: rest) : nil
      rest = end.map { rest[($0 + 1)...] } ?? rest.dropFirst()
    }
    return false
  }

  /// Returns whether words begin with a function and its arguments.
  private static func isCall(_ words: ArraySlice<String>) -> Bool {
    guard let name = words.first, words.dropFirst().first == "(" else { return false }
    return name.first?.isLetter == true && !keywords.contains(name.uppercased())
  }

  /// Returns whether words begin with a subquery.
  private static func isSubquery(_ words: ArraySlice<String>) -> Bool {
    words.first == "(" && words.dropFirst().first?.uppercased() == "SELECT"
  }

  /// The keywords of a condition.
  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN", "LIKE", "GLOB", "EXISTS", "SELECT", "FROM",
    "WHERE", "VALUES", "ON", "ESCAPE", "COLLATE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS",
  ]

  static func isColumn(_ word: String) -> Bool {
    name(of: word).hasPrefix("Z")
  }

  /// Returns the name of a column in uppercase: `ZDATE` of `t0.ZDATE`.
  static func name(of column: String) -> String {
    column.split(separator: ".").last?.uppercased() ?? ""
  }

  /// Returns the table of a column: `t0` of `t0.ZDATE`; an empty string without one.
  private static func owner(of column: String) -> String {
    column.lastIndex(of: ".").map { String(column[..<$0]) } ?? ""
  }
}
