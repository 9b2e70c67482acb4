import ManagedModel
package import WorkbenchText

/// An arithmetic expression for a count, such as `1 + Mood + Country` or `2 + ceil(Mood / 20)`.
///
/// An expression consists of integers, entity names (the entity's row count), `scale`, the
/// operators `+ - * /`, `ceil()`, and parentheses. Two expressions are equal if they have the same
/// syntax tree, regardless of spaces and source range.
package struct CountExpression: Sendable, Hashable {
  /// An entity name in an expression.
  package struct Name: Sendable, Hashable {
    package let text: String
    package let range: SourceRange
  }

  indirect enum Node: Sendable, Hashable {
    case number(Int)
    case name(String)
    case negated(Node)
    case ceiling(Node)
    case sum(Node, Node)
    case difference(Node, Node)
    case product(Node, Node)
    case quotient(Node, Node)
  }

  /// The next step if text isn't an expression.
  static let examples = "write, for example, `1 + Mood` or `ceil(Mood / 20)`"

  /// The source text of the expression.
  package let text: String
  /// The source range of the expression, or of what includes it from another file.
  package internal(set) var range: SourceRange
  /// The entity names in the expression, in source order; `scale` isn't included.
  package let names: [Name]
  /// Whether the expression contains `scale`.
  let usesScale: Bool
  let root: Node

  /// Parses an expression.
  ///
  /// - Parameter word: The entire expression. Its source range is the origin for positions in
  ///   errors.
  /// - Throws: A problem at the first character that can't be parsed.
  package init(_ word: Word) throws(LanguageProblem) {
    var parser = CountExpressionParser(word)
    root = try parser.whole()
    names = parser.names
    usesScale = parser.usesScale
    text = word.text
    range = word.range
  }

  /// Creates an expression that consists of one integer.
  init(_ number: Int) {
    root = .number(number)
    names = []
    usesScale = false
    text = String(number)
    range = SourceRange(line: 1, column: 1)
  }

  package static func == (first: CountExpression, second: CountExpression) -> Bool {
    first.root == second.root
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(root)
  }

  /// Whether the value is independent of row counts and scale.
  package var isConstant: Bool { names.isEmpty && !usesScale }

  /// Returns the value of the expression.
  ///
  /// - Throws: A `CountExpressionError` if a name is unknown, if a division by 0 or an overflow
  ///   occurs, or if the result isn't an integer or exceeds `InputLimits.value`.
  package func value(in scope: CountExpressionScope) throws(CountExpressionError) -> Int {
    let value = try value(of: root, in: scope)
    guard let whole = value.whole else {
      throw error("the result \(value.text) isn't an integer; wrap the division in ceil()")
    }
    guard whole.magnitude <= InputLimits.value else {
      throw error(
        "its value \(whole) exceeds the limit, \(NumberText.grouped(InputLimits.value))")
    }
    return whole
  }

  private func value(of node: Node, in scope: CountExpressionScope) throws(CountExpressionError)
    -> Fraction
  {
    let value: Fraction?
    switch node {
    case .number(let number):
      value = Fraction(number)
    case .name(let name):
      guard let rows = scope.value(of: name) else {
        throw error("the row count of `\(name)` isn't known")
      }
      value = Fraction(rows)
    case .negated(let inner):
      value = try self.value(of: inner, in: scope).negated
    case .ceiling(let inner):
      value = Fraction(try self.value(of: inner, in: scope).ceiling)
    case .sum(let first, let second):
      value = try self.value(of: first, in: scope).adding(try self.value(of: second, in: scope))
    case .difference(let first, let second):
      let negated = try self.value(of: second, in: scope).negated
      let minuend = try self.value(of: first, in: scope)
      value = negated.flatMap(minuend.adding)
    case .product(let first, let second):
      let factor = try self.value(of: second, in: scope)
      value = try self.value(of: first, in: scope).multiplied(by: factor)
    case .quotient(let first, let second):
      let divisor = try self.value(of: second, in: scope)
      guard divisor != Fraction(0) else {
        throw error("division by 0")
      }
      value = try self.value(of: first, in: scope).divided(by: divisor)
    }
    guard let value else {
      throw error("its value is too large")
    }
    return value
  }

  private func error(_ message: String) -> CountExpressionError {
    CountExpressionError(text: text, message: message, range: range)
  }
}

/// The values of the names in an expression.
package struct CountExpressionScope: Sendable, Equatable {
  /// The row count of each entity, including its subentities.
  package var rows: [String: Int]
  /// The value of `--scale`.
  package var scale: Int

  package init(rows: [String: Int] = [:], scale: Int = 1) {
    self.rows = rows
    self.scale = scale
  }

  /// Returns the value of a name, or `nil` if the name is unknown.
  package func value(of name: String) -> Int? {
    name == "scale" ? scale : rows[name]
  }
}

/// An error for an expression that has no integer value.
package struct CountExpressionError: Error, Sendable, CustomStringConvertible {
  /// The source text of the expression.
  package let text: String
  /// A message that describes the error and what to do.
  package let message: String
  /// The source range of the expression.
  package let range: SourceRange

  package var description: String { "`\(text)`: \(message)" }
}

extension ModelNames {
  /// Checks that a name in an expression is the name of an entity.
  ///
  /// - Throws: A problem at the name if the model has no such entity.
  package func checkRows(of name: CountExpression.Name) throws(LanguageProblem) {
    guard model.entitiesByName[name.text] == nil else { return }
    throw LanguageProblem(
      "`\(name.text)` isn't an entity, so it has no row count", at: name.range,
      didYouMean: NearestName.of(name.text, among: entities + ["scale", "ceil"]),
      nextStep: "use integers, `scale`, and: \(ModelNames.list(entities))")
  }
}

/// A recursive-descent parser for `CountExpression`.
struct CountExpressionParser {
  private let word: Word
  private let characters: [Character]
  private var position = 0
  private var depth = 0
  private var terms = 0
  private(set) var names = [CountExpression.Name]()
  private(set) var usesScale = false

  init(_ word: Word) {
    self.word = word
    characters = Array(word.text)
  }

  /// Parses the entire word as one expression.
  mutating func whole() throws(LanguageProblem) -> CountExpression.Node {
    let node = try sum()
    skipBlanks()
    guard position == characters.count else {
      throw unexpected("an operator")
    }
    return node
  }

  private mutating func sum() throws(LanguageProblem) -> CountExpression.Node {
    var node = try product()
    while let mark = take("+", "-") {
      let next = try product()
      node = mark == "+" ? .sum(node, next) : .difference(node, next)
    }
    return node
  }

  private mutating func product() throws(LanguageProblem) -> CountExpression.Node {
    var node = try factor()
    while let mark = take("*", "/") {
      let next = try factor()
      node = mark == "*" ? .product(node, next) : .quotient(node, next)
    }
    return node
  }

  private mutating func factor() throws(LanguageProblem) -> CountExpression.Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= InputLimits.expressionDepth else {
      throw LanguageProblem(
        "the expression is nested too deeply; the limit is \(InputLimits.expressionDepth) levels",
        at: word.range(at: position),
        nextStep: "simplify the expression")
    }
    if take("-") != nil {
      return .negated(try factor())
    }
    if take("(") != nil {
      return try closing(try sum())
    }
    skipBlanks()
    guard position < characters.count else { throw unexpected("a number or a name") }
    terms += 1
    guard terms <= InputLimits.terms else {
      throw LanguageProblem(
        "the expression has too many numbers and names; the limit is \(InputLimits.terms)",
        at: word.range(at: position), nextStep: "simplify the expression")
    }
    if isDigit(characters[position]) {
      return .number(try number())
    }
    return try name()
  }

  private mutating func number() throws(LanguageProblem) -> Int {
    let start = position
    while position < characters.count,
      isDigit(characters[position]) || characters[position] == "_"
    {
      position += 1
    }
    let digits = String(characters[start..<position].filter { $0 != "_" })
    guard let number = Int(digits) else {
      throw LanguageProblem(
        "`\(digits)` is too large",
        at: word.range(at: start, length: position - start), nextStep: "use a smaller integer")
    }
    return number
  }

  /// Returns whether a character is part of an integer: `²` isn't.
  private func isDigit(_ character: Character) -> Bool {
    character.isASCII && character.isNumber
  }

  private mutating func name() throws(LanguageProblem) -> CountExpression.Node {
    let start = position
    while position < characters.count,
      characters[position].isLetter || characters[position].isNumber || characters[position] == "_"
    {
      position += 1
    }
    guard position > start else { throw unexpected("a number or a name") }
    let text = String(characters[start..<position])
    let range = word.range(at: start, length: position - start)
    skipBlanks()
    if position < characters.count, characters[position] == "(" {
      guard text == "ceil" else {
        throw LanguageProblem(
          "unknown function `\(text)`", at: range,
          didYouMean: NearestName.of(text, among: ["ceil"]),
          nextStep: "ceil() is the only function")
      }
      position += 1
      return .ceiling(try closing(try sum()))
    }
    if text == "scale" {
      usesScale = true
    } else {
      names.append(CountExpression.Name(text: text, range: range))
    }
    return .name(text)
  }

  private mutating func closing(
    _ node: CountExpression.Node
  ) throws(LanguageProblem) -> CountExpression.Node {
    guard take(")") != nil else { throw unexpected("`)`") }
    return node
  }

  private mutating func take(_ marks: Character...) -> Character? {
    skipBlanks()
    guard position < characters.count, marks.contains(characters[position]) else { return nil }
    defer { position += 1 }
    return characters[position]
  }

  private mutating func skipBlanks() {
    while position < characters.count, characters[position].isWhitespace {
      position += 1
    }
  }

  private func unexpected(_ wanted: String) -> LanguageProblem {
    let found = position < characters.count ? "`\(characters[position])`" : "the end"
    return LanguageProblem(
      "expected \(wanted), found \(found)", at: word.range(at: position),
      nextStep: CountExpression.examples)
  }
}
