import OpenCoreData
import WorkbenchText

/// Reads a `CountExpression` by recursive descent.
struct CountExpressionParser {
  private let word: Word
  private let characters: [Character]
  private var position = 0
  private var depth = 0
  private var terms = 0
  private(set) var names = [CountExpression.Name]()
  private(set) var usesScale = false

  /// Parentheses and signs inside each other; more is refused rather than overflowing the stack.
  private static let maximumDepth = 64

  init(_ word: Word) {
    self.word = word
    characters = Array(word.text)
  }

  /// The expression, with nothing behind it.
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
    guard depth <= CountExpressionParser.maximumDepth else {
      throw LanguageProblem(
        "this is nested too deeply", at: word.place(at: position), nextStep: "write it shorter")
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
        "the expression has more than \(InputLimits.terms) numbers and names, the limit",
        at: word.place(at: position), nextStep: "write it shorter")
    }
    if characters[position].isNumber {
      return .number(try number())
    }
    return try name()
  }

  private mutating func number() throws(LanguageProblem) -> Int {
    let start = position
    while position < characters.count, characters[position].isNumber || characters[position] == "_"
    {
      position += 1
    }
    let digits = String(characters[start..<position].filter { $0 != "_" })
    guard let number = Int(digits) else {
      throw LanguageProblem(
        "`\(digits)` is no number that can be counted to",
        at: word.place(at: start, length: position - start), nextStep: "write a smaller one")
    }
    return number
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
    let place = word.place(at: start, length: position - start)
    skipBlanks()
    if position < characters.count, characters[position] == "(" {
      guard text == "ceil" else {
        throw LanguageProblem(
          "unknown function `\(text)`", at: place,
          didYouMean: NearestName.of(text, among: ["ceil"]),
          nextStep: "ceil() is the only function")
      }
      position += 1
      return .ceiling(try closing(try sum()))
    }
    if text == "scale" {
      usesScale = true
    } else {
      names.append(CountExpression.Name(text: text, place: place))
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
      "\(wanted) is expected here, not \(found)", at: word.place(at: position),
      nextStep: "write for example `1 + Mood` or `ceil(Mood / 20)`")
  }
}
