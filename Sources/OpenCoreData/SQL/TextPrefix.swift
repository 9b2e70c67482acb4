/// The prefix of the strings between two bounds, which an index search can find.
struct TextPrefix {
  let text: String

  /// Creates the prefix of a `LIKE` pattern whose only wildcard is a `*` at the end; `nil` for
  /// other patterns.
  init?(like pattern: String) {
    // A wildcard is a scalar, even before a combining mark, with which it's one character.
    let scalars = pattern.unicodeScalars
    let prefix = scalars.dropLast()
    guard scalars.last == "*", !prefix.contains(where: { ["*", "?", "\\"].contains($0) }) else {
      return nil
    }
    text = String(prefix)
  }

  /// Returns the lowest string that is greater than all strings with a prefix, in the order of
  /// UTF-8's bytes, which is that of the scalars.
  ///
  /// `nil` if there's none.
  static func end(_ prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogates aren't scalars: the successor of U+D7FF is U+E000.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      var text = String.UnicodeScalarView(scalars)
      text.append(scalar)
      return String(text)
    }
    return nil
  }
}
