internal import Foundation

extension PredicateParser {
  /// The quantifier of a comparison: `ANY`, `ALL`, `NONE`, or `SOME`.
  private struct Quantifier {
    let modifier: NSComparisonPredicate.Modifier
    let isNegated: Bool
  }

  /// Parses `ANY a.b ==[cd] c`, or a single term.
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
    let first = token
    let options = try options()
    if case .custom(let selector) = name, !options.isEmpty {
      throw error("\(selector) has no options", at: first.start, expected: "a value")
    }
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
        customSelectorName: selector, modifier: quantifier?.modifier ?? .direct)
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

  /// Consumes the NOT of `a NOT IN b`, and returns whether there is one.
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

  /// Whether the current token is an unknown word instead of an operator.
  private var isMisspeltOperator: Bool {
    guard case .identifier = kind else { return false }
    return keyword == nil
  }

  /// Parses the letters in brackets after an operator.
  private mutating func options() throws(Failure) -> NSComparisonPredicate.Options {
    var options: NSComparisonPredicate.Options = []
    guard take(.leftBracket) else { return options }
    guard case .identifier(let letters) = kind else {
      throw unexpected("the letters c, d, n, l, or w")
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
          "“\(letter)” isn't an option", at: token.start + offset,
          expected: "the letters c, d, n, l, or w")
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

extension PredicateParser {
  /// Parses a call such as `sum(a)`, `sum:(a, b)`, `modulus:by:(a, b)`, or `now()`.
  mutating func call(_ name: String) throws(Failure) -> NSExpression {
    let first = token
    advance()
    try expect(.leftParenthesis, "before the arguments of \(name)")
    let arguments = try list(until: .rightParenthesis)
    if name.lowercased() == "objectfrom:withindex:", arguments.count == 2 {
      return NSExpression(.subscripted(arguments[0], .expression(arguments[1])))
    }
    guard let function = PredicateFunction.named(name, argumentCount: arguments.count) else {
      let names = PredicateFunction.allCases.map(\.formatName)
      throw error(
        "there's no function \(name)", at: first.start,
        suggestion: NearestName.of(name, among: names))
    }
    guard function.accepts(arguments.count) else {
      throw error(
        "\(name) has \(PluralForm.counted(arguments.count, "argument"))", at: first.start,
        expected: function.arityText)
    }
    return try checked(NSExpression(.function(function, arguments)))
  }

  /// Parses `SUBQUERY(collection, $x, $x.age > 3)`.
  mutating func subquery() throws(Failure) -> NSExpression {
    advance()
    try expect(.leftParenthesis, "after SUBQUERY")
    let collection = try expression()
    try expect(.comma, "after the collection")
    guard case .variable(let name) = kind else {
      throw unexpected("a variable such as $x")
    }
    advance()
    try expect(.comma, "after the variable")
    let predicate = try predicate()
    try expect(.rightParenthesis, "to close SUBQUERY")
    return NSExpression(.subquery(collection, variable: name, predicate))
  }

  /// Parses `TERNARY(a > b, a, b)`.
  mutating func ternary() throws(Failure) -> NSExpression {
    advance()
    try expect(.leftParenthesis, "after TERNARY")
    let predicate = try predicate()
    try expect(.comma, "after the condition")
    let yes = try expression()
    try expect(.comma, "between the two values")
    let no = try expression()
    try expect(.rightParenthesis, "to close TERNARY")
    return NSExpression(.conditional(predicate, yes, no))
  }

  /// Parses `FETCH(request, context, YES)`: the objects of a fetch, or their number with `YES`.
  mutating func fetch() throws(Failure) -> NSExpression {
    advance()
    try expect(.leftParenthesis, "after FETCH")
    let request = try expression()
    try expect(.comma, "after the fetch request")
    let context = try expression()
    try expect(.comma, "after the context")
    let first = token
    guard case .constant(let flag) = try expression().node, flag.isNumber else {
      throw error("countOnly isn't a Boolean", at: first.start, expected: "YES or NO")
    }
    try expect(.rightParenthesis, "to close FETCH")
    return NSExpression(
      .fetch(request, context: context, countOnly: (flag.exactInteger ?? 0) != 0))
  }

  /// Parses `FUNCTION(operand, "selector:", arguments…)`.
  mutating func method() throws(Failure) -> NSExpression {
    advance()
    try expect(.leftParenthesis, "after FUNCTION")
    let operand = try expression()
    try expect(.comma, "after the operand")
    let first = token
    guard case .constant(let name) = try expression().node else {
      throw error("the method's name isn't a string", at: first.start, expected: "a quoted name")
    }
    let selector: String
    switch name {
    case .string(let text), .placeholder(let text): selector = text
    default:
      throw error("the method's name isn't a string", at: first.start, expected: "a quoted name")
    }
    let arguments = take(.comma) ? try list(until: .rightParenthesis) : []
    if arguments.isEmpty { try expect(.rightParenthesis, "to close FUNCTION") }
    if selector == "valueForKeyPath:", arguments.count == 1,
      case .constant(.string(let keyPath)) = arguments[0].node
    {
      return NSExpression(.path(operand, NSExpression(forKeyPath: keyPath)))
    }
    return NSExpression(.method(operand, selector, arguments))
  }

  /// Parses `CAST(value, "NSDate")`.
  ///
  /// Casts of constants are evaluated immediately, because constants are printed as casts.
  mutating func cast() throws(Failure) -> NSExpression {
    advance()
    try expect(.leftParenthesis, "after CAST")
    let value = try expression()
    try expect(.comma, "after the value")
    let first = token
    let type = try expression()
    try expect(.rightParenthesis, "to close CAST")
    guard case .constant(.string(let name)) = type.node else {
      return NSExpression(.function(.cast, [value, type]))
    }
    guard let target = CastTarget(rawValue: name) else {
      let names = CastTarget.allCases.map(\.rawValue)
      throw error(
        "CAST doesn't support the type “\(name)”", at: first.start,
        expected: names.joined(separator: " "),
        suggestion: NearestName.of(name, among: names))
    }
    if case .constant(let constant) = value.node, target.isFolded, !constant.isPlaceholder {
      guard let cast = target.cast(constant) else {
        throw error("\(value) isn't a \(name)", at: first.start)
      }
      return NSExpression(.constant(cast))
    }
    return NSExpression(.function(.cast, [value, type]))
  }
}

extension PredicateValue {
  var isPlaceholder: Bool {
    if case .placeholder = self { true } else { false }
  }
}
