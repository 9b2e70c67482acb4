/// Measures text in the columns of a terminal.
///
/// East Asian characters and emoji take two columns, and marks without a character to combine with
/// none.
package enum TextWidth {
  /// Returns the number of columns that a line of text takes.
  ///
  /// **Cost:** one pass over the bytes, and another over the characters if the text isn't ASCII.
  package static func of(_ text: some StringProtocol) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 }
      ? text.utf8.count : text.reduce(0) { $0 + width(of: $1) }
  }

  /// Returns the longest beginning of a line of text that fits a number of columns.
  package static func prefix(of text: String, columns: Int) -> Substring {
    var room = columns
    return text.prefix { character in
      room -= width(of: character)
      return room >= 0
    }
  }

  /// Returns a line of text that fits a number of columns: the text, or its beginning and `…`.
  package static func truncated(_ text: String, columns: Int) -> String {
    of(text) <= columns ? text : "\(prefix(of: text, columns: columns - 1))…"
  }

  private static func width(of character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first, !scalar.isASCII else { return 1 }
    if wide.contains(where: { $0.contains(scalar.value) }) { return 2 }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    // A soft hyphen is visible.
    case .format: return scalar.value == 0xAD ? 1 : 0
    default: return 1
    }
  }

  /// The blocks whose characters are wide or full-width (Unicode Standard Annex 11), without emoji.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}
