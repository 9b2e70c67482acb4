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
    if comparison.isIndependentOfObject {
      isReusable = false
      return .constant(try evaluated(comparison))
    }
    if let whole = try wholeGroup(comparison, at: site) { return whole }
    let modifier = comparison.comparisonPredicateModifier
    // Looking for nil, a row without a partner is found too, so it must not be joined away; ALL
    // holds for such a row.
    let looksForNil = try looksForNil(comparison)
    let place = looksForNil || modifier == .all ? site.optional : site
    let left = try settled(try operand(comparison.leftExpression, at: place), at: place)
    guard modifier != .direct else {
      return try compare(left, comparison.rightExpression, rules, at: place)
    }
    guard case .toMany(let path) = left else {
      return try compare(
        eachOf: left, comparison, rules, looksForNil: looksForNil, at: place)
    }
    let test = { (element: SQLOperand, inner: Site) throws(TranslationError) -> SQLCondition in
      try self.compare(element, comparison.rightExpression, rules, at: inner)
    }
    return modifier == .any
      ? try some(of: path, at: site, skipsNil: looksForNil, test)
      : try every(of: path, at: site, test)
  }

  /// Whether a value that is nil makes the comparison true.
  private func looksForNil(_ comparison: NSComparisonPredicate) throws(TranslationError) -> Bool {
    guard [.equalTo, .in, .contains].contains(comparison.predicateOperatorType) else {
      return false
    }
    for side in [comparison.leftExpression, comparison.rightExpression]
    where side.isIndependentOfObject {
      switch try constant(side).value {
      case .null: return true
      case .collection(let collection) where collection.elements.contains(where: \.isNull):
        return true
      default: break
      }
    }
    return false
  }

  /// The answer of a comparison between constants, from memory.
  func evaluated(
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

  /// ANY and ALL of what is no to-many relationship: a list, or the one value of a to-one path, of
  /// which there is none when it is nil.
  private func compare(
    eachOf left: SQLOperand, _ comparison: NSComparisonPredicate, _ rules: ComparisonRules,
    looksForNil: Bool, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    try refuseElements(of: left)
    let isAny = comparison.comparisonPredicateModifier == .any
    let right = comparison.rightExpression
    var elements: [SQLOperand]?
    switch left {
    case .constant(let constant): elements = constant.elements?.map { .constant($0) }
    case .list: elements = try self.elements(of: left, at: site, rules)
    default: break
    }
    if let elements {
      var conditions: [SQLCondition] = []
      for element in elements {
        conditions.append(try compare(element, right, rules, at: site.optional))
      }
      return isAny ? .any(conditions) : .all(conditions)
    }
    let condition = try compare(left, right, rules, at: site)
    let isNil = rules.with(.equalTo)
    if !isAny { return .any([.sql(try nullTest(left, isNil)), condition]) }
    // Under a NOT no value must be no match, not an unknown one.
    guard looksForNil || !site.isRequired else { return condition }
    return .all([.sql(try nullTest(left, rules.with(.notEqualTo))), condition])
  }

  private func compare(
    _ left: SQLOperand, _ rightExpression: NSExpression, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let right = try settled(try operand(rightExpression, at: site), at: site)
    if case .entity(let column, let entity, let isName) = left {
      return try entityCondition(column, entity, isName: isName, right, rules)
    }
    if case .entity(let column, let entity, let isName) = right,
      [.equalTo, .notEqualTo, .contains].contains(rules.type)
    {
      let mirrored = rules.type == .contains ? rules.with(.in) : rules
      return try entityCondition(column, entity, isName: isName, left, mirrored)
    }
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
  ///
  /// - Parameter skipsNil: Whether the test may be true of nil, which is no element: a key path over a
  ///   set gives a set without nils.
  func some(
    of path: ToManyPath, at site: Site, skipsNil: Bool, _ test: @escaping ElementTest
  ) throws(TranslationError) -> SQLCondition {
    if joinsToMany, site.isRequired, path.scope === root, site.scope === root, path.filter == nil {
      isDistinct = true
      let position = join(path, isRequired: true)
      let found = try element(of: path, at: position, in: site)
      if case .toMany(let next) = found {
        return try some(of: next, at: site, skipsNil: skipsNil, test)
      }
      return .all(
        try notNil(found, skipsNil && !path.rest.isEmpty) + [try test(found, site)])
    }
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      let found = try self.element(of: path, at: position, in: inner)
      if case .toMany(let next) = found {
        return try self.some(of: next, at: inner, skipsNil: skipsNil, test)
      }
      return .all(
        try self.notNil(found, skipsNil && !path.rest.isEmpty) + [try test(found, inner)])
    }
    return .sql("\(count) > \(bind: .integer(0))")
  }

  /// Whether every element of a to-many satisfies a test: none is there for which it is not true.
  private func every(
    of path: ToManyPath, at site: Site, _ test: @escaping ElementTest
  ) throws(TranslationError) -> SQLCondition {
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      let found = try self.element(of: path, at: position, in: inner.optional)
      let condition: SQLCondition
      var present: [SQLCondition] = []
      if case .toMany(let next) = found {
        condition = try self.every(of: next, at: inner.optional, test)
      } else {
        present = try self.notNil(found, !path.rest.isEmpty)
        condition = try test(found, inner.optional)
      }
      guard case .sql(let fragment) = condition else { return .all(present + [.not(condition)]) }
      return .all(present + [.sql("\(fragment.inParentheses) IS NOT 1")])
    }
    return .sql("\(count) = \(bind: .integer(0))")
  }

  /// The condition that an element isn't nil, or none.
  private func notNil(
    _ element: SQLOperand, _ isNeeded: Bool
  ) throws(TranslationError) -> [SQLCondition] {
    isNeeded ? [.sql(try present(element))] : []
  }

  /// What is compared of an element: itself, or the value at the end of the path.
  private func element(
    of path: ToManyPath, at position: TranslationPosition, in site: Site
  ) throws(TranslationError) -> SQLOperand {
    let found = try walk(path.rest[...], from: position, in: site.scope, at: site, text: path.text)
    if case .toMany(let inner) = found, case .operator(let operation) = inner.rest.first {
      let name = path.relationship.relationship.name
      throw TranslationError(
        path.text,
        "The path gives a set of sets, and \(operation.rawValue) one value for all of them, which "
          + "has no SQL. Use SUBQUERY(\(name), $x, $x.\(inner.relationship.relationship.name)."
          + "\(operation.rawValue) …).@count.")
    }
    return found
  }
}
