package import WorkbenchText

/// Cuts a shell line into words, and writes words so that they can be read back.
package enum LineWords {
  /// A word or a mark of a line.
  package enum Token: Sendable, Hashable {
    case word(Word)
    case comma(SourcePlace)
    case open(SourcePlace)
    case close(SourcePlace)

    /// Where it stands.
    package var place: SourcePlace {
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
    of line: String, startingAt start: SourcePlace
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
    _ characters: [Character], _ position: inout Int, _ start: SourcePlace
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
