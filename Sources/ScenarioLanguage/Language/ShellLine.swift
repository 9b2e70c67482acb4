package import ProfileEvents
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
  /// - Throws: A `LineError` with the source range of the first invalid word.
  package static func parse(
    _ line: String, number: Int, file: String = "shell"
  ) throws(LineError) -> Step {
    do {
      return try step(
        of: Word(line, at: SourceRange(line: number, column: 1)),
        location: CallSite(file: file, line: number))
    } catch {
      throw LineError(error, in: line)
    }
  }

  /// Parses the text of a word as a step, in a file possibly on several lines.
  package static func step(
    of word: Word, location: CallSite
  ) throws(LanguageProblem) -> Step {
    let form = try form(of: word).mapWords(word.sourceWord)
    return try StepBuilder(form).step(at: location)
  }

  /// Returns the words of a step as if its text were written on one line.
  private static func form(of word: Word) throws(LanguageProblem) -> StepForm {
    let start = word.range(at: 0)
    do {
      var reader = LineReader(
        tokens: try LineWords.tokens(of: word.text, startingAt: start), of: word.text, start: start)
      return try reader.form()
    } catch {
      throw error.located(in: word)
    }
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
  /// a comment, which ends with the line.
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
        position = characters[position...].firstIndex(where: \.isNewline) ?? characters.count
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

  /// Returns the words of a text in a file, possibly on several lines, without commas and brackets.
  ///
  /// - Throws: A problem at the opening quotation mark of an unterminated string.
  package static func words(of text: Word) throws(LanguageProblem) -> [Word] {
    do {
      return try tokens(of: text.text, startingAt: text.range(at: 0)).compactMap { token in
        if case .word(let word) = token { text.sourceWord(of: word) } else { nil }
      }
    } catch {
      throw error.located(in: text)
    }
  }

  /// Returns the sort keys of a text in a file; SQL's order can follow each of them, `date desc`.
  ///
  /// - Throws: A problem at the opening quotation mark of an unterminated string.
  package static func sortKeys(of text: Word) throws(LanguageProblem) -> [Word] {
    do {
      var tokens = try tokens(of: text.text, startingAt: text.range(at: 0))[...]
      var keys: [Word] = []
      while let token = tokens.popFirst() {
        guard case .word(var key) = token else { continue }
        if case .word(let order)? = tokens.first, let ordered = SortKey.word(key, in: order) {
          key = ordered
          tokens.removeFirst()
        }
        keys.append(text.sourceWord(of: key))
      }
      return keys
    } catch {
      throw error.located(in: text)
    }
  }

  private static func quotedWord(
    _ characters: [Character], _ position: inout Int, _ start: SourceRange
  ) throws(LanguageProblem) -> Word {
    let quote = characters[position]
    let opening = position
    var text = ""
    var positions: [SourceRange] = []
    position += 1
    while position < characters.count {
      let character = characters[position]
      positions.append(start.part(at: position))
      position += 1
      if character == quote {
        let range = start.part(at: opening, length: position - opening)
        let hasEscapes = positions.count < position - opening - 1
        return Word(text, at: range, isQuoted: true, positions: hasEscapes ? positions : nil)
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
