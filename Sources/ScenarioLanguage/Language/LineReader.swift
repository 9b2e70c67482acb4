import WorkbenchText

/// Takes the tokens of a line one by one.
struct LineReader {
  let tokens: [LineWords.Token]
  /// Where the line begins, for errors about what is missing.
  let start: SourcePlace
  private var position = 0

  init(tokens: [LineWords.Token], start: SourcePlace) {
    self.tokens = tokens
    self.start = start
  }

  /// The step as words: verb, subject, key paths, options.
  mutating func form() throws(LanguageProblem) -> StepForm {
    guard let verb = nextWord() else {
      throw LanguageProblem(
        "there is no step here", at: tokens.first?.place ?? start,
        nextStep: "begin with a verb, for example `fetch`")
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
  /// It goes on behind an operator, before one, and inside of brackets; what stands behind it otherwise is
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
