extension PredicateParser {
  /// An infix operator between two values.
  private enum InfixOperator {
    case function(PredicateFunction, precedence: Int)
    case set(NSExpression.SetOperation)

    var precedence: Int {
      switch self {
      case .function(_, let precedence): precedence
      case .set: 1
      }
    }
  }

  /// Values joined by operators that bind at least as close as `minimum`, by precedence climbing.
  mutating func binary(_ minimum: Int) throws(Failure) -> Term {
    let start = index
    let first = try unary()
    guard let next = infixOperator, next.precedence >= minimum else { return first }
    var left = try expression(first, from: start)
    while let infix = infixOperator, infix.precedence >= minimum {
      advance()
      try enter()
      defer { depth -= 1 }
      let start = index
      // Powers group to the right, all others to the left.
      let isPower = infix.precedence == PredicateFunction.powerPrecedence
      let term = try binary(isPower ? infix.precedence : infix.precedence + 1)
      let right = try expression(term, from: start)
      switch infix {
      case .function(let function, _):
        left = try checked(NSExpression(.function(function, [left, right])))
      case .set(let operation):
        left = try checked(NSExpression(.setOperation(operation, left, right)))
      }
    }
    return .expression(left)
  }

  private var infixOperator: InfixOperator? {
    if let function = symbol?.function {
      return function.precedence.map { .function(function, precedence: $0) }
    }
    return keyword?.setOperation.map(InfixOperator.set)
  }

  /// `-x`, `~x`, or what binds closer.
  ///
  /// A minus before a number is part of it.
  private mutating func unary() throws(Failure) -> Term {
    guard symbol == .minus || symbol == .complement else { return try postfix() }
    let isMinus = symbol == .minus
    advance()
    if isMinus, case .number(let text) = kind {
      return .expression(try postfix(try number("-" + text)))
    }
    try enter()
    defer { depth -= 1 }
    let start = index
    let operand = try expression(try unary(), from: start)
    let node: NSExpression.Node =
      isMinus
      ? .function(.subtract, [NSExpression(forConstantValue: 0), operand])
      : .function(.onesComplement, [operand])
    return .expression(NSExpression(node))
  }

  /// A value with the paths and subscripts behind it.
  private mutating func postfix() throws(Failure) -> Term {
    let primary = try primary()
    guard case .expression(let expression) = primary else { return primary }
    return .expression(try postfix(expression))
  }

  private mutating func postfix(
    _ expression: NSExpression
  ) throws(Failure) -> NSExpression {
    var expression = expression
    while true {
      if take(.dot) {
        expression = try checked(try path(from: expression))
      } else if take(.leftBracket) {
        expression = try checked(NSExpression(.subscripted(expression, try subscriptIndex())))
        try expect(.rightBracket, "after the index")
      } else {
        return expression
      }
    }
  }

  /// `.name`, `.@count`, `.$variable` behind any value.
  private mutating func path(
    from operand: NSExpression
  ) throws(Failure) -> NSExpression {
    if case .variable(let name) = kind {
      advance()
      return NSExpression(.path(operand, NSExpression(forVariable: name)))
    }
    let path = try keyPath()
    switch operand.node {
    case .evaluatedObject: return NSExpression(.keyPath(path))
    case .keyPath(let first):
      return NSExpression(
        .keyPath(PredicateKeyPath(components: first.components + path.components)))
    default: return NSExpression(.path(operand, NSExpression(.keyPath(path))))
    }
  }

  /// Components joined by dots, from the token at hand on.
  ///
  /// Stops before a variable.
  mutating func keyPath() throws(Failure) -> PredicateKeyPath {
    var components = try component()
    while symbol == .dot {
      if case .variable = tokens[index + 1].kind { break }
      advance()
      components += try component()
    }
    return PredicateKeyPath(components: components)
  }

  private mutating func component() throws(Failure) -> [PredicateKeyPath.Component] {
    let place = token
    switch kind {
    case .identifier(let key), .escaped(let key):
      advance()
      return [.key(key)]
    case .collectionOperator(let name):
      guard let found = CollectionOperator(rawValue: name) else {
        let names = CollectionOperator.allCases.map(\.rawValue)
        throw error(
          "\(name) is no collection operator", expected: names.joined(separator: " "),
          suggestion: NearestName.of(name, among: names))
      }
      advance()
      return [.operator(found)]
    case .placeholder(let placeholder) where placeholder.kind == .key:
      advance()
      guard source != nil else { return [.placeholder] }
      return PredicateKeyPath(try argument(placeholder, at: place)).components
    default:
      throw unexpected("a key, a collection operator or %K")
    }
  }

  private mutating func subscriptIndex() throws(Failure) -> NSExpression.Index {
    if tokens[min(index + 1, tokens.count - 1)].symbol == .rightBracket {
      switch keyword {
      case .first:
        advance()
        return .first
      case .last:
        advance()
        return .last
      case .size:
        advance()
        return .size
      default: break
      }
    }
    return .expression(try expression())
  }

  /// The argument of a `%K`.
  private mutating func argument(
    _ placeholder: PredicateToken.Placeholder, at place: PredicateToken
  ) throws(Failure) -> String {
    do {
      return try source?.keyPath(placeholder.text) ?? placeholder.text
    } catch {
      throw self.error(error.message, at: place.start, expected: error.expected)
    }
  }
}

extension PredicateFunction {
  static let powerPrecedence = 8

  /// How close an infix operator binds; nil for functions that are not written so.
  var precedence: Int? {
    switch self {
    case .bitwiseOr: 2
    case .bitwiseXor: 3
    case .bitwiseAnd: 4
    case .leftShift, .rightShift: 5
    case .add, .subtract: 6
    case .multiply, .divide, .modulus: 7
    case .power: Self.powerPrecedence
    default: nil
    }
  }
}

extension PredicateToken.Symbol {
  fileprivate var function: PredicateFunction? {
    switch self {
    case .plus: .add
    case .minus: .subtract
    case .times: .multiply
    case .divide: .divide
    case .power: .power
    case .bitAnd: .bitwiseAnd
    case .bitOr: .bitwiseOr
    case .bitXor: .bitwiseXor
    case .shiftLeft: .leftShift
    case .shiftRight: .rightShift
    case .remainder: .modulus
    default: nil
    }
  }
}
