/// A stretch of one line of text: where a caret goes.
package struct SourcePlace: Sendable, Hashable {
  /// Counted from 1.
  package var line: Int
  /// In characters, counted from 1.
  package var column: Int
  /// In characters, at least 1.
  package var length: Int

  package init(line: Int, column: Int, length: Int = 1) {
    self.line = line
    self.column = column
    self.length = max(1, length)
  }

  /// A part of this place: `offset` characters further on, on the same line.
  package func part(at offset: Int, length: Int = 1) -> SourcePlace {
    SourcePlace(line: line, column: column + offset, length: length)
  }
}
