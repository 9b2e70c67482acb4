internal import Foundation

extension PredicateParser {
  /// A constant, a key path, a function, a variable, `{…}` or `(…)`.
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
      let term = try disjunction()
      try expect(.rightParenthesis, "to close the parenthesis")
      return term
    case .symbol(.leftBrace): return .expression(try aggregate())
    case .selector(let name): return .expression(try call(name))
    case .collectionOperator, .escaped:
      return .expression(NSExpression(.keyPath(try keyPath())))
    case .identifier(let word): return try identifier(word)
    case .symbol, .end:
      throw unexpected("a key path, a constant or a function", near: [])
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

  /// `{a, b}`; `{}` too.
  private mutating func aggregate() throws(Failure) -> NSExpression {
    advance()
    let elements = try list(until: .rightBrace)
    return NSExpression(.aggregate(elements))
  }

  /// Values with commas between them, and the sign that closes the list.
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

  /// Whole numbers are exact; a number with more digits than a `Double` holds becomes a decimal.
  mutating func number(_ text: String) throws(Failure) -> NSExpression {
    guard let value = Self.value(ofNumber: text) else {
      throw error("“\(text)” is no number", expected: "digits such as 12, 1.5, 1e3 or 0x1F")
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

  /// What the letter after a leading 0 says.
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
    let place = token
    advance()
    let value: PredicateValue
    do {
      value = try source?.argument(placeholder) ?? .placeholder(placeholder.text)
    } catch {
      throw self.error(error.message, at: place.start, expected: error.expected)
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
