import OpenCoreData
import PostgresDriver

import class ManagedModel.NSComparisonPredicate
import class ManagedModel.NSCompositeAttributeDescription
import class ManagedModel.NSExpression

/// The operator and the options of a comparison.
struct ComparisonRules {
  let type: NSComparisonPredicate.Operator
  let options: NSComparisonPredicate.Options
  /// The comparison in predicate format, for messages.
  let piece: String

  init(_ comparison: NSComparisonPredicate) {
    self.init(
      comparison.predicateOperatorType, comparison.options, comparison.predicateFormat)
  }

  private init(
    _ type: NSComparisonPredicate.Operator, _ options: NSComparisonPredicate.Options,
    _ piece: String
  ) {
    (self.type, self.options, self.piece) = (type, options, piece)
  }

  /// Returns the same options with another operator.
  func with(_ type: NSComparisonPredicate.Operator) -> ComparisonRules {
    ComparisonRules(type, options, piece)
  }

  /// The same operator, which compares strings by their bytes.
  var withoutOptions: ComparisonRules { ComparisonRules(type, [], piece) }

  /// Whether strings are compared otherwise than by their bytes.
  var isLenient: Bool {
    !options.contains(.normalized)
      && !options.isDisjoint(with: [
        .caseInsensitive, .diacriticInsensitive, .localeSensitive, .widthInsensitive,
      ])
  }

  /// The operator in SQL.
  var sign: String {
    switch type {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .notEqualTo: "<>"
    default: "="
    }
  }
}

extension PredicateTranslator {
  /// Returns the condition of a comparison.
  func condition(
    _ comparison: NSComparisonPredicate, in scopes: [PredicateScope]
  ) throws -> SQLText {
    let rules = ComparisonRules(comparison)
    guard rules.type != .customSelector else {
      throw TranslationError(
        rules.piece,
        "A comparison by a method can be evaluated only in memory; SQL can't express it.")
    }
    if let group = try wholeGroup(comparison, in: scopes) { return group }
    let left = try aggregated(try operand(comparison.leftExpression, in: scopes), in: scopes)
    let right = comparison.rightExpression
    let modifier = comparison.comparisonPredicateModifier
    guard modifier != .direct else { return try compare(left, right, rules, in: scopes) }
    if case .toMany(let path) = left {
      let test: ElementTest = { try self.compare($0, right, rules, in: $1) }
      return modifier == .any
        ? try some(of: path, in: scopes, skipsNil: false, test)
        : try every(of: path, in: scopes, test)
    }
    if let elements = elements(of: left) {
      let conditions = try elements.map { try compare($0(scopes), right, rules, in: scopes) }
      return modifier == .any ? .any(conditions) : .all(conditions)
    }
    // The value of a to-one path, which isn't an element if it's nil.
    let condition = try compare(left, right, rules, in: scopes)
    return modifier == .any
      ? .all([try nilTest(left, isNil: false), condition])
      : .any([try nilTest(left, isNil: true), condition])
  }

  /// Replaces a path with an operator after its to-many with the operator's value.
  private func aggregated(
    _ operand: PredicateOperand, in scopes: [PredicateScope]
  ) throws -> PredicateOperand {
    guard case .toMany(let path) = operand, path.rest.first?.hasPrefix("@") == true else {
      return operand
    }
    return try aggregate(path, in: scopes)
  }

  private func compare(
    _ left: PredicateOperand, _ right: NSExpression, _ rules: ComparisonRules,
    in scopes: [PredicateScope]
  ) throws -> SQLText {
    try compare(left, try aggregated(try operand(right, in: scopes), in: scopes), rules, in: scopes)
  }

  private func compare(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules,
    in scopes: [PredicateScope]
  ) throws -> SQLText {
    if case .entity(let column, let mapping, let isName) = left {
      return try entity(column, mapping, isName: isName, right, rules)
    }
    if case .entity(let column, let mapping, let isName) = right {
      let mirrored = rules.type == .contains ? rules.with(.in) : rules
      return try entity(column, mapping, isName: isName, left, mirrored)
    }
    switch rules.type {
    case .equalTo, .notEqualTo: return try equal(left, right, rules)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return try ordered(left, right, rules)
    case .between: return try between(left, right, rules, in: scopes)
    case .in: return try contained(left, in: right, rules, in: scopes)
    case .contains:
      switch left {
      case .toMany, .list, .collection, .constant(nil):
        return try contained(right, in: left, rules, in: scopes)
      default: return try matches(left, right, rules)
      }
    case .beginsWith, .endsWith, .like, .matches: return try matches(left, right, rules)
    case .customSelector: throw TranslationError(rules.piece, "SQL can't compare by a method.")
    }
  }

  // MARK: Equality and order

  /// Returns `=` and `<>`, which find no rows without a value.
  func equal(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules
  ) throws -> SQLText {
    if left.isNil { return try nilTest(right, isNil: rules.type == .equalTo) }
    if right.isNil { return try nilTest(left, isNil: rules.type == .equalTo) }
    switch (left, right) {
    case (.object(let key, let mapping), .constant(let value)),
      (.constant(let value), .object(let key, let mapping)):
      let bound = try objectKey(value, mapping, rules.piece)
      return "\(key) \(raw: rules.sign) \(bind: .integer(bound))"
    case (.object(let first, let mapping), .object(let second, let other)):
      guard mapping.table === other.table else {
        return rules.type == .notEqualTo ? "TRUE" : "FALSE"
      }
      return "\(first) \(raw: rules.sign) \(second)"
    default: return try ordered(left, right, rules)
    }
  }

  private func ordered(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules
  ) throws -> SQLText {
    if left.isNil || right.isNil { return "NULL::boolean" }
    if rules.isLenient, let found = try lenient(left, right, rules) { return found }
    let (first, second) = try sides(left, right, rules.piece)
    return "\(first) \(raw: rules.sign) \(second)"
  }

  /// Returns `IS NULL` or `IS NOT NULL`.
  func nilTest(_ operand: PredicateOperand, isNil: Bool) throws -> SQLText {
    let test = isNil ? "IS NULL" : "IS NOT NULL"
    switch operand {
    case .value(let text, _), .object(let text, _), .entity(let text, _, _):
      return "\(text) \(raw: test)"
    case .constant(let value): return (value == nil) == isNil ? "TRUE" : "FALSE"
    case .collection, .list: return isNil ? "FALSE" : "TRUE"
    case .toMany(let path):
      throw TranslationError(path.text, "It's to-many, so it needs ANY, ALL, or @count.")
    }
  }

  private func between(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules,
    in scopes: [PredicateScope]
  ) throws -> SQLText {
    let bounds = try elements(of: right)?.map { try $0(scopes) } ?? []
    guard bounds.count == 2 else {
      throw TranslationError(rules.piece, "BETWEEN takes a lower and an upper bound.")
    }
    return .all([
      try ordered(left, bounds[0], rules.with(.greaterThanOrEqualTo)),
      try ordered(left, bounds[1], rules.with(.lessThanOrEqualTo)),
    ])
  }

  // MARK: Lists

  /// Returns functions that return the elements of a list; nil for another operand.
  private func elements(
    of operand: PredicateOperand
  ) -> [([PredicateScope]) throws -> PredicateOperand]? {
    switch operand {
    case .collection(let values): values.map { value in { _ in .constant(value) } }
    case .list(let expressions): expressions.map { each in { try self.operand(each, in: $0) } }
    default: nil
    }
  }

  private func contained(
    _ left: PredicateOperand, in right: PredicateOperand, _ rules: ComparisonRules,
    in scopes: [PredicateScope]
  ) throws -> SQLText {
    let equals = rules.with(.equalTo)
    switch right {
    case .constant(nil): return "FALSE"
    case .toMany(let path):
      return try some(of: path, in: scopes, skipsNil: left.isNil) { element, _ in
        try self.equal(element, left, equals)
      }
    case .list:
      let elements = try elements(of: right)?.map { try $0(scopes) } ?? []
      return .any(try elements.map { try equal(left, $0, equals) })
    case .collection(let values):
      var conditions = try list(left, values.compactMap { $0 }, equals)
      if values.contains(where: { $0 == nil }) {
        conditions.append(try nilTest(left, isNil: true))
      }
      return .any(conditions)
    default:
      // `part IN whole` is a search for a part of a string.
      return try matches(right, left, rules.with(.contains))
    }
  }

  /// Returns conditions of which one is true for an element of a list: values of one type are one
  /// array.
  private func list(
    _ left: PredicateOperand, _ values: [Any], _ rules: ComparisonRules
  ) throws -> [SQLText] {
    switch left {
    case .object(let key, let mapping):
      guard !values.isEmpty else { return [] }
      let keys = try values.map { try objectKey($0, mapping, rules.piece) }
      return ["\(key) = ANY(\(bind: .integers(keys)))"]
    case .value(_, let kind) where !(rules.isLenient && kind.isText):
      var arrays: [(column: SQLText, type: PostgresType, values: [PostgresValue])] = []
      for value in values {
        let (column, bound) = try bound(value, beside: left, rules.piece)
        if let index = arrays.firstIndex(where: { $0.type.oid == bound.oid }) {
          arrays[index].values.append(bound)
        } else if let type = PostgresType.of(bound) {
          arrays.append((column, type, [bound]))
        }
      }
      return arrays.map { "\($0.column) = ANY(\(bind: .array($0.type, $0.values)))" }
    default: return try values.map { try equal(left, .constant($0), rules) }
    }
  }

  // MARK: Entities and composite attributes

  /// Returns a comparison of an object's entity, or of its name, by the numbers of the entities
  /// that satisfy it.
  private func entity(
    _ column: SQLText, _ mapping: EntityMapping, isName: Bool, _ other: PredicateOperand,
    _ rules: ComparisonRules
  ) throws -> SQLText {
    let values: [Any?]
    switch other {
    case .constant(let value) where [.equalTo, .notEqualTo].contains(rules.type): values = [value]
    case .collection(let list) where rules.type == .in: values = list
    default:
      throw TranslationError(
        rules.piece, "The store compares an entity, or its name, with constants by ==, !=, and IN.")
    }
    guard !rules.isLenient else {
      throw TranslationError(rules.piece, "An entity's name is compared without options.")
    }
    if other.isNil {
      return try nilTest(
        .entity(column, mapping, isName: isName), isNil: rules.type == .equalTo)
    }
    let names = Set(
      values.compactMap { ($0 as? NSEntityDescription)?.name ?? $0 as? String })
    let isWanted = rules.type != .notEqualTo
    let numbers = schema.root(of: mapping).family.filter { names.contains($0.name) == isWanted }
      .map(\.number)
    return "\(column) = ANY(\(bind: .integers(numbers)))"
  }

  /// Returns a comparison of a whole composite attribute with nil, which means all its elements;
  /// nil for another comparison.
  private func wholeGroup(
    _ comparison: NSComparisonPredicate, in scopes: [PredicateScope]
  ) throws -> SQLText? {
    let type = comparison.predicateOperatorType
    guard [.equalTo, .notEqualTo].contains(type), comparison.comparisonPredicateModifier == .direct,
      comparison.leftExpression.expressionType == .keyPath,
      comparison.rightExpression.expressionType == .constantValue,
      Self.present(comparison.rightExpression.constantValue) == nil
    else { return nil }
    let path = comparison.leftExpression.keyPath
    let mapping = scopes[0].start.mapping
    let first = path.split(separator: ".").first.map(String.init) ?? ""
    guard mapping.entity.attributesByName[first] is NSCompositeAttributeDescription else {
      return nil
    }
    let elements = mapping.attributes.map(\.keyPath).filter { $0.hasPrefix(path + ".") }
    guard !elements.isEmpty else { return nil }
    let tests = try elements.map { keyPath in
      try nilTest(
        try operand(NSExpression(forKeyPath: keyPath), in: scopes), isNil: type == .equalTo)
    }
    return type == .equalTo ? .all(tests) : .any(tests)
  }
}

extension PostgresType {
  /// Returns the type of a parameter that isn't an array.
  static func of(_ value: PostgresValue) -> PostgresType? {
    [.boolean, .bytes, .integer, .text, .real, .numeric, .uuid].first { $0.oid == value.oid }
  }
}
