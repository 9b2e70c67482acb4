/// A statement cut into words: names, numbers, operators, brackets.
///
/// Enough to find conditions in SQL of Core Data's making; no parser.
enum SQLWords {
  /// The words in their order; texts in quotes are one word, quotes around names are gone.
  static func of(_ sql: String) -> [String] {
    var words: [String] = []
    var current = ""
    var quote: Character?
    func end() {
      if !current.isEmpty { words.append(current) }
      current = ""
    }
    for character in sql {
      if let open = quote {
        if character == open {
          quote = nil
          if open == "'" { words.append("'") }
        } else if open == "\"" {
          current.append(character)
        }
      } else if character == "'" || character == "\"" {
        if character == "'" { end() }
        quote = character
      } else if character.isLetter || character.isNumber || "_.$?@:".contains(character) {
        if let last = current.last, isOperator(last) { end() }
        current.append(character)
      } else if isOperator(character) {
        if let last = current.last, !isOperator(last) { end() }
        current.append(character)
      } else {
        end()
        if "(),".contains(character) { words.append(String(character)) }
      }
    }
    end()
    return words
  }

  private static func isOperator(_ character: Character) -> Bool { "=<>!".contains(character) }
}
