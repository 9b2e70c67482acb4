extension PredicateParser {
  /// What `ANY`, `ALL`, `NONE` and `SOME` ask of the left side.
  private struct Quantifier {
    let modifier: NSComparisonPredicate.Modifier
    let isNegated: Bool
  }

  /// `ANY a.b ==[cd] c`, or a lone term.
  mutating func comparison() throws(Failure) -> Term {
    let quantifier = takeQuantifier()
    let start = index
    let left = try binary(1)
    let isNegated = takeInfixNot()
    guard let name = takeOperator() else {
      if quantifier != nil || isNegated || isMisspeltOperator {
        throw unexpected("an operator such as == or BEGINSWITH")
      }
      return left
    }
    let leftExpression = try expression(left, from: start)
    let options = try options()
    let rightStart = index
    let rightExpression = try expression(try binary(1), from: rightStart)
    let predicate: NSPredicate
    switch name {
    case .standard(let type):
      predicate = NSComparisonPredicate(
        leftExpression: leftExpression, rightExpression: rightExpression,
        modifier: quantifier?.modifier ?? .direct, type: type, options: options)
    case .custom(let selector):
      predicate = NSComparisonPredicate(
        leftExpression: leftExpression, rightExpression: rightExpression,
        customSelectorName: selector)
    }
    if isNegated || quantifier?.isNegated == true {
      return .predicate(NSCompoundPredicate(notPredicateWithSubpredicate: predicate))
    }
    return .predicate(predicate)
  }

  private mutating func takeQuantifier() -> Quantifier? {
    guard let keyword else { return nil }
    let quantifier: Quantifier
    switch keyword {
    case .any, .some: quantifier = Quantifier(modifier: .any, isNegated: false)
    case .all: quantifier = Quantifier(modifier: .all, isNegated: false)
    case .none: quantifier = Quantifier(modifier: .any, isNegated: true)
    default: return nil
    }
    advance()
    return quantifier
  }

  /// Takes the NOT of `a NOT IN b`.
  private mutating func takeInfixNot() -> Bool {
    guard keyword == .not else { return false }
    advance()
    return true
  }

  private enum OperatorName {
    case standard(NSComparisonPredicate.Operator)
    case custom(String)
  }

  private mutating func takeOperator() -> OperatorName? {
    let name: OperatorName?
    switch kind {
    case .symbol(let symbol): name = symbol.comparison.map(OperatorName.standard)
    case .selector(let selector): name = .custom(selector)
    case .identifier(let word):
      switch keyword {
      case .utiConformsTo, .utiEquals: name = .custom(word.uppercased())
      case let keyword: name = keyword?.comparison.map(OperatorName.standard)
      }
    default: name = nil
    }
    if name != nil { advance() }
    return name
  }

  /// Whether a word stands between values that is none of the language's.
  private var isMisspeltOperator: Bool {
    guard case .identifier = kind else { return false }
    return keyword == nil
  }

  /// The letters in brackets after an operator.
  private mutating func options() throws(Failure) -> NSComparisonPredicate.Options {
    var options: NSComparisonPredicate.Options = []
    guard take(.leftBracket) else { return options }
    guard case .identifier(let letters) = kind else {
      throw unexpected("the letters c, d, n, l or w")
    }
    for (offset, letter) in letters.enumerated() {
      switch letter {
      case "c", "C": options.insert(.caseInsensitive)
      case "d", "D": options.insert(.diacriticInsensitive)
      case "n", "N": options.insert(.normalized)
      case "l", "L": options.insert(.localeSensitive)
      case "w", "W": options.insert(.widthInsensitive)
      default:
        throw error(
          "“\(letter)” is no option", at: token.start + offset,
          expected: "the letters c, d, n, l or w")
      }
    }
    advance()
    try expect(.rightBracket, "after the options")
    return options
  }
}

extension PredicateToken.Symbol {
  fileprivate var comparison: NSComparisonPredicate.Operator? {
    switch self {
    case .equal, .singleEqual: .equalTo
    case .notEqual, .lessGreater: .notEqualTo
    case .less: .lessThan
    case .lessOrEqual, .equalLess: .lessThanOrEqualTo
    case .greater: .greaterThan
    case .greaterOrEqual, .equalGreater: .greaterThanOrEqualTo
    default: nil
    }
  }
}
