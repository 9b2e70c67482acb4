/// A line of a text with carets under a part of it.
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

  /// Two lines, without an end of line.
  ///
  /// Tabs before the mark are kept, so that both lines align.
  package var text: String {
    let characters = Array(line)
    let before = characters.prefix(max(0, place.column - 1))
    let padding =
      String(before.map { $0 == "\t" ? "\t" : " " })
      + String(repeating: " ", count: max(0, place.column - 1 - before.count))
    let room = max(1, characters.count - before.count)
    let carets = String(repeating: "^", count: min(max(1, place.length), room))
    return "\(margin)\(line)\n\(margin)\(padding)\(carets)"
  }
}
