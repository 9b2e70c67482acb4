/// The beginning of the texts between two bounds, which an index can find.
struct TextPrefix {
  let text: String

  /// The prefix of a `LIKE` pattern whose one sign is a `*` at the end, nil for other patterns.
  init?(like pattern: String) {
    let prefix = pattern.dropLast()
    guard pattern.last == "*", !prefix.contains(where: { "*?\\".contains($0) }) else { return nil }
    text = String(prefix)
  }

  /// The least text that is greater than all texts with a prefix, in the order of UTF-8's bytes,
  /// which is that of the scalars.
  ///
  /// Nil when there is none.
  static func end(_ prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogates are no scalars: what follows U+D7FF is U+E000.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      var text = String.UnicodeScalarView(scalars)
      text.append(scalar)
      return String(text)
    }
    return nil
  }
}
