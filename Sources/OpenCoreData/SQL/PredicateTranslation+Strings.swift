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
    if let range = range(whole, text, pattern, rules) { return range }
    switch rules.type {
    case .like:
      return " NSCoreDataLike(\(whole), \(part), \(raw: lenience(rules)))"
    case .matches:
      let part = try checked(pattern, rules) ?? part
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
    if isText(operand) || operand.isNull { return }
    switch operand {
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
  private func checked(
    _ pattern: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLFragment? {
    guard case .constant(let constant) = pattern, let text = constant.value.string else {
      return nil
    }
    do {
      _ = try StringMatching.matches("", text, rules.options)
    } catch {
      throw TranslationError(rules.piece, "\(error).")
    }
    return bind(constant, as: .pattern).map { "\(bind: $0)" }
  }

  private func lenience(_ rules: ComparisonRules) -> UInt {
    rules.isLenient ? rules.options.rawValue : 0
  }

  /// The bounds that say the same as the function, nil where none do.
  ///
  /// Texts that begin with a prefix are those from it up to the first that does not.
  private func range(
    _ column: SQLFragment, _ text: SQLOperand, _ pattern: SQLOperand, _ rules: ComparisonRules
  ) -> SQLFragment? {
    guard case .attribute = text, case .constant(let constant) = pattern, !rules.isLenient,
      let pattern = constant.value.string
    else { return nil }
    let forms: (low: BindForm, high: BindForm)
    switch rules.type {
    case .beginsWith where rules.options.contains(.normalized): forms = (.prefix, .prefixEnd)
    case .like where TextPrefix(like: pattern) != nil: forms = (.likePrefix, .likePrefixEnd)
    default: return nil
    }
    guard let low = bind(constant, as: forms.low) else { return nil }
    let lowest: SQLFragment = "\(column) >= \(bind: low)"
    guard let high = bind(constant, as: forms.high) else {
      // Without an end the text is another one.
      isReusable = false
      return lowest
    }
    return "(\(lowest) AND \(column) < \(bind: high))"
  }
}
