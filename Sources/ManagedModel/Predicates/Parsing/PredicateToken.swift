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
  }
}
