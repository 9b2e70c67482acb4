import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE` and `MATCHES` between two texts.
  ///
  /// All of them call a function for every row, as Apple's do. Two forms compare with bounds
  /// instead, which an index can serve: `BEGINSWITH[n]`, and `LIKE` with one `*` at the end.
  func matches(
    _ text: SQLOperand, _ pattern: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLFragment {
    try requireText(text, rules)
    try requireText(pattern, rules)
    let (whole, part) = try sides(text, pattern, rules)
    if let prefix = indexablePrefix(text, pattern, rules) {
      return Self.range(whole, from: prefix)
    }
    switch rules.type {
    case .like:
      return " NSCoreDataLike(\(whole), \(part), \(raw: lenience(rules)))"
    case .matches:
      try check(pattern, rules)
      return " NSCoreDataMatches(\(whole), \(part), \(raw: lenience(rules)))"
    default:
      let search = StringSearch(rules.type, options: rules.options)
      return
        " NSCoreDataStringSearch(\(whole), \(part), \(raw: search.flags), \(raw: search.mode))"
    }
  }

  private func requireText(
    _ operand: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) {
    if isText(operand) { return }
    switch operand {
    case .constant(.null): return
    case .attribute(_, let attribute):
      throw TranslationError(
        rules.piece, "\(attribute) is no text, so it cannot be searched in the store.")
    case .toMany(let path):
      throw TranslationError(
        rules.piece, "\(path.text) leads to many objects, so it needs ANY, ALL or @count.")
    default:
      throw TranslationError(rules.piece, "A text is needed on both sides.")
    }
  }

  /// A regular expression that is wrong is said here, before a row is read.
  private func check(_ pattern: SQLOperand, _ rules: ComparisonRules) throws(TranslationError) {
    guard case .constant(.string(let text)) = pattern else { return }
    do {
      _ = try StringMatching.matches("", text, rules.options)
    } catch {
      throw TranslationError(rules.piece, "\(error).")
    }
  }

  private func lenience(_ rules: ComparisonRules) -> UInt {
    rules.isLenient ? rules.options.rawValue : 0
  }

  /// The text that values must begin with, where bounds say the same as the function.
  private func indexablePrefix(
    _ text: SQLOperand, _ pattern: SQLOperand, _ rules: ComparisonRules
  ) -> String? {
    guard case .attribute = text, case .constant(.string(let pattern)) = pattern,
      !rules.isLenient
    else { return nil }
    switch rules.type {
    case .beginsWith: return rules.options.contains(.normalized) ? pattern : nil
    case .like:
      let prefix = pattern.dropLast()
      guard pattern.last == "*", !prefix.contains(where: { "*?\\".contains($0) }) else {
        return nil
      }
      return String(prefix)
    default: return nil
    }
  }

  /// Texts that begin with a prefix are those from it up to the first that does not.
  private static func range(_ column: SQLFragment, from prefix: String) -> SQLFragment {
    let low: SQLFragment = "\(column) >= \(bind: .text(prefix))"
    guard let end = firstText(after: prefix) else { return low }
    return "(\(low) AND \(column) < \(bind: .text(end)))"
  }

  /// The least text that is greater than all texts with a prefix, in the order of UTF-8's bytes,
  /// which is that of the scalars.
  ///
  /// Nil when there is none.
  private static func firstText(after prefix: String) -> String? {
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
