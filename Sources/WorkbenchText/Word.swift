/// One word of a step, with its place.
package struct Word: Sendable, Hashable {
  /// Without quotes, escapes resolved.
  package var text: String
  package var place: SourcePlace
  /// A quoted word is never a keyword.
  package var isQuoted: Bool

  package init(_ text: String, at place: SourcePlace, isQuoted: Bool = false) {
    self.text = text
    self.place = place
    self.isQuoted = isQuoted
  }

  /// The place of some characters of the text, past an opening quote.
  ///
  /// - Parameter offset: in characters of `text`, from 0. Escapes before it shift the place.
  package func place(at offset: Int, length: Int = 1) -> SourcePlace {
    place.part(at: offset + (isQuoted ? 1 : 0), length: length)
  }

  /// Whether the text can be a name: a letter or `_`, then letters, digits, `_` and `-`.
  package var isName: Bool {
    guard let first = text.first, first.isLetter || first == "_" else { return false }
    return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
  }
}
