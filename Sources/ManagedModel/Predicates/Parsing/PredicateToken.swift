/// A piece of a predicate format and its place in the format's bytes.
struct PredicateToken {
  enum Kind: Equatable {
    case identifier(String)
    /// An identifier after `#`, which is never a keyword.
    case escaped(String)
    /// `@count`
    case collectionOperator(String)
    /// `$name`, without the sign.
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

    /// The signs as numbers: a first byte, and a second one times 256.
    private static let signs = allCases.map { symbol in
      (bytes: symbol.rawValue.utf8.reversed().reduce(0) { $0 << 8 | UInt16($1) }, symbol: symbol)
    }

    /// The symbol of one byte, or of two.
    init?(_ first: UInt8, _ second: UInt8 = 0) {
      let bytes = UInt16(second) << 8 | UInt16(first)
      guard let found = Self.signs.first(where: { $0.bytes == bytes }) else { return nil }
      self = found.symbol
    }
  }

  /// A placeholder such as `%@`, `%K` or `%ld`.
  struct Placeholder: Equatable {
    enum Kind {
      case object, key, integer, unsigned, floating, character
    }

    let text: String
    let kind: Kind
  }

  let kind: Kind
  /// The word of the language that an identifier is.
  let keyword: PredicateKeyword?
  /// The symbol that it is.
  let symbol: Symbol?
  /// Byte offsets.
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
