internal import Foundation

extension PredicateParser {
  /// Parses a constant, a key path, a function, a variable, `{…}`, or `(…)`.
  mutating func primary() throws(Failure) -> Term {
    switch kind {
    case .number(let text): return .expression(try number(text))
    case .string(let text):
      advance()
      return .expression(NSExpression(.constant(.string(text))))
    case .placeholder(let placeholder): return try placeholderTerm(placeholder)
    case .variable(let name):
      advance()
      guard take(.assign) else { return .expression(NSExpression(forVariable: name)) }
      try enter()
      defer { depth -= 1 }
      let start = index
      let value = try expression(try binary(1), from: start)
      return .expression(NSExpression(.assignment(name, value)))
    case .symbol(.leftParenthesis):
      advance()
      try enterParenthesis()
      defer { parentheses -= 1 }
      let term = try disjunction()
      try expect(.rightParenthesis, "to close the parenthesis")
      return term
    case .symbol(.leftBrace): return .expression(try aggregate())
    case .selector(let name): return .expression(try call(name))
    case .collectionOperator, .escaped:
      return .expression(NSExpression(.keyPath(try keyPath())))
    case .identifier(let word): return try identifier(word)
    case .symbol, .end:
      throw unexpected("a key path, a constant, or a function", near: [])
    }
  }

  private mutating func identifier(_ word: String) throws(Failure) -> Term {
    let isCall = tokens[index + 1].symbol == .leftParenthesis
    switch keyword {
    case .self:
      advance()
      return .expression(NSExpression(.evaluatedObject))
    case .nil, .null: return .expression(constant(.null))
    case .yes, .true: return .expression(constant(.bool(true)))
    case .no, .false: return .expression(constant(.bool(false)))
    case .truePredicate:
      advance()
      return .predicate(NSPredicate(value: true))
    case .falsePredicate:
      advance()
      return .predicate(NSPredicate(value: false))
    case .anyKey:
      advance()
      return .expression(NSExpression(.anyKey))
    case .subquery where isCall: return .expression(try subquery())
    case .function where isCall: return .expression(try method())
    case .cast where isCall: return .expression(try cast())
    case .ternary where isCall: return .expression(try ternary())
    case .fetch where isCall: return .expression(try fetch())
    case let keyword? where keyword.isReserved:
      throw error(
        "“\(word)” is a reserved word", expected: "a value; a key of this name is written #\(word)")
    default:
      if isCall { return .expression(try call(word)) }
      return .expression(NSExpression(.keyPath(try keyPath())))
    }
  }

  private mutating func constant(_ value: PredicateValue) -> NSExpression {
    advance()
    return NSExpression(.constant(value))
  }

  /// Parses `{a, b}` or `{}`.
  private mutating func aggregate() throws(Failure) -> NSExpression {
    advance()
    let elements = try list(until: .rightBrace)
    return NSExpression(.aggregate(elements))
  }

  /// Parses values that are separated by commas, and the symbol that closes the list.
  mutating func list(
    until end: PredicateToken.Symbol
  ) throws(Failure) -> [NSExpression] {
    if take(end) { return [] }
    var elements = [try expression()]
    while take(.comma) {
      elements.append(try expression())
    }
    if !take(end) { throw unexpected("“,” or “\(end.rawValue)”") }
    return elements
  }

  // MARK: Numbers

  /// Parses a number.
  ///
  /// Integers are exact; a number with more digits than a `Double` becomes a decimal.
  mutating func number(_ text: String) throws(Failure) -> NSExpression {
    guard let value = Self.value(ofNumber: text) else {
      throw error("“\(text)” isn't a number", expected: "digits such as 12, 1.5, 1e3, or 0x1F")
    }
    return constant(value)
  }

  private static func value(ofNumber text: String) -> PredicateValue? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative ? text.dropFirst() : Substring(text)
    if digits.utf8.first == UInt8(ascii: "0"), let radix = radix(digits.utf8.dropFirst().first) {
      let number = (isNegative ? "-" : "") + digits.dropFirst(2)
      return Int64(number, radix: radix).map(PredicateValue.integer)
    }
    if let integer = Int64(text) { return .integer(integer) }
    guard let double = Double(text), double.isFinite else { return nil }
    if digits.utf8.count > 15, digits.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
      let decimal = Decimal(string: text), Decimal(string: "\(double)") != decimal
    {
      return .decimal(decimal)
    }
    return .double(double)
  }

  /// Returns the radix for the letter after a leading 0.
  private static func radix(_ letter: UInt8?) -> Int? {
    switch letter.map({ $0 | 0x20 }) {
    case UInt8(ascii: "x"): 16
    case UInt8(ascii: "b"): 2
    case UInt8(ascii: "o"): 8
    default: nil
    }
  }

  // MARK: Placeholders

  private mutating func placeholderTerm(
    _ placeholder: PredicateToken.Placeholder
  ) throws(Failure) -> Term {
    if placeholder.kind == .key {
      let path = try keyPath()
      return .expression(NSExpression(path.isSelf ? .evaluatedObject : .keyPath(path)))
    }
    let first = token
    advance()
    let value: PredicateValue
    do {
      value = try source?.argument(placeholder) ?? .placeholder(placeholder.text)
    } catch {
      throw self.error(error, at: first)
    }
    guard case .object(let object) = value else {
      let isNull = source?.tookNull == true
      return .expression(NSExpression(.constant(value), origin: isNull ? .null : .node))
    }
    switch object.base {
    case let predicate as NSPredicate: return .predicate(predicate)
    case let expression as NSExpression: return .expression(expression)
    default: return .expression(NSExpression(.constant(value)))
    }
  }
}

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

  /// Parses values joined by operators whose precedence is at least `minimum`, by precedence
  /// climbing.
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
      // Powers are right-associative, all others left-associative.
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

  /// Parses `-x`, `~x`, or a term of higher precedence.
  ///
  /// A minus sign before a number is part of it.
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
    return .expression(try checked(NSExpression(node)))
  }

  /// Parses a value with the paths and subscripts that follow it.
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

  /// Parses `.name`, `.@count`, or `.$variable` after a value.
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

  /// Parses components joined by dots, starting at the current token.
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
    let first = token
    switch kind {
    case .identifier(let key), .escaped(let key):
      advance()
      return [.key(key)]
    case .collectionOperator(let name):
      guard let found = CollectionOperator(rawValue: name) else {
        let names = CollectionOperator.allCases.map(\.rawValue)
        throw error(
          "\(name) isn't a collection operator", expected: names.joined(separator: " "),
          suggestion: NearestName.of(name, among: names))
      }
      advance()
      return [.operator(found)]
    case .placeholder(let placeholder) where placeholder.kind == .key:
      advance()
      guard source != nil else { return [.placeholder] }
      return PredicateKeyPath(try argument(placeholder, at: first)).components
    default:
      throw unexpected("a key, a collection operator, or %K")
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

  /// Returns the argument of a `%K`.
  private mutating func argument(
    _ placeholder: PredicateToken.Placeholder, at first: PredicateToken
  ) throws(Failure) -> String {
    do {
      return try source?.keyPath(placeholder.text) ?? placeholder.text
    } catch {
      throw self.error(error, at: first)
    }
  }
}

extension PredicateFunction {
  static let powerPrecedence = 8

  /// The precedence of an infix operator; `nil` for functions that aren't written as one.
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
