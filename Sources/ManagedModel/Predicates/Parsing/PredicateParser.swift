/// Makes a tree of a predicate format, by recursive descent.
///
/// One grammar serves values and conditions, since only what follows a parenthesis tells which of
/// them it holds: each method returns a `Term`, and the place that needs one kind asks for it.
/// Nesting is bounded, and so is the height of the tree.
struct PredicateParser {
  /// A value or a condition.
  enum Term {
    case expression(NSExpression)
    case predicate(NSPredicate)
  }

  /// The error in a box.
  ///
  /// Every frame of the recursion has room for what it may throw, so that the error itself would
  /// triple the stack that a level needs.
  final class Failure: Error {
    let error: PredicateSyntaxError

    init(_ error: PredicateSyntaxError) {
      self.error = error
    }
  }

  /// How deep parentheses, functions and operators may be nested, and how high a tree may grow.
  static let maximumDepth = 200

  let format: String
  let tokens: [PredicateToken]
  var index = 0
  var depth = 0
  /// Nil keeps placeholders as nodes.
  var source: PlaceholderSource?

  static func predicate(
    _ format: String, source: PlaceholderSource?
  ) throws(PredicateSyntaxError) -> NSPredicate {
    var parser = try PredicateParser(format, source: source)
    do throws(Failure) {
      if parser.kind == .end { throw parser.error("the predicate is empty") }
      let predicate = try parser.predicate()
      try parser.expectEnd()
      return predicate
    } catch {
      throw error.error
    }
  }

  static func expression(
    _ format: String, source: PlaceholderSource?
  ) throws(PredicateSyntaxError) -> NSExpression {
    var parser = try PredicateParser(format, source: source)
    do throws(Failure) {
      let expression = try parser.expression()
      try parser.expectEnd()
      return expression
    } catch {
      throw error.error
    }
  }

  private init(_ format: String, source: PlaceholderSource?) throws(PredicateSyntaxError) {
    self.format = format
    self.source = source
    tokens = try PredicateLexer.tokens(of: format)
  }

  // MARK: Tokens

  var token: PredicateToken { tokens[index] }
  var kind: PredicateToken.Kind { tokens[index].kind }

  var keyword: PredicateKeyword? { tokens[index].keyword }
  var symbol: PredicateToken.Symbol? { tokens[index].symbol }

  mutating func advance() {
    if index < tokens.count - 1 { index += 1 }
  }

  mutating func take(_ symbol: PredicateToken.Symbol) -> Bool {
    guard self.symbol == symbol else { return false }
    advance()
    return true
  }

  mutating func expect(
    _ symbol: PredicateToken.Symbol, _ purpose: String
  ) throws(Failure) {
    if !take(symbol) { throw unexpected("“\(symbol.rawValue)” \(purpose)") }
  }

  private func expectEnd() throws(Failure) {
    if kind != .end { throw unexpected("an operator, AND, OR or the end") }
  }

  // MARK: Conditions

  mutating func predicate() throws(Failure) -> NSPredicate {
    let start = index
    let term = try disjunction()
    return try predicate(term, from: start)
  }

  mutating func expression() throws(Failure) -> NSExpression {
    let start = index
    let term = try disjunction()
    return try expression(term, from: start)
  }

  /// `a OR b OR c`, or what binds closer.
  mutating func disjunction() throws(Failure) -> Term {
    try enter()
    defer { depth -= 1 }
    let start = index
    let first = try conjunction()
    guard isOr else { return first }
    var parts = [try predicate(first, from: start)]
    while isOr {
      advance()
      let start = index
      parts.append(try predicate(try conjunction(), from: start))
    }
    return .predicate(NSCompoundPredicate(orPredicateWithSubpredicates: parts))
  }

  private var isOr: Bool {
    symbol == .or || keyword == .or
  }

  private mutating func conjunction() throws(Failure) -> Term {
    let start = index
    let first = try negation()
    guard isAnd else { return first }
    var parts = [try predicate(first, from: start)]
    while isAnd {
      advance()
      let start = index
      parts.append(try predicate(try negation(), from: start))
    }
    return .predicate(NSCompoundPredicate(andPredicateWithSubpredicates: parts))
  }

  private var isAnd: Bool {
    symbol == .and || keyword == .and
  }

  private mutating func negation() throws(Failure) -> Term {
    guard symbol == .not || keyword == .not else { return try comparison() }
    advance()
    try enter()
    defer { depth -= 1 }
    let start = index
    let term = try negation()
    let predicate = try predicate(term, from: start)
    return .predicate(NSCompoundPredicate(notPredicateWithSubpredicate: predicate))
  }

  // MARK: Kinds of term

  /// A condition.
  ///
  /// A value that may be a Boolean stands for `value == YES`.
  func predicate(_ term: Term, from start: Int) throws(Failure) -> NSPredicate {
    switch term {
    case .predicate(let predicate): return predicate
    case .expression(let expression):
      switch expression.node {
      case .keyPath, .path, .variable, .subscripted, .conditional, .evaluatedObject:
        return NSComparisonPredicate(
          leftExpression: expression, rightExpression: NSExpression(forConstantValue: true),
          modifier: .direct, type: .equalTo)
      case .function, .method, .constant, .aggregate, .setOperation, .subquery, .anyKey, .block,
        .assignment, .fetch:
        throw unexpected("an operator such as == or BEGINSWITH")
      }
    }
  }

  func expression(_ term: Term, from start: Int) throws(Failure) -> NSExpression {
    switch term {
    case .expression(let expression): return expression
    case .predicate:
      throw error(
        "a condition stands where a value is needed", at: tokens[start].start,
        expected: "a key path, a constant or a function; TERNARY(condition, YES, NO) makes one")
    }
  }

  // MARK: Depth and errors

  mutating func enter() throws(Failure) {
    depth += 1
    if depth > Self.maximumDepth { throw tooDeep() }
  }

  /// Checks the height of a tree that grows in a loop, without recursion of the parser.
  func checked(_ expression: NSExpression) throws(Failure) -> NSExpression {
    if expression.depth > Self.maximumDepth { throw tooDeep() }
    return expression
  }

  private func tooDeep() -> Failure {
    error("the predicate is nested more than \(Self.maximumDepth) deep")
  }

  func error(
    _ message: String, at offset: Int? = nil, expected: String = "", suggestion: String? = nil
  ) -> Failure {
    Failure(
      PredicateSyntaxError(
        format: format, column: PredicateLexer.column(of: offset ?? token.start, in: format),
        message: message, expected: expected, suggestion: suggestion))
  }

  /// The token at hand does not fit.
  ///
  /// Between two values a word is compared with the operators.
  func unexpected(_ expected: String, near words: [String]? = nil) -> Failure {
    switch kind {
    case .end:
      return error("the predicate ends too early", expected: expected)
    case .identifier(let word):
      let near = NearestName.of(word, among: words ?? PredicateKeyword.operatorWords)
      return error(
        "“\(word)” cannot stand here", expected: expected, suggestion: near)
    default:
      return error("“\(tokenText)” cannot stand here", expected: expected)
    }
  }

  private var tokenText: String {
    let utf8 = format.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: token.start)
    return String(format[start..<utf8.index(utf8.startIndex, offsetBy: token.end)])
  }
}
