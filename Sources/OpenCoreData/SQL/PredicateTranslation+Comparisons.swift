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
    // Looking for nil, a row without a partner is found too, so it must not be joined away.
    let looksForNil = try looksForNil(comparison)
    let place = looksForNil ? site.optional : site
    let left = try settled(try operand(comparison.leftExpression, at: place), at: place)
    guard case .toMany(let path) = left, comparison.comparisonPredicateModifier != .direct else {
      return try compare(left, comparison.rightExpression, rules, at: place)
    }
    let test = { (element: SQLOperand, inner: Site) throws(TranslationError) -> SQLCondition in
      try self.compare(element, comparison.rightExpression, rules, at: inner)
    }
    return comparison.comparisonPredicateModifier == .any
      ? try some(of: path, at: site, keepsNil: looksForNil, test)
      : try every(of: path, at: site, keepsNil: looksForNil, test)
  }

  /// Whether a value that is nil makes the comparison true.
  private func looksForNil(_ comparison: NSComparisonPredicate) throws(TranslationError) -> Bool {
    guard [.equalTo, .in, .contains].contains(comparison.predicateOperatorType) else {
      return false
    }
    for side in [comparison.leftExpression, comparison.rightExpression] where isConstant(side) {
      switch try constant(side) {
      case .null: return true
      case .collection(let collection) where collection.elements.contains(where: \.isNull):
        return true
      default: break
      }
    }
    return false
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

  typealias ElementTest = (SQLOperand, Site) throws(TranslationError) -> SQLCondition

  /// Whether one element of a to-many satisfies a test.
  ///
  /// Where the whole condition hangs on it, the elements are joined, as Apple's SQL does, and the
  /// rows made distinct. Elsewhere a join would add or lose rows, so the elements are counted.
  func some(
    of path: ToManyPath, at site: Site, keepsNil: Bool, _ test: @escaping ElementTest
  ) throws(TranslationError) -> SQLCondition {
    if site.isRequired, path.scope === root, site.scope === root, path.filter == nil {
      let position = join(path)
      let found = try element(of: path, at: position, in: keepsNil ? site.optional : site)
      if case .toMany(let next) = found {
        return try some(of: next, at: site, keepsNil: keepsNil, test)
      }
      return try test(found, site)
    }
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      let found = try self.element(of: path, at: position, in: keepsNil ? inner.optional : inner)
      if case .toMany(let next) = found {
        return try self.some(of: next, at: inner, keepsNil: keepsNil, test)
      }
      return try test(found, inner)
    }
    return .sql("\(count) > \(bind: .integer(0))")
  }

  /// Whether every element of a to-many satisfies a test: none is there for which it is not true.
  private func every(
    of path: ToManyPath, at site: Site, keepsNil: Bool, _ test: @escaping ElementTest
  ) throws(TranslationError) -> SQLCondition {
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      let found = try self.element(of: path, at: position, in: inner.optional)
      let condition =
        if case .toMany(let next) = found {
          try self.every(of: next, at: inner.optional, keepsNil: keepsNil, test)
        } else {
          try test(found, inner.optional)
        }
      guard case .sql(let fragment) = condition else { return .not(condition) }
      return .sql("\(fragment.inParentheses) IS NOT 1")
    }
    return .sql("\(count) = \(bind: .integer(0))")
  }

  /// What is compared of an element: itself, or the value at the end of the path.
  private func element(
    of path: ToManyPath, at position: TranslationPosition, in site: Site
  ) throws(TranslationError) -> SQLOperand {
    try settled(
      try walk(path.rest[...], from: position, in: site.scope, at: site, text: path.text),
      at: site)
  }
}
