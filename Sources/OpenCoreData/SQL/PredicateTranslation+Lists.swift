import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Longer lists of whole numbers are bound as a table.
  private static let longestNumberList = 16

  /// Longer lists of other values are refused: SQLite takes that many `?`s.
  private static let longestList = 30_000

  func between(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let bounds = try elements(of: right, at: site, rules)
    guard bounds.count == 2 else {
      throw TranslationError(
        rules.piece, "BETWEEN takes a lower and an upper bound, not \(bounds.count) values.")
    }
    if case .constant = left {
      return .all([
        try ordered(bounds[0], left, rules.with(.lessThanOrEqualTo)),
        try ordered(left, bounds[1], rules.with(.lessThanOrEqualTo)),
      ])
    }
    if rules.isLenient {
      return .all([
        try ordered(left, bounds[0], rules.with(.greaterThanOrEqualTo)),
        try ordered(left, bounds[1], rules.with(.lessThanOrEqualTo)),
      ])
    }
    let (value, low) = try sides(left, bounds[0], rules)
    let (_, high) = try sides(left, bounds[1], rules)
    return .sql("\(value) BETWEEN \(low) AND \(high)")
  }

  func contained(
    _ left: SQLOperand, in right: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    switch right {
    case .constant(.null): return .constant(false)
    case .toMany(let path):
      return try some(of: path, at: site, keepsNil: false) {
        element, inner throws(TranslationError) in
        try self.equal(element, left, rules.with(.equalTo), at: inner)
      }
    case .list:
      let elements = try elements(of: right, at: site, rules)
      var conditions: [SQLCondition] = []
      for element in elements {
        conditions.append(try equal(left, element, rules.with(.equalTo), at: site))
      }
      return .any(conditions)
    case .constant(.collection(let collection)):
      return try contained(left, in: collection.elements, rules, at: site)
    default:
      // `part IN whole` looks for a text in a text.
      return .sql(try matches(right, left, rules.with(.contains)))
    }
  }

  func contains(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    switch left {
    case .toMany, .list, .constant(.collection), .constant(.null):
      try contained(right, in: left, rules, at: site)
    default:
      .sql(try matches(left, right, rules))
    }
  }

  private func contained(
    _ left: SQLOperand, in values: [PredicateValue], _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let present = values.filter { !$0.isNull }
    var conditions: [SQLCondition] = []
    if let list = try list(present, left, rules, at: site) { conditions.append(list) }
    if present.count < values.count {
      conditions.append(try equal(left, .constant(.null), rules.with(.equalTo), at: site))
    }
    return .any(conditions)
  }

  private func list(
    _ values: [PredicateValue], _ left: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition? {
    guard !values.isEmpty else { return nil }
    if case .object(let key, let entity) = left {
      var keys: ContiguousArray<Int64> = []
      for value in values { keys.append(try self.key(of: value, as: entity, rules)) }
      return .sql("\(key) IN (SELECT * FROM \(raw: intArray(keys))) ")
    }
    if rules.isLenient, isText(left) {
      var conditions: [SQLCondition] = []
      for value in values {
        conditions.append(try ordered(left, .constant(value), rules.with(.equalTo)))
      }
      return .any(conditions)
    }
    var column: SQLFragment = ""
    var binds: [SQLiteValue] = []
    for value in values {
      let (first, second) = try sides(left, .constant(value), rules)
      column = first
      binds += second.binds
    }
    let numbers = binds.compactMap { if case .integer(let number) = $0 { number } else { nil } }
    if numbers.count == binds.count, numbers.count > Self.longestNumberList {
      return .sql("\(column) IN (SELECT * FROM \(raw: intArray(ContiguousArray(numbers)))) ")
    }
    guard binds.count <= Self.longestList else {
      throw TranslationError(
        "the list of \(binds.count) values",
        "At most \(Self.longestList) values that are no whole numbers fit into one SELECT.")
    }
    let marks = repeatElement("?", count: binds.count).joined(separator: ", ")
    return .sql(column + SQLFragment(sql: " IN (\(marks))", binds: binds))
  }

  private func elements(
    of operand: SQLOperand, at site: Site, _ rules: ComparisonRules
  ) throws(TranslationError) -> [SQLOperand] {
    switch operand {
    case .constant(.collection(let collection)): return collection.elements.map { .constant($0) }
    case .list(let expressions):
      var operands: [SQLOperand] = []
      for expression in expressions { operands.append(try self.operand(expression, at: site)) }
      return operands
    default:
      throw TranslationError(rules.piece, "A list of values is needed on the right.")
    }
  }
}
