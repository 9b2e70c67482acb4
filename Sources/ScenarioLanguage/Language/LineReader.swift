import WorkbenchText

/// Parses the tokens of a line, from left to right.
struct LineReader {
  let tokens: [LineWords.Token]
  /// The start of the line, for errors about missing words.
  let start: SourceRange
  private var position = 0

  /// The line, for options that take a part of it as written.
  private let line: [Character]

  init(tokens: [LineWords.Token], of line: String, start: SourceRange) {
    self.tokens = tokens
    self.line = Array(line)
    self.start = start
  }

  /// Returns the words of the step: verb, subject, key paths, and options.
  mutating func form() throws(LanguageProblem) -> StepForm {
    guard let verb = nextWord() else {
      throw LanguageProblem(
        "expected a step", at: tokens.first?.range ?? start,
        nextStep: "start with a verb, such as `fetch`")
    }
    var form = StepForm(verb: verb)
    let known = Verb(rawValue: verb.text)
    if known?.subject != Verb.Subject.none, !isAtKeyword {
      form.subject = nextWord()
    }
    if let key = known?.pathsKey {
      if isWritten(key) { position += 1 }
      form.reads = reads()
    }
    while position < tokens.count {
      form.entries.append(try entry())
    }
    return form
  }

  /// Returns whether the current word is YAML's key before the key paths, as in
  /// `touch moods read date`.
  ///
  /// The key is optional on a line and is skipped. If it's the last word or is followed by a comma
  /// or a keyword, it's a key path.
  private func isWritten(_ key: String) -> Bool {
    guard case .word(let word)? = current, !word.isQuoted, word.text == key,
      position + 1 < tokens.count, case .word(let next) = tokens[position + 1]
    else { return false }
    return next.isQuoted || !LineWords.keywords.contains(next.text)
  }

  private mutating func reads() -> [Word] {
    var reads = [Word]()
    while !isAtKeyword {
      if let word = nextWord() {
        reads.append(word)
      } else if case .comma? = current, !reads.isEmpty {
        position += 1
      } else {
        break
      }
    }
    return reads
  }

  private mutating func entry() throws(LanguageProblem) -> StepForm.Entry {
    guard let key = nextWord() else {
      throw LanguageProblem(
        "expected an option", at: current?.range ?? start,
        nextStep: "write, for example, `\(OptionWord.limit.example)`")
    }
    let kind = OptionWord(rawValue: key.text)?.kind
    guard !isAtKeyword || (kind == .predicate && isBeforeOperator) else {
      return StepForm.Entry(key: key, value: .words([]))
    }
    switch kind {
    case .assignments:
      return StepForm.Entry(key: key, value: .pairs(try pairs(of: key)))
    case .sortKeys:
      return StepForm.Entry(key: key, value: .words(try list(ofSortKeys: true)))
    case .keyPaths, .columns:
      return StepForm.Entry(key: key, value: .words(try list()))
    case .predicate:
      return StepForm.Entry(key: key, value: .words(predicate().map { [$0] } ?? []))
    case .number:
      return StepForm.Entry(key: key, value: .words(expression().map { [$0] } ?? []))
    default:
      // Consume the value of an unknown option so that the error refers to the option.
      return StepForm.Entry(key: key, value: .words(nextWord().map { [$0] } ?? []))
    }
  }

  /// Joins the words of an expression into one word, keeping the spaces as written.
  ///
  /// The expression continues after an operator, before an operator, and inside parentheses. Any
  /// other word starts the next option.
  private mutating func expression() -> Word? {
    guard var whole = nextWord() else { return nil }
    while !whole.isQuoted, !isAtKeyword, case .word(let next)? = current, !next.isQuoted,
      let last = whole.text.last, let first = next.text.first,
      "+-*/(".contains(last) || "+-*/()".contains(first) || whole.text.openBracketCount > 0
    {
      position += 1
      let end = whole.range.column + whole.range.length
      let spaces = String(repeating: " ", count: max(0, next.range.column - end))
      let length = next.range.column + next.range.length - whole.range.column
      whole = Word(
        whole.text + spaces + next.text, at: whole.range.part(at: 0, length: length))
    }
    return whole
  }

  /// Returns a predicate: a quoted string, or the part of the line up to the next option.
  ///
  /// In a predicate without quotation marks, a word that's an option after an operator, and `in`
  /// before a list, are part of the predicate.
  private mutating func predicate() -> Word? {
    guard let first = nextWord() else { return nil }
    guard !first.isQuoted else { return first }
    var last = LineWords.Token.word(first)
    while position < tokens.count, !isAtKeyword || continuesPredicate(after: last) {
      last = tokens[position]
      position += 1
    }
    return text(from: first, through: last)
  }

  /// Returns a part of the line, as written, as one word.
  private func text(from first: Word, through last: LineWords.Token) -> Word {
    let begin = first.range.column - start.column
    let end = last.range.column + last.range.length - start.column
    return Word(
      String(line[begin..<end]), at: first.range.part(at: 0, length: end - begin))
  }

  /// Whether an operator follows the current word, which then is a property in a predicate, as in
  /// `where values > 5`.
  private var isBeforeOperator: Bool {
    guard position + 1 < tokens.count, case .word(let next) = tokens[position + 1], !next.isQuoted
    else { return false }
    return next.text.first.map { "=<>!".contains($0) } == true
      || LineReader.operators.contains(next.text.uppercased())
  }

  /// Returns whether the current keyword is part of a predicate.
  private func continuesPredicate(after last: LineWords.Token) -> Bool {
    if case .word(let word) = last, !word.isQuoted {
      if let end = word.text.last, "=<>!+-*/(,&|{".contains(end) { return true }
      if LineReader.operators.contains(word.text.uppercased()) { return true }
    } else if case .comma = last {
      return true
    }
    guard case .word(let word)? = current, word.text.lowercased() == "in",
      position + 1 < tokens.count, case .word(let next) = tokens[position + 1]
    else { return false }
    return next.text.first.map { "{($%".contains($0) } == true
  }

  /// The operators of predicates that are words, and that an operand follows.
  private static let operators: Set<String> = [
    "AND", "OR", "NOT", "ANY", "ALL", "NONE", "SOME", "IN", "LIKE", "MATCHES", "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN",
  ]

  /// Returns the words of a list with commas, or in square brackets.
  ///
  /// - Parameter hasOrders: Whether `asc` or `desc` can follow each word, as in SQL.
  private mutating func list(
    ofSortKeys hasOrders: Bool = false
  ) throws(LanguageProblem) -> [Word] {
    var words = [Word]()
    let opening = current
    if case .open(let range)? = opening {
      position += 1
      while let word = nextWord() {
        words.append(hasOrders ? ordered(word) : word)
        if case .comma? = current { position += 1 }
      }
      guard case .close? = current else {
        throw LanguageProblem(
          "unterminated list", at: range, nextStep: "close it with ]")
      }
      position += 1
      return words
    }
    while let word = nextWord() {
      words.append(hasOrders ? ordered(word) : word)
      guard case .comma? = current else { break }
      position += 1
    }
    return words
  }

  /// Returns a sort key in the language's form if SQL's `asc` or `desc` follows it: `date-` for
  /// `date desc`.
  private mutating func ordered(_ key: Word) -> Word {
    guard case .word(let order)? = current, let word = SortKey.word(key, in: order) else {
      return key
    }
    position += 1
    return word
  }

  private mutating func pairs(of option: Word) throws(LanguageProblem) -> [StepForm.Pair] {
    var pairs = [StepForm.Pair]()
    while let key = nextWord() {
      pairs.append(try pair(of: key))
      guard case .comma? = current else { break }
      position += 1
    }
    return pairs
  }

  /// Returns a key with its value, which is an expression if `=` is between them.
  private mutating func pair(of key: Word) throws(LanguageProblem) -> StepForm.Pair {
    if !key.isQuoted, let sign = key.text.firstIndex(of: "=") {
      throw attached(
        at: key.range(at: key.text.distance(from: key.text.startIndex, to: sign)))
    }
    guard let value = nextWord() else {
      throw LanguageProblem(
        "`\(key.text)` needs a value", at: key.range,
        nextStep: "write, for example, `\(OptionWord.assignments.example)`")
    }
    guard !value.isQuoted, value.text.hasPrefix("=") else {
      return StepForm.Pair(key: key, value: value)
    }
    guard value.text == "=" else { throw attached(at: value.range(at: 0)) }
    guard let expression = assignedExpression() else {
      throw OptionReader.missingExpression(for: key, at: value.range)
    }
    return StepForm.Pair(key: key, value: expression, isExpression: true)
  }

  /// Returns the problem of an `=` that is a part of another word.
  private func attached(at range: SourceRange) -> LanguageProblem {
    LanguageProblem(
      "`=` must be a word of its own", at: range,
      nextStep: "write, for example, "
        + "`\(OptionWord.assignments.example(of: .batchUpdate))`; put text with `=` in quotes")
  }

  /// Returns an expression: a quoted string, or the part of the line up to the next option or to a
  /// comma outside of parentheses.
  ///
  /// Returns `nil` at the end and before an option.
  private mutating func assignedExpression() -> Word? {
    guard !isAtKeyword, let first = nextWord() else { return nil }
    guard !first.isQuoted else { return first }
    var last = LineWords.Token.word(first)
    var depth = first.text.openBracketCount
    while position < tokens.count, depth > 0 || !endsExpression(after: last) {
      last = tokens[position]
      position += 1
      switch last {
      case .word(let word): depth += word.isQuoted ? 0 : word.text.openBracketCount
      case .open: depth += 1
      case .close: depth -= 1
      case .comma: break
      }
    }
    return text(from: first, through: last)
  }

  /// Returns whether a comma or an option follows that isn't a part of an expression.
  private func endsExpression(after last: LineWords.Token) -> Bool {
    if case .comma? = current { return true }
    return isAtKeyword && !continuesPredicate(after: last)
  }

  private var current: LineWords.Token? {
    position < tokens.count ? tokens[position] : nil
  }

  private var isAtKeyword: Bool {
    guard case .word(let word)? = current else { return position >= tokens.count }
    return !word.isQuoted && LineWords.keywords.contains(word.text)
  }

  private mutating func nextWord() -> Word? {
    guard case .word(let word)? = current else { return nil }
    position += 1
    return word
  }
}

extension String {
  /// The number of opening parentheses and braces minus the number of closing ones.
  fileprivate var openBracketCount: Int {
    reduce(0) { $0 + ("({".contains($1) ? 1 : ")}".contains($1) ? -1 : 0) }
  }
}
