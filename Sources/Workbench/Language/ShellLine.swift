import ProfileEvents

/// Reads one line of the shell as a step.
package enum ShellLine {
  /// The step a line says.
  ///
  /// - Parameters:
  ///   - line: without its end.
  ///   - number: the line's number in this shell, from 1; with `file` the step's call site.
  ///   - commands: words the shell knows beside the verbs, to be proposed for an unknown one.
  /// - Throws: `LineError` with the place of the first wrong word.
  package static func parse(
    _ line: String, number: Int, file: String = "shell", commands: [String] = []
  ) throws(LineError) -> Step {
    let start = SourcePlace(line: number, column: 1)
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
    of text: String, startingAt start: SourcePlace, location: CallSite, commands: [String] = []
  ) throws(LanguageProblem) -> Step {
    var reader = LineReader(tokens: try LineWords.tokens(of: text, startingAt: start), start: start)
    return try StepBuilder(try reader.form(), otherVerbs: commands).step(at: location)
  }
}

/// Takes the tokens of a line one by one.
private struct LineReader {
  let tokens: [LineWords.Token]
  let start: SourcePlace
  var position = 0

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
    if known == .touch {
      form.reads = reads()
    }
    while position < tokens.count {
      form.entries.append(try entry())
    }
    return form
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
    case .sortKeys, .keyPaths:
      return StepForm.Entry(key: key, value: .words(try list()))
    default:
      // An unknown word keeps its value, so that the word itself is what the error points at.
      return StepForm.Entry(key: key, value: .words(nextWord().map { [$0] } ?? []))
    }
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
