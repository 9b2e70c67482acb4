/// A token of a predicate format, and its range in the format's bytes.
struct PredicateToken {
  enum Kind: Equatable {
    case identifier(String)
    /// An identifier after `#`, which isn't a keyword.
    case escaped(String)
    /// `@count`
    case collectionOperator(String)
    /// `$name`, without the `$`.
    case variable(String)
    /// `name:`, `multiply:by:`
    case selector(String)
    case number(String)
    case string(String)
    case placeholder(Placeholder)
    case symbol(Symbol)
    case end
  }

  enum Symbol: String, CaseIterable {
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBracket = "["
    case rightBracket = "]"
    case leftBrace = "{"
    case rightBrace = "}"
    case comma = ","
    case dot = "."
    case equal = "=="
    case singleEqual = "="
    case notEqual = "!="
    case lessGreater = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case equalLess = "=<"
    case greater = ">"
    case greaterOrEqual = ">="
    case equalGreater = "=>"
    case and = "&&"
    case or = "||"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case power = "**"
    case divide = "/"
    case bitAnd = "&"
    case bitOr = "|"
    case bitXor = "^"
    case complement = "~"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case remainder = "%%"
    case assign = ":="

    /// The symbols as integers: the first byte, plus 256 times the second.
    private static let signs = allCases.map { symbol in
      (bytes: symbol.rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt16($1) }, symbol: symbol)
    }

    /// Creates the symbol that consists of one or two bytes.
    init?(_ first: UInt8, _ second: UInt8 = 0) {
      let bytes = UInt16(second) << 8 | UInt16(first)
      guard let found = Self.signs.first(where: { $0.bytes == bytes }) else { return nil }
      self = found.symbol
    }
  }

  /// A placeholder such as `%@`, `%K`, or `%ld`.
  struct Placeholder: Equatable {
    enum Kind {
      case object, key, integer, unsigned, floating, character
    }

    let text: String
    let kind: Kind
  }

  let kind: Kind
  /// The keyword of an identifier.
  let keyword: PredicateKeyword?
  /// The symbol of a symbol token.
  let symbol: Symbol?
  /// The byte offset of the start; `end` is that of the end.
  let start: Int
  let end: Int

  init(kind: Kind, start: Int, end: Int) {
    self.kind = kind
    self.start = start
    self.end = end
    if case .identifier(let word) = kind {
      keyword = PredicateKeyword.of(word)
    } else {
      keyword = nil
    }
    if case .symbol(let sign) = kind {
      symbol = sign
    } else {
      symbol = nil
    }
  }
}

/// The keywords of the predicate format language, which are case insensitive.
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

  /// A word of up to 15 bytes, lowercased and packed into two integers.
  private struct Packed: Equatable {
    var head: UInt64 = 0
    var tail: UInt64 = 0

    init?(_ word: String) {
      guard word.utf8.count <= 15 else { return nil }
      // Setting the lowercase bit doesn't turn any other byte of an identifier into a letter.
      for byte in word.utf8 {
        head = head << 8 | tail >> 56
        tail = tail << 8 | UInt64(byte | 0x20)
      }
    }
  }

  private static let packed = allCases.compactMap { keyword in
    Packed(keyword.rawValue).map { (word: $0, keyword: keyword) }
  }

  /// Returns the keyword that an identifier is, ignoring case.
  static func of(_ identifier: String) -> PredicateKeyword? {
    guard let word = Packed(identifier) else { return nil }
    return packed.first { $0.word == word }?.keyword
  }

  /// Whether a key of this name needs a preceding `#`.
  ///
  /// The words of subscripts, set operators, and functions are keywords only in their positions.
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

  /// The words that are operators between two values.
  static let operatorWords = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "LIKE", "MATCHES", "BEGINSWITH", "ENDSWITH",
    "UNION", "INTERSECT", "MINUS",
  ]
}
