import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  func condition(
    _ comparison: NSComparisonPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let rules = ComparisonRules(comparison)
    if comparison.predicateOperatorType == .customSelector {
      throw TranslationError(
        rules.piece, "Only memory can compare by a method; the store needs SQL.")
    }
    if isConstant(comparison) { return .constant(try evaluated(comparison)) }
    let left = try settled(try operand(comparison.leftExpression, at: site), at: site)
    guard case .toMany(let path) = left, comparison.comparisonPredicateModifier != .direct else {
      return try compare(left, comparison.rightExpression, rules, at: site)
    }
    if comparison.comparisonPredicateModifier == .any {
      return try some(of: path, at: site) { element, inner throws(TranslationError) in
        try self.compare(element, comparison.rightExpression, rules, at: inner)
      }
    }
    return try every(of: path, at: site) { element, inner throws(TranslationError) in
      try self.compare(element, comparison.rightExpression, rules, at: inner)
    }
  }

  /// The answer of a comparison between constants, from memory.
  private func evaluated(
    _ comparison: NSComparisonPredicate
  ) throws(TranslationError) -> Bool {
    do {
      return try comparison.evaluation(of: nil)
    } catch {
      throw TranslationError(comparison.predicateFormat, "\(error)")
    }
  }

  /// Turns a path with an operator behind its to-many into the value it stands for.
  private func settled(
    _ operand: SQLOperand, at site: Site
  ) throws(TranslationError) -> SQLOperand {
    guard case .toMany(let path) = operand, case .operator = path.rest.first else {
      return operand
    }
    return try aggregate(path, at: site)
  }

  private func compare(
    _ left: SQLOperand, _ rightExpression: NSExpression, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let right = try settled(try operand(rightExpression, at: site), at: site)
    switch rules.type {
    case .equalTo, .notEqualTo:
      return try equal(left, right, rules, at: site)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return try ordered(left, right, rules)
    case .between: return try between(left, right, rules, at: site)
    case .in: return try contained(left, in: right, rules, at: site)
    case .contains: return try contains(left, right, rules, at: site)
    case .beginsWith, .endsWith, .like, .matches:
      return .sql(try matches(left, right, rules))
    case .customSelector:
      throw TranslationError(rules.piece, "Only memory can compare by a method.")
    }
  }

  // MARK: Elements of a to-many relationship

  /// Whether one element of a to-many satisfies a test.
  ///
  /// Where the whole condition hangs on it, the elements are joined, as Apple's SQL does, and the
  /// rows made distinct. Elsewhere a join would add or lose rows, so the elements are counted.
  func some(
    of path: ToManyPath, at site: Site,
    _ test: @escaping (SQLOperand, Site) throws(TranslationError) -> SQLCondition
  ) throws(TranslationError) -> SQLCondition {
    if site.isRequired, path.scope === root, site.scope === root, path.filter == nil {
      let position = join(path)
      return try element(path, at: position, in: site, nested: some, test)
    }
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      try self.element(path, at: position, in: inner, nested: self.some, test)
    }
    return .sql("\(count) > \(bind: .integer(0))")
  }

  /// Whether every element of a to-many satisfies a test: none is there for which it is not true.
  private func every(
    of path: ToManyPath, at site: Site,
    _ test: @escaping (SQLOperand, Site) throws(TranslationError) -> SQLCondition
  ) throws(TranslationError) -> SQLCondition {
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      let condition = try self.element(
        path, at: position, in: inner.optional, nested: self.every, test)
      guard case .sql(let fragment) = condition else { return .not(condition) }
      return .sql("\(fragment.inParentheses) IS NOT 1")
    }
    return .sql("\(count) = \(bind: .integer(0))")
  }

  private func element(
    _ path: ToManyPath, at position: TranslationPosition, in site: Site,
    nested: (
      ToManyPath, Site, @escaping (SQLOperand, Site) throws(TranslationError) -> SQLCondition
    ) throws(TranslationError) -> SQLCondition,
    _ test: @escaping (SQLOperand, Site) throws(TranslationError) -> SQLCondition
  ) throws(TranslationError) -> SQLCondition {
    let found = try settled(
      try walk(path.rest[...], from: position, in: site.scope, at: site, text: path.text),
      at: site)
    if case .toMany(let next) = found { return try nested(next, site, test) }
    return try test(found, site)
  }
}
