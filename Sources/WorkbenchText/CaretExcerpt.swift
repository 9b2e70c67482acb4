import OpenCoreData

/// A line of a text with carets under a part of it; of a very long line the part around them.
package struct CaretExcerpt: Sendable {
  private let line: String
  private let place: SourcePlace
  private let margin: String

  /// - Parameters:
  ///   - line: the whole line, without its end.
  ///   - place: what to mark; its `line` is not read.
  ///   - margin: put before both lines.
  package init(line: String, place: SourcePlace, margin: String = "  ") {
    self.line = line
    self.place = place
    self.margin = margin
  }

  /// More characters of a line than this are not shown.
  private static let width = 160

  /// Two lines, without an end of line.
  ///
  /// Tabs before the mark are kept, so that both lines align.
  package var text: String {
    let (characters, column) = shown
    let before = CaretExcerpt.printed(characters.prefix(max(0, column - 1)))
    let marked = characters.dropFirst(max(0, column - 1)).prefix(max(1, place.length))
    let padding =
      String(before.map { $0 == "\t" ? "\t" : " " })
      + String(repeating: " ", count: max(0, column - 1 - characters.count))
    let carets = String(repeating: "^", count: max(1, CaretExcerpt.printed(marked).count))
    return "\(margin)\(CaretExcerpt.printed(characters[...]))\n\(margin)\(padding)\(carets)"
  }

  /// Characters as they are printed: the carets count those of escapes.
  private static func printed(_ characters: ArraySlice<Character>) -> String {
    PrintableText.line(String(characters))
  }

  /// The characters that are shown, and the column of the mark among them.
  private var shown: ([Character], column: Int) {
    let characters = Array(line)
    guard characters.count > Self.width else { return (characters, place.column) }
    let start = max(0, min(place.column - 1 - Self.width / 2, characters.count - Self.width))
    let end = start + Self.width
    let head: [Character] = start > 0 ? ["…"] : []
    let tail: [Character] = end < characters.count ? ["…"] : []
    return (head + characters[start..<end] + tail, place.column - start + head.count)
  }
}
