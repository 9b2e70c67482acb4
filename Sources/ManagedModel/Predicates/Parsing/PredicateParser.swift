internal import Foundation

/// A recursive-descent parser of predicate formats.
///
/// One grammar is used for values and conditions, because only the tokens after a parenthesis show
/// which of them it contains: each method returns a `Term`, which the caller converts. The nesting
/// and the depth of the tree are limited.
struct PredicateParser {
  /// A value or a condition.
  enum Term {
    case expression(NSExpression)
    case predicate(NSPredicate)
  }

  /// A boxed syntax error.
  ///
  /// Every frame of the recursion reserves space for the error type. The unboxed error would triple
  /// the stack size of a level.
  final class Failure: Error {
    let error: PredicateSyntaxError

    init(_ error: PredicateSyntaxError) {
      self.error = error
    }
  }

  let format: String
  let tokens: [PredicateToken]
  var index = 0
  /// The number of tree levels that contain the current token.
  var depth = 0
  /// The number of parentheses around the current token, which add no level to the tree.
  var parentheses = 0
  /// The arguments; `nil` to represent placeholders as nodes.
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
    if kind != .end { throw unexpected("an operator, AND, OR, or the end") }
  }

  // MARK: Conditions

  mutating func predicate() throws(Failure) -> NSPredicate {
    try enter()
    defer { depth -= 1 }
    let start = index
    let term = try disjunction()
    return try predicate(term, from: start)
  }

  mutating func expression() throws(Failure) -> NSExpression {
    try enter()
    defer { depth -= 1 }
    let start = index
    let term = try disjunction()
    return try expression(term, from: start)
  }

  /// Parses `a OR b OR c`, or a term of higher precedence.
  mutating func disjunction() throws(Failure) -> Term {
    let start = index
    let first = try conjunction()
    guard isOr else { return first }
    var parts = [try predicate(first, from: start)]
    while isOr {
      advance()
      let start = index
      parts.append(try predicate(try conjunction(), from: start))
    }
    return .predicate(try checked(NSCompoundPredicate(orPredicateWithSubpredicates: parts)))
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
    return .predicate(try checked(NSCompoundPredicate(andPredicateWithSubpredicates: parts)))
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
    return .predicate(try checked(NSCompoundPredicate(notPredicateWithSubpredicate: predicate)))
  }

  // MARK: Kinds of term

  /// Returns a term as a condition.
  ///
  /// A value that can be a Boolean is read as `value == YES`.
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
        "a condition appears where a value is needed", at: tokens[start].start,
        expected: "a key path, a constant, or a function; TERNARY(condition, YES, NO) makes one")
    }
  }

  // MARK: Depth and errors

  mutating func enter() throws(Failure) {
    depth += 1
    if depth > ModelLimits.predicateDepth { throw tooDeep() }
  }

  /// Enters a parenthesis.
  ///
  /// The format of a tree has at most two parentheses for each level, so it can be parsed again.
  mutating func enterParenthesis() throws(Failure) {
    parentheses += 1
    if parentheses > 2 * ModelLimits.predicateDepth { throw tooDeep() }
  }

  /// Checks the depth of a tree that grows in a loop or in parentheses.
  func checked(_ expression: NSExpression) throws(Failure) -> NSExpression {
    if expression.depth > ModelLimits.predicateDepth { throw tooDeep() }
    return expression
  }

  /// Checks the depth of a tree that grows in parentheses.
  private func checked(_ predicate: NSPredicate) throws(Failure) -> NSPredicate {
    if predicate.depth > ModelLimits.predicateDepth { throw tooDeep() }
    return predicate
  }

  private func tooDeep() -> Failure {
    error("the predicate is nested more than \(ModelLimits.predicateDepth) deep")
  }

  func error(
    _ message: String, at offset: Int? = nil, expected: String = "", suggestion: String? = nil
  ) -> Failure {
    Failure(
      PredicateSyntaxError(
        format: format, column: PredicateLexer.column(of: offset ?? token.start, in: format),
        message: message, expected: expected, suggestion: suggestion))
  }

  /// Returns an error for a placeholder.
  func error(_ mismatch: PlaceholderSource.Mismatch, at token: PredicateToken) -> Failure {
    Failure(
      PredicateSyntaxError(
        format: format, column: PredicateLexer.column(of: token.start, in: format),
        message: mismatch.message, expected: mismatch.expected, lacksArgument: mismatch.isMissing))
  }

  /// Returns an error for an unexpected token.
  ///
  /// A word between two values is compared with the operators for a suggestion.
  func unexpected(_ expected: String, near words: [String]? = nil) -> Failure {
    switch kind {
    case .end:
      return error("the predicate is incomplete", expected: expected)
    case .identifier(let word):
      let near = NearestName.of(word, among: words ?? PredicateKeyword.operatorWords)
      return error(
        "“\(word)” can't appear here", expected: expected, suggestion: near)
    default:
      return error("“\(tokenText)” can't appear here", expected: expected)
    }
  }

  private var tokenText: String {
    let utf8 = format.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: token.start)
    return String(format[start..<utf8.index(utf8.startIndex, offsetBy: token.end)])
  }
}

/// A syntax error of a predicate format, with its position.
package struct PredicateSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  package let format: String
  /// The column, in characters, starting at 1.
  ///
  /// It's one past the last character if the format ends too early.
  package let column: Int
  /// The message without the column: `the string isn't terminated`.
  package let message: String
  /// The expected tokens; empty if the message is sufficient.
  package let expected: String
  /// The most similar known word.
  package let suggestion: String?
  /// Whether a placeholder has no argument.
  package let lacksArgument: Bool

  package init(
    format: String, column: Int, message: String, expected: String = "",
    suggestion: String? = nil, lacksArgument: Bool = false
  ) {
    self.format = format
    self.column = column
    self.message = message
    self.expected = expected
    self.suggestion = suggestion
    self.lacksArgument = lacksArgument
  }

  /// Returns two lines: the format, truncated around the column if it's long, and a `^` below it.
  package func caret() -> String {
    let characters = Array(format).map { $0.isNewline || $0 == "\t" ? " " : $0 }
    let start = max(0, column - 1 - 60)
    let end = min(characters.count, max(start, column - 1) + 40)
    let head = start > 0 ? "…" : ""
    let tail = end < characters.count ? "…" : ""
    let line = head + String(characters[min(start, end)..<end]) + tail
    return line + "\n" + String(repeating: " ", count: column - 1 - start + head.count) + "^"
  }

  /// The position, message, expected tokens, suggestion, and caret on several lines.
  package var description: String {
    var text = "predicate, column \(column): \(message)"
    if !expected.isEmpty { text += "; expected \(expected)" }
    if let suggestion { text += ". Did you mean \(suggestion)?" }
    return text + "\n" + caret()
  }
}
