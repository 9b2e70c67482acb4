/// A predicate as SQL, or an answer that needs none.
enum SQLCondition: Sendable {
  case constant(Bool)
  case sql(SQLFragment)

  /// The condition as text.
  ///
  /// A constant is a comparison of two numbers.
  var fragment: SQLFragment {
    switch self {
    case .constant(let value): SQLFragment(sql: value ? "1 = 1" : "0 = 1")
    case .sql(let fragment): fragment
    }
  }

  /// True when all are.
  ///
  /// None are true.
  static func all(_ conditions: [SQLCondition]) -> SQLCondition {
    join(conditions, by: " AND ", neutral: true)
  }

  /// True when one is.
  ///
  /// None are false.
  static func any(_ conditions: [SQLCondition]) -> SQLCondition {
    join(conditions, by: " OR ", neutral: false)
  }

  static func not(_ condition: SQLCondition) -> SQLCondition {
    switch condition {
    case .constant(let value): .constant(!value)
    case .sql(let fragment): .sql("NOT \(fragment.inParentheses)")
    }
  }

  private static func join(
    _ conditions: [SQLCondition], by word: String, neutral: Bool
  ) -> SQLCondition {
    var fragments: [SQLFragment] = []
    for condition in conditions {
      switch condition {
      case .constant(neutral): continue
      case .constant: return .constant(!neutral)
      case .sql(let fragment): fragments.append(fragment)
      }
    }
    guard let first = fragments.first else { return .constant(neutral) }
    if !neutral, let list = membership(fragments) { return .sql(list) }
    return fragments.count == 1 ? .sql(first) : .sql(joined(fragments[...], by: word))
  }

  /// Terms beyond this many are put into parentheses group by group.
  ///
  /// SQLite's tree is as deep as such a chain is long, and it takes no more than 1,000.
  private static let longestChain = 100

  /// Terms of an OR beyond this many are written as a list where that means the same.
  ///
  /// Preparing a chain takes SQLite time that grows with the square of its terms; a list is linear.
  private static let longestDisjunction = 2_000

  /// Comparisons of one expression with a value each, `a = ? OR a = ?`, as `a IN (?, ?)`.
  ///
  /// Nil for a short chain, and for other terms.
  private static func membership(_ terms: [SQLFragment]) -> SQLFragment? {
    let comparison = " = ?"
    guard terms.count > longestDisjunction, let first = terms.first, first.binds.count == 1,
      first.sql.hasSuffix(comparison),
      terms.allSatisfy({ $0.sql == first.sql && $0.binds.count == 1 })
    else { return nil }
    let marks = Array(repeating: "?", count: terms.count).joined(separator: ", ")
    return SQLFragment(
      sql: "\(first.sql.dropLast(comparison.count)) IN (\(marks))",
      binds: terms.flatMap(\.binds))
  }

  private static func joined(
    _ fragments: ArraySlice<SQLFragment>, by word: String
  ) -> SQLFragment {
    guard fragments.count > longestChain else {
      return "(\(.joined(Array(fragments), by: word)))"
    }
    let size = (fragments.count + longestChain - 1) / longestChain
    let groups = stride(from: fragments.startIndex, to: fragments.endIndex, by: size).map {
      joined(fragments[$0..<min($0 + size, fragments.endIndex)], by: word)
    }
    return joined(groups[...], by: word)
  }
}

extension SQLFragment {
  /// The fragment in one pair of parentheses.
  var inParentheses: SQLFragment {
    isOneParenthesis ? self : "(\(self))"
  }

  /// Whether the text begins with a parenthesis which ends with it.
  private var isOneParenthesis: Bool {
    guard sql.first == "(", sql.last == ")" else { return false }
    var depth = 0
    var isInName = false
    for (index, byte) in sql.utf8.enumerated() {
      if byte == UInt8(ascii: "\"") { isInName.toggle() }
      if isInName { continue }
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      if depth == 0, index < sql.utf8.count - 1 { return false }
    }
    return true
  }
}
