/// The words of the predicate language.
///
/// All of them may be written in any case.
enum PredicateKeyword: String, CaseIterable {
  case and, or, not
  case any, some, all, none
  case `in`, between, contains, like, matches
  case beginsWith = "beginswith"
  case endsWith = "endswith"
  case utiConformsTo = "uti-conforms-to"
  case utiEquals = "uti-equals"
  case `self`, `nil`, null, yes, no, `true`, `false`
  case truePredicate = "truepredicate"
  case falsePredicate = "falsepredicate"
  case anyKey = "anykey"
  case subquery, function, cast, ternary, fetch
  case first, last, size
  case union, intersect, minus

  /// A word of up to 15 bytes in two numbers, its letters made small.
  private struct Packed: Equatable {
    var head: UInt64 = 0
    var tail: UInt64 = 0

    init?(_ word: String) {
      guard word.utf8.count <= 15 else { return nil }
      // The bit that tells small letters apart changes no other byte of an identifier into a letter.
      for byte in word.utf8 {
        head = head << 8 | tail >> 56
        tail = tail << 8 | UInt64(byte | 0x20)
      }
    }
  }

  private static let packed = allCases.compactMap { keyword in
    Packed(keyword.rawValue).map { (word: $0, keyword: keyword) }
  }

  /// The keyword that an identifier is, in any case.
  static func of(_ identifier: String) -> PredicateKeyword? {
    guard let word = Packed(identifier) else { return nil }
    return packed.first { $0.word == word }?.keyword
  }

  /// Whether a key of this name needs a `#` before it.
  ///
  /// The words of brackets, set operators and functions are keywords at their own places only.
  var isReserved: Bool {
    switch self {
    case .first, .last, .size, .union, .intersect, .minus, .function, .ternary, .subquery, .cast,
      .fetch:
      false
    default: true
    }
  }

  /// The operator of a comparison.
  var comparison: NSComparisonPredicate.Operator? {
    switch self {
    case .in: .in
    case .between: .between
    case .contains: .contains
    case .like: .like
    case .matches: .matches
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    default: nil
    }
  }

  /// The operator between two collections.
  var setOperation: NSExpression.SetOperation? {
    switch self {
    case .union: .union
    case .intersect: .intersect
    case .minus: .minus
    default: nil
    }
  }

  /// The words that may stand between two values.
  static let operatorWords = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "LIKE", "MATCHES", "BEGINSWITH", "ENDSWITH",
    "UNION", "INTERSECT", "MINUS",
  ]
}
