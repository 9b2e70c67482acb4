/// Lines of text that fit a screen.
enum ScreenText {
  /// Returns a line in parts that fit a width, the later ones indented further.
  ///
  /// Wide gaps between columns are narrowed first. A word that's longer than the width isn't broken,
  /// so that a path can be copied.
  ///
  /// - Parameters:
  ///   - line: The line, without line feeds.
  ///   - width: The width in characters.
  static func fitted(_ line: String, to width: Int) -> [String] {
    guard line.count > width, width > 20 else { return [line] }
    let margin = String(line.prefix { $0 == " " })
    let written = String(line.dropFirst(margin.count))
    // A name and its description stay aligned with those of the lines around.
    let text = written.matches(of: /\S {3,}/).count > 1 ? narrowed(written[...]) : written
    guard margin.count + text.count > width else { return [margin + text] }
    // In a list of names and descriptions, the description's later lines begin where it begins.
    let gap = text.firstRange(of: "   ").map {
      text.distance(from: text.startIndex, to: $0.upperBound)
    }
    let indent =
      margin + String(repeating: " ", count: gap.map { $0 <= 20 && $0 * 2 < width ? $0 : 4 } ?? 4)
    var lines: [String] = []
    var current = margin
    var isEmpty = true
    for word in words(of: text) {
      if !isEmpty, current.count + word.blanks.count + word.text.count > width {
        lines.append(current)
        current = indent + word.text
      } else {
        current += (isEmpty ? "" : word.blanks) + word.text
      }
      isEmpty = false
    }
    return lines + [current]
  }

  /// Returns text in which no gap is wider than three spaces.
  private static func narrowed(_ text: Substring) -> String {
    var result = ""
    var blanks = 0
    for character in text {
      blanks = character == " " ? blanks + 1 : 0
      if blanks <= 3 { result.append(character) }
    }
    while result.last == " " { result.removeLast() }
    return result
  }

  /// Returns the words of a text, each with the spaces before it.
  private static func words(of text: String) -> [(blanks: String, text: String)] {
    var words: [(blanks: String, text: String)] = []
    var rest = Substring(text)
    while !rest.isEmpty {
      let blanks = rest.prefix { $0 == " " }
      rest = rest.dropFirst(blanks.count)
      let word = rest.prefix { $0 != " " }
      rest = rest.dropFirst(word.count)
      words.append((String(blanks), String(word)))
    }
    return words
  }
}
