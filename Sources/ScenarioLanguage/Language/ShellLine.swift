import ProfileEvents
package import WorkbenchText

/// Reads one line of the shell as a step.
package enum ShellLine {
  /// The step a line says.
  ///
  /// - Parameters:
  ///   - line: without its end.
  ///   - number: the line's number in this shell, from 1; with `file` the step's call site.
  ///   - commands: words of the shell in addition to the verbs, to be proposed for an unknown one.
  /// - Throws: `LineError` with the place of the first wrong word.
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

  /// The step written in a text that stands somewhere in a file.
  static func step(
    of text: String, startingAt start: SourceRange, location: CallSite, commands: [String] = []
  ) throws(LanguageProblem) -> Step {
    var reader = LineReader(tokens: try LineWords.tokens(of: text, startingAt: start), start: start)
    return try StepBuilder(try reader.form(), otherVerbs: commands).step(at: location)
  }
}

/// Takes the tokens of a line one by one.
struct LineReader {
  let tokens: [LineWords.Token]
  /// Where the line begins, for errors about what is missing.
  let start: SourceRange
  private var position = 0

  init(tokens: [LineWords.Token], start: SourceRange) {
    self.tokens = tokens
    self.start = start
  }

  /// The step as words: verb, subject, key paths, options.
  mutating func form() throws(LanguageProblem) -> StepForm {
    guard let verb = nextWord() else {
      throw LanguageProblem(
        "expected a step", at: tokens.first?.place ?? start,
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

  /// Whether the key paths have YAML's word in front, `touch moods read date`: it says nothing here.
  ///
  /// Alone, or with a comma behind it, it is a key path itself.
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
        "an option's word is missing here", at: current?.place ?? start,
        nextStep: "write for example `\(OptionWord.limit.example)`")
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
      // An unknown word keeps its value, so that the word itself is what the error points at.
      return StepForm.Entry(key: key, value: .words(nextWord().map { [$0] } ?? []))
    }
  }

  /// An expression as one word, whose blanks are where they were written.
  ///
  /// It goes on behind an operator, before one, and inside of brackets; what follows it otherwise is
  /// the next option.
  private mutating func expression() -> Word? {
    guard var whole = nextWord() else { return nil }
    while !whole.isQuoted, !isAtKeyword, case .word(let next)? = current, !next.isQuoted,
      let last = whole.text.last, let first = next.text.first,
      "+-*/(".contains(last) || "+-*/()".contains(first) || whole.text.hasOpenBracket
    {
      position += 1
      let end = whole.place.column + whole.place.length
      let blanks = String(repeating: " ", count: max(0, next.place.column - end))
      let length = next.place.column + next.place.length - whole.place.column
      whole = Word(
        whole.text + blanks + next.text, at: whole.place.part(at: 0, length: length))
    }
    return whole
  }

  private mutating func list() throws(LanguageProblem) -> [Word] {
    var words = [Word]()
    let opening = current
    if case .open(let place)? = opening {
      position += 1
      while let word = nextWord() {
        words.append(word)
        if case .comma? = current { position += 1 }
      }
      guard case .close? = current else {
        throw LanguageProblem(
          "the list that begins here has no end", at: place, nextStep: "close it with ]")
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
          "`\(key.text)` needs a value", at: key.place,
          nextStep: "write for example `\(OptionWord.assignments.example)`")
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
  /// Whether more brackets are opened than closed.
  fileprivate var hasOpenBracket: Bool {
    reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) } > 0
  }
}

/// Cuts a shell line into words, and writes words so that they can be read back.
package enum LineWords {
  /// A word or a mark of a line.
  package enum Token: Sendable, Hashable {
    case word(Word)
    case comma(SourceRange)
    case open(SourceRange)
    case close(SourceRange)

    /// Where it's written.
    package var place: SourceRange {
      switch self {
      case .word(let word): word.place
      case .comma(let place), .open(let place), .close(let place): place
      }
    }
  }

  /// The tokens of a line.
  ///
  /// Words end at blanks, commas and square brackets. `"…"` and `'…'` hold anything, with `\"`, `\'`
  /// and `\\` for the characters themselves. A `#` at the start of a word begins a comment.
  /// - Parameter start: the place of the line's first character.
  /// - Throws: a problem at the opening quote of a text without an end.
  package static func tokens(
    of line: String, startingAt start: SourceRange
  ) throws(LanguageProblem) -> [Token] {
    let characters = Array(line)
    var tokens = [Token]()
    var position = 0
    while position < characters.count {
      let place = start.part(at: position)
      switch characters[position] {
      case let blank where blank.isWhitespace:
        position += 1
      case ",":
        tokens.append(.comma(place))
        position += 1
      case "[":
        tokens.append(.open(place))
        position += 1
      case "]":
        tokens.append(.close(place))
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
        let place = start.part(at: opening, length: position - opening)
        return Word(text, at: place, isQuoted: true)
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
      "the text that begins here has no end",
      at: start.part(at: opening, length: characters.count - opening),
      nextStep: "close it with \(quote)")
  }

  /// Words that would be taken for an option when they stand unquoted.
  package static let keywords: Set<String> = Set(
    OptionWord.allCases.map(\.rawValue) + ["as", "fails"])

  /// A word as it is written on a line: quoted only where it must be.
  package static func plain(_ text: String) -> String {
    let isSafe =
      !text.isEmpty && !keywords.contains(text) && !text.hasPrefix("#")
      && !text.contains { $0.isWhitespace || ",[]\"'\\".contains($0) }
    return isSafe ? text : quoted(text)
  }

  /// A text in double quotes.
  package static func quoted(_ text: String) -> String {
    let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
    return "\"\(escaped.joined())\""
  }
}
