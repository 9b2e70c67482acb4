import OpenCoreData
package import WorkbenchText

/// A number written as an expression: `1 + Mood + Country`, `2 + ceil(Mood / 20)`.
///
/// Whole numbers, names of entities (their rows), `scale`, `+ - * /`, `ceil()` and parentheses.
package struct CountExpression: Sendable, Hashable {
  /// A name in an expression.
  package struct Name: Sendable, Hashable {
    package let text: String
    package let place: SourcePlace
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

  /// As written.
  package let text: String
  /// Where it is written.
  package let place: SourcePlace
  /// The names it uses, `scale` left out, in the order of writing.
  package let names: [Name]
  /// Whether it uses `scale`.
  let usesScale: Bool
  let root: Node

  /// Reads an expression.
  ///
  /// - Parameter word: the whole expression; its place is where carets are counted from.
  /// - Throws: a problem at the first character that cannot be understood.
  package init(_ word: Word) throws(LanguageProblem) {
    var parser = CountExpressionParser(word)
    root = try parser.whole()
    names = parser.names
    usesScale = parser.usesScale
    text = word.text
    place = word.place
  }

  package static func == (first: CountExpression, second: CountExpression) -> Bool {
    first.root == second.root
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(root)
  }

  /// Whether its value is the same whatever the rows and the scale are.
  package var isConstant: Bool { names.isEmpty && !usesScale }

  /// The value.
  ///
  /// - Throws: `LawError` when a name is unknown, a division by 0 or an overflow is met, or the value
  ///   is not whole.
  package func value(in scope: LawScope) throws(LawError) -> Int {
    let value = try value(of: root, in: scope)
    guard let whole = value.whole else {
      throw error("its value \(value.text) is not whole; put ceil() around the division")
    }
    guard whole.magnitude <= InputLimits.value else {
      throw error(
        "its value \(whole) is beyond the limit, \(NumberText.grouped(InputLimits.value))")
    }
    return whole
  }

  private func value(of node: Node, in scope: LawScope) throws(LawError) -> Fraction {
    let value: Fraction?
    switch node {
    case .number(let number):
      value = Fraction(number)
    case .name(let name):
      guard let rows = scope.value(of: name) else {
        throw error("nothing says how many rows `\(name)` has")
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
        throw error("it divides by 0")
      }
      value = try self.value(of: first, in: scope).divided(by: divisor)
    }
    guard let value else {
      throw error("its value is too large to count")
    }
    return value
  }

  private func error(_ message: String) -> LawError {
    LawError(text: text, message: message, place: place)
  }
}

extension ModelNames {
  /// Checks that a name in an expression is an entity's, whose rows can be counted.
  package func checkRows(of name: CountExpression.Name) throws(LanguageProblem) {
    guard model.entitiesByName[name.text] == nil else { return }
    throw LanguageProblem(
      "`\(name.text)` is no entity whose rows could be counted", at: name.place,
      didYouMean: NearestName.of(name.text, among: entities + ["scale", "ceil"]),
      nextStep: "expressions know whole numbers, `scale` and: \(ModelNames.list(entities))")
  }
}
