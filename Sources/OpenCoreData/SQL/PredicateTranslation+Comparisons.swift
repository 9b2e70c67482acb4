import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  func condition(
    _ comparison: NSComparisonPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let rules = ComparisonRules(comparison)
    if comparison.predicateOperatorType == .customSelector {
      throw TranslationError(
        rules.piece,
        "A comparison by a method can be evaluated only in memory; it can't be translated to SQL.")
    }
    if comparison.isIndependentOfObject {
      isReusable = false
      return .constant(try evaluated(comparison))
    }
    if let whole = try wholeGroup(comparison, at: site) { return whole }
    let modifier = comparison.comparisonPredicateModifier
    // A comparison with nil must also match a row without a partner, so an inner join can't be
    // used; ALL is true for such a row.
    let looksForNil = try looksForNil(comparison)
    let site = looksForNil || modifier == .all ? site.optional : site
    let left = try applyingOperator(try operand(comparison.leftExpression, at: site), at: site)
    guard modifier != .direct else {
      return try compare(left, comparison.rightExpression, rules, at: site)
    }
    guard case .toMany(let path) = left else {
      return try compare(
        eachOf: left, comparison, rules, looksForNil: looksForNil, at: site)
    }
    let test = { (element: SQLOperand, inner: Site) throws(TranslationError) -> SQLCondition in
      try self.compare(element, comparison.rightExpression, rules, at: inner)
    }
    return modifier == .any
      ? try some(of: path, at: site, finds: looksForNil ? .nilToo : .values, test)
      : try every(of: path, at: site, test)
  }

  /// Returns whether a `nil` value makes the comparison true.
  private func looksForNil(_ comparison: NSComparisonPredicate) throws(TranslationError) -> Bool {
    guard [.equalTo, .in, .contains].contains(comparison.predicateOperatorType) else {
      return false
    }
    let sides = [comparison.leftExpression, comparison.rightExpression].flatMap { side in
      if case .aggregate(let elements) = side.node { elements } else { [side] }
    }
    for side in sides where side.isIndependentOfObject {
      switch try constant(side).value {
      case .null: return true
      case .collection(let collection) where collection.elements.contains(where: \.isNull):
        return true
      default: break
      }
    }
    return false
  }

  /// Returns the result of a comparison between constants, evaluated in memory.
  func evaluated(
    _ comparison: NSComparisonPredicate
  ) throws(TranslationError) -> Bool {
    do {
      return try comparison.evaluation(of: nil)
    } catch {
      throw TranslationError(comparison.predicateFormat, "\(error)")
    }
  }

  /// Replaces a path with an operator after its to-many with the operator's value.
  func applyingOperator(
    _ operand: SQLOperand, at site: Site
  ) throws(TranslationError) -> SQLOperand {
    guard case .toMany(let path) = operand, case .operator = path.rest.first else {
      return operand
    }
    return try aggregate(path, at: site)
  }

  /// Compares with ANY or ALL a list or the value of a to-one path, which isn't an element if
  /// `nil`.
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
    case .list: elements = try self.elements(of: left, at: site.optional, rules)
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
    // Under a NOT, no value must mean no match rather than unknown.
    guard looksForNil || !site.isRequired else { return condition }
    return .all([.sql(try nullTest(left, rules.with(.notEqualTo))), condition])
  }

  private func compare(
    _ left: SQLOperand, _ rightExpression: NSExpression, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let right = try applyingOperator(try operand(rightExpression, at: site), at: site)
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
      throw TranslationError(
        rules.piece, "A comparison that calls a method can be evaluated only in memory.")
    }
  }

  // MARK: Elements of a to-many relationship

  /// The elements of a to-many that satisfy a test.
  enum FoundElements {
    /// The test is never true for `nil`.
    case values
    /// Those without a value, too: `ANY pets.age == nil`.
    case nilToo
    /// Those with a value, because a key path over a set returns a set without nils:
    /// `nil IN pets.age`.
    case notNil
  }

  typealias ElementTest = (SQLOperand, Site) throws(TranslationError) -> SQLCondition

  /// Returns the condition that an element of a to-many satisfies a test.
  ///
  /// If the whole condition depends on it, the elements are joined, as in Core Data's SQL, and the
  /// rows made distinct. Otherwise a join would add or lose rows, so the elements are counted, as
  /// they are if half of the tables that SQLite can join are joined: key paths may need the others.
  ///
  /// - Parameter kind: Whether the test may be true for an element without a value.
  func some(
    of path: ToManyPath, at site: Site, finds kind: FoundElements, _ test: @escaping ElementTest
  ) throws(TranslationError) -> SQLCondition {
    if joinsToMany, site.isRequired, path.scope === root, site.scope === root, path.filter == nil,
      root.tableCount <= StoreLimits.joinedTables / 2
    {
      isDistinct = true
      let position = join(path, isRequired: true)
      let found = try element(of: path, at: position, in: site)
      if case .toMany(let next) = found {
        return try some(of: next, at: site, finds: kind, test)
      }
      return .all(
        try notNil(found, kind == .notNil && !path.rest.isEmpty) + [try test(found, site)])
    }
    let count = try countFragment(path, at: site) { position, inner throws(TranslationError) in
      // An inner join would lose an element whose path ends early.
      let inner = kind == .nilToo ? inner.optional : inner
      let found = try self.element(of: path, at: position, in: inner)
      if case .toMany(let next) = found {
        return try self.some(of: next, at: inner, finds: kind, test)
      }
      return .all(
        try self.notNil(found, kind == .notNil && !path.rest.isEmpty) + [try test(found, inner)])
    }
    return .sql("\(count) > \(bind: .integer(0))")
  }

  /// Returns the condition that every element of a to-many satisfies a test: there's none for
  /// which it isn't true.
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

  /// Returns the condition that an element isn't `nil`, or none.
  private func notNil(
    _ element: SQLOperand, _ isNeeded: Bool
  ) throws(TranslationError) -> [SQLCondition] {
    isNeeded ? [.sql(try present(element))] : []
  }

  /// Returns the compared value of an element: itself, or the value at the end of the path.
  private func element(
    of path: ToManyPath, at position: TranslationPosition, in site: Site
  ) throws(TranslationError) -> SQLOperand {
    let found = try walk(path.rest[...], from: position, in: site.scope, at: site, text: path.text)
    if case .toMany(let inner) = found, case .operator(let operation) = inner.rest.first {
      let name = path.relationship.relationship.name
      throw TranslationError(
        path.text,
        "The path continues past two to-many relationships, so \(operation.rawValue) would combine all "
          + "their elements, which can't be translated to SQL. Use SUBQUERY(\(name), $x, "
          + "$x.\(inner.relationship.relationship.name).\(operation.rawValue) …).@count.")
    }
    return found
  }
}

extension PredicateTranslation {
  /// Returns `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE`, and `MATCHES` between two strings.
  ///
  /// All of them call a function for every row, as in Core Data. Two forms compare with bounds
  /// instead, which an index can support: `BEGINSWITH[n]`, and `LIKE` with one `*` at the end.
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
        rules.piece, "\(attribute) isn't a string, so it can't be searched in the store.")
    case .toMany(let path):
      throw TranslationError(rules.piece, path.reason)
    default:
      throw TranslationError(rules.piece, "Both sides must be strings.")
    }
  }

  /// Throws for an invalid regular expression, before a row is read.
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

  /// Returns bounds that are equivalent to the function; `nil` if there are none.
  ///
  /// Strings with a prefix are those from it up to the first that doesn't begin with it.
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
      // Without an upper bound the SQL text differs.
      isReusable = false
      return lowest
    }
    return "(\(lowest) AND \(column) < \(bind: high))"
  }
}

extension PredicateTranslation {
  /// Returns a comparison of an object's entity, or of its name, by the IDs of the entities that
  /// satisfy it.
  func entityCondition(
    _ column: SQLFragment, _ entity: SQLEntity, isName: Bool, _ other: SQLOperand,
    _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLCondition {
    if other.isNull { return .sql(try nullTest(.entity(column, entity, isName: isName), rules)) }
    if case .entity(let otherColumn, let otherEntity, isName) = other,
      rules.type == .equalTo || rules.type == .notEqualTo
    {
      // Entities with one name are one entity, so names are compared by IDs too.
      guard entity.root === otherEntity.root else {
        return .constant(rules.type == .notEqualTo)
      }
      return .sql("\(column) \(raw: rules.sign) \(otherColumn)")
    }
    guard case .constant(let constant) = other,
      isName || [.equalTo, .notEqualTo, .in].contains(rules.type)
    else {
      throw TranslationError(
        rules.piece, "An entity can be compared only with entities, and its name only with strings."
      )
    }
    // The IDs of entities that satisfy it are part of the text.
    isReusable = false
    var numbers: [Int] = []
    for candidate in entity.family where try matches(candidate, rules, constant) {
      numbers.append(candidate.number)
    }
    return Self.condition(column, is: numbers.sorted())
  }

  /// Returns the condition that a row's entity has one of the IDs.
  static func condition(_ column: SQLFragment, is numbers: [Int]) -> SQLCondition {
    let binds = numbers.map { SQLBind.value(.integer(Int64($0))) }
    switch numbers.count {
    case 0: return .constant(false)
    case 1: return .sql(column + SQLFragment(sql: " = ?", binds: binds))
    default:
      let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
      return .sql(column + SQLFragment(sql: " IN (\(marks))", binds: binds))
    }
  }

  private func matches(
    _ entity: SQLEntity, _ rules: ComparisonRules, _ constant: PredicateConstant
  ) throws(TranslationError) -> Bool {
    // Entities are compared by name: another instance of the model has equal ones.
    let comparison = NSComparisonPredicate(
      leftExpression: NSExpression(forConstantValue: entity.name),
      rightExpression: NSExpression(forConstantValue: Self.names(constant.value)),
      modifier: .direct, type: rules.type, options: rules.options)
    return try evaluated(comparison)
  }

  /// Returns a constant with entities replaced by their names.
  private static func names(_ value: PredicateValue) -> Any? {
    switch value {
    case .object(let object):
      (object.base as? NSEntityDescription)?.name ?? value.original
    case .collection(let collection): collection.elements.map { names($0) ?? NSNull() }
    default: value.original
    }
  }
}
