import ProfileEvents
package import WorkbenchText

/// Parses shell lines as steps.
package enum ShellLine {
  /// Parses a line as a step.
  ///
  /// - Parameters:
  ///   - line: The line, without a line terminator.
  ///   - number: The line number in the shell session, from 1. Together with `file`, the step's
  ///     call site.
  ///   - file: The file name in the call site.
  ///   - commands: The shell's commands other than verbs, to suggest if the verb is unknown.
  /// - Throws: A `LineError` with the source range of the first invalid word.
  package static func parse(
    _ line: String, number: Int, file: String = "shell", commands: [String] = []
  ) throws(LineError) -> Step {
    let start = SourceRange(line: number, column: 1)
    do {
      return try step(
        of: line, startingAt: start, location: CallSite(file: file, line: number),
        commands: commands)
    } catch {
      throw LineError(error, in: line)
    }
  }

  /// Parses the text of a step that is part of a file.
  static func step(
    of text: String, startingAt start: SourceRange, location: CallSite, commands: [String] = []
  ) throws(LanguageProblem) -> Step {
    var reader = LineReader(tokens: try LineWords.tokens(of: text, startingAt: start), start: start)
    return try StepBuilder(try reader.form(), otherVerbs: commands).step(at: location)
  }
}

/// Parses the tokens of a line, from left to right.
struct LineReader {
  let tokens: [LineWords.Token]
  /// The start of the line, for errors about missing words.
  let start: SourceRange
  private var position = 0

  init(tokens: [LineWords.Token], start: SourceRange) {
    self.tokens = tokens
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

  /// Returns a Boolean value that indicates whether the current word is YAML's key before the key
  /// paths, as in `touch moods read date`.
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
    guard !isAtKeyword else {
      return StepForm.Entry(key: key, value: .words([]))
    }
    switch OptionWord(rawValue: key.text)?.kind {
    case .assignments:
      return StepForm.Entry(key: key, value: .pairs(try pairs(of: key)))
    case .sortKeys, .keyPaths, .columns:
      return StepForm.Entry(key: key, value: .words(try list()))
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
      "+-*/(".contains(last) || "+-*/()".contains(first) || whole.text.hasOpenBracket
    {
      position += 1
      let end = whole.range.column + whole.range.length
      let blanks = String(repeating: " ", count: max(0, next.range.column - end))
      let length = next.range.column + next.range.length - whole.range.column
      whole = Word(
        whole.text + blanks + next.text, at: whole.range.part(at: 0, length: length))
    }
    return whole
  }

  private mutating func list() throws(LanguageProblem) -> [Word] {
    var words = [Word]()
    let opening = current
    if case .open(let range)? = opening {
      position += 1
      while let word = nextWord() {
        words.append(word)
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
      words.append(word)
      guard case .comma? = current else { break }
      position += 1
    }
    return words
  }

  private mutating func pairs(of option: Word) throws(LanguageProblem) -> [StepForm.Pair] {
    var pairs = [StepForm.Pair]()
    while let key = nextWord() {
      guard let value = nextWord() else {
        throw LanguageProblem(
          "`\(key.text)` needs a value", at: key.range,
          nextStep: "write, for example, `\(OptionWord.assignments.example)`")
      }
      pairs.append(StepForm.Pair(key: key, value: value))
      guard case .comma? = current else { break }
      position += 1
    }
    return pairs
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
  /// A Boolean value that indicates whether a parenthesis isn't closed.
  fileprivate var hasOpenBracket: Bool {
    reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) } > 0
  }
}

/// Splits a shell line into words, and quotes words so that they can be parsed again.
package enum LineWords {
  /// A token of a line.
  package enum Token: Sendable, Hashable {
    case word(Word)
    case comma(SourceRange)
    case open(SourceRange)
    case close(SourceRange)

    /// The source range of the token.
    package var range: SourceRange {
      switch self {
      case .word(let word): word.range
      case .comma(let range), .open(let range), .close(let range): range
      }
    }
  }

  /// Returns the tokens of a line.
  ///
  /// Words end at whitespace, commas, and square brackets. Text in `"…"` or `'…'` can contain any
  /// character, with `\"`, `\'`, and `\\` as escape sequences. A `#` at the start of a word begins
  /// a comment.
  ///
  /// - Parameters:
  ///   - line: The line to split.
  ///   - start: The source position of the line's first character.
  /// - Throws: A problem at the opening quotation mark of an unterminated string.
  package static func tokens(
    of line: String, startingAt start: SourceRange
  ) throws(LanguageProblem) -> [Token] {
    let characters = Array(line)
    var tokens = [Token]()
    var position = 0
    while position < characters.count {
      let range = start.part(at: position)
      switch characters[position] {
      case let blank where blank.isWhitespace:
        position += 1
      case ",":
        tokens.append(.comma(range))
        position += 1
      case "[":
        tokens.append(.open(range))
        position += 1
      case "]":
        tokens.append(.close(range))
        position += 1
      case "#":
        return tokens
      case "\"", "'":
        tokens.append(.word(try quotedWord(characters, &position, start)))
      default:
        let end =
          characters[position...].firstIndex { $0.isWhitespace || ",[]".contains($0) }
          ?? characters.count
        let text = String(characters[position..<end])
        tokens.append(.word(Word(text, at: start.part(at: position, length: end - position))))
        position = end
      }
    }
    return tokens
  }

  private static func quotedWord(
    _ characters: [Character], _ position: inout Int, _ start: SourceRange
  ) throws(LanguageProblem) -> Word {
    let quote = characters[position]
    let opening = position
    var text = ""
    position += 1
    while position < characters.count {
      let character = characters[position]
      position += 1
      if character == quote {
        let range = start.part(at: opening, length: position - opening)
        return Word(text, at: range, isQuoted: true)
      }
      if character == "\\", position < characters.count,
        "\\\"'".contains(characters[position])
      {
        text.append(characters[position])
        position += 1
      } else {
        text.append(character)
      }
    }
    throw LanguageProblem(
      "unterminated string",
      at: start.part(at: opening, length: characters.count - opening),
      nextStep: "close it with \(quote)")
  }

  /// The words that must be quoted, because they would otherwise start an option.
  package static let keywords: Set<String> = Set(
    OptionWord.allCases.map(\.rawValue) + ["as", "fails"])

  /// Returns a word in the syntax of a shell line, quoted only if necessary.
  package static func plain(_ text: String) -> String {
    let isSafe =
      !text.isEmpty && !keywords.contains(text) && !text.hasPrefix("#")
      && !text.contains { $0.isWhitespace || ",[]\"'\\".contains($0) }
    return isSafe ? text : quoted(text)
  }

  /// Returns a string in double quotation marks, escaped if necessary.
  package static func quoted(_ text: String) -> String {
    let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
    return "\"\(escaped.joined())\""
  }
}
