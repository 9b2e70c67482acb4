/// Whether an index on the compared columns could find the rows of a statement's condition.
///
/// SQLite searches an index for a column that's compared by itself with something that doesn't
/// depend on the same row; not for one in a function's argument or in a calculation, and not with
/// `<>` or `NOT`. With `IS NOT NULL`, a partial index can help. Each side of an `OR` must be
/// searched.
enum ConditionOutlook: Equatable {
  /// An index could help.
  case indexable
  /// The condition calls a function, and nothing else of it can be searched.
  case onlyFunctions
  /// Nothing of the condition can be searched.
  case unsearchable

  /// - Parameter outline: A statement; without a condition, an index could help.
  init(_ outline: SQLOutline) {
    let condition = outline.condition ?? []
    guard condition.count <= SQLOutline.maximumConditionWords else {
      self = .indexable
      return
    }
    let columns = condition.filter(ConditionOutlook.isColumn)
    // The entity's rows have an index of their own.
    let isOfEntity = columns.allSatisfy(ConditionOutlook.isEntity)
    if isOfEntity || ConditionOutlook.isIndexable(condition) {
      self = .indexable
    } else {
      let calls = condition.indices.contains { ConditionOutlook.isCall(condition[$0...]) }
      self = calls ? .onlyFunctions : .unsearchable
    }
  }

  private static func isIndexable(_ words: ArraySlice<String>) -> Bool {
    var words = words
    while words.first == "(", SQLOutline.end(of: words) == words.indices.last {
      words = words.dropFirst().dropLast()
    }
    let alternatives = SQLOutline.parts(of: words, at: "OR")
    guard alternatives.count == 1 else { return alternatives.allSatisfy(isIndexable) }
    let conditions = SQLOutline.parts(of: words, at: "AND")
    return conditions.count == 1 ? isComparison(words) : conditions.contains(where: isIndexable)
  }

  /// Returns whether a condition without `AND` and `OR` compares a column by itself, or contains a
  /// subquery, which can have its own search.
  private static func isComparison(_ words: ArraySlice<String>) -> Bool {
    if words.contains(where: { $0.uppercased() == "SELECT" }) { return true }
    guard words.first?.uppercased() != "NOT" else { return false }
    let owners = words.filter(isColumn).map(owner)
    var rest = words
    var previous = ""
    while let word = rest.first {
      if isCall(rest), let end = SQLOutline.end(of: rest.dropFirst()) {
        rest = rest[(end + 1)...]
      } else if word.uppercased() == "CASE" {
        rest = rest.drop { $0.uppercased() != "END" }.dropFirst()
      } else {
        rest = rest.dropFirst()
        let isEnclosed = previous == "(" && rest.first == ")"
        let next = (isEnclosed ? rest.dropFirst() : rest).first?.uppercased() ?? ""
        let isAlone = operators.contains(next) || next.isEmpty && operators.contains(previous)
        let isOnly = owners.count { $0 == owner(of: word) } == 1
        if isColumn(word), !isEntity(word), isAlone, isOnly { return true }
      }
      previous = word.uppercased()
    }
    return false
  }

  private static let operators: Set<String> = [
    "=", "==", "<", ">", "<=", ">=", "IN", "BETWEEN", "IS", "LIKE", "GLOB",
  ]

  /// Returns whether words begin with a function and its arguments.
  private static func isCall(_ words: ArraySlice<String>) -> Bool {
    guard let name = words.first, words.dropFirst().first == "(" else { return false }
    return name.first?.isLetter == true && !keywords.contains(name.uppercased())
  }

  /// The keywords of a condition.
  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN", "LIKE", "GLOB", "EXISTS", "SELECT", "FROM",
    "WHERE", "VALUES", "ON", "ESCAPE", "COLLATE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS",
  ]

  private static func isColumn(_ word: String) -> Bool {
    let name = word.split(separator: ".").last ?? ""
    return name.first.map { $0 == "Z" || $0 == "z" } ?? false
  }

  /// Returns the table of a column: `t0` of `t0.ZDATE`; an empty string without one.
  private static func owner(of column: String) -> Substring {
    column.lastIndex(of: ".").map { column[..<$0] } ?? ""
  }

  private static func isEntity(_ word: String) -> Bool {
    word.split(separator: ".").last?.uppercased() == "Z_ENT"
  }
}
