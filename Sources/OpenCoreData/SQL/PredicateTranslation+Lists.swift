import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// The maximum length of lists bound as parameters; longer lists are bound as JSON.
  private static let longestList = 30_000

  /// The same for lists of bytes, such as UUIDs; longer lists are part of the text.
  private static let longestListOfBytes = 31_000

  /// The same for lists of strings that are compared by a function.
  private static let longestLenientList = 16

  func between(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let bounds = try elements(of: right, at: site, rules)
    guard bounds.count == 2 else {
      throw TranslationError(
        rules.piece,
        "BETWEEN takes a lower and an upper bound, not "
          + "\(PluralForm.counted(bounds.count, "value")).")
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
    case _ where right.isNull: return .constant(false)
    case .toMany(let path):
      return try some(of: path, at: site, finds: left.isNull ? .notNil : .values) {
        element, inner throws(TranslationError) in
        try self.equal(element, left, rules.with(.equalTo), at: inner)
      }
    case .list:
      // A row without one of the elements may contain the value in another.
      let elements = try elements(of: right, at: site.optional, rules)
      var conditions: [SQLCondition] = []
      for element in elements {
        conditions.append(try equal(left, element, rules.with(.equalTo), at: site))
      }
      return .any(conditions)
    case .constant(let constant) where constant.elements != nil:
      return try contained(left, in: constant, constant.elements ?? [], rules, at: site)
    default:
      // `part IN whole` is a substring search.
      return .sql(try matches(right, left, rules.with(.contains)))
    }
  }

  func contains(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    switch left {
    case .toMany, .list: return try contained(right, in: left, rules, at: site)
    case .constant(let constant) where constant.isNull || constant.elements != nil:
      return try contained(right, in: left, rules, at: site)
    default: return .sql(try matches(left, right, rules))
    }
  }

  private func contained(
    _ left: SQLOperand, in whole: PredicateConstant, _ elements: [PredicateConstant],
    _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    let present = elements.filter { !$0.isNull }
    var conditions: [SQLCondition] = []
    if let list = try list(whole, present, left, rules) { conditions.append(list) }
    if present.count < elements.count {
      conditions.append(.sql(try nullTest(left, rules.with(.equalTo))))
    }
    return .any(conditions)
  }

  /// Returns the condition that a value is in a constant list.
  ///
  /// Integers and keys are in `_Z_intarrayN`, so that the text doesn't depend on how many there
  /// are; other values are bound as parameters.
  private func list(
    _ whole: PredicateConstant, _ values: [PredicateConstant], _ left: SQLOperand,
    _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLCondition? {
    guard !values.isEmpty else {
      isReusable = false
      return nil
    }
    if case .object(let key, let entity) = left {
      for value in values { _ = try self.key(of: value, as: entity, rules) }
      return .sql("\(key) IN (SELECT * FROM \(raw: keyArray(whole, values, entity))) ")
    }
    let isOfIntegers = values.allSatisfy { $0.value.isInteger }
    if isInteger(left), isOfIntegers {
      let column = try side(left, comparedWith: left, rules)
      let numbers = ContiguousArray(values.compactMap(\.value.exactInteger))
      let name = intArray(whole.origin.map(IntArraySource.integers) ?? .values(numbers))
      return .sql("\(column) IN (SELECT * FROM \(raw: name)) ")
    }
    // The number of values is part of the text, and of the shape unless they are integers or
    // objects.
    if isOfIntegers || values.allSatisfy({ $0.value.isObject }) { isReusable = false }
    if rules.isLenient, isText(left) { return try lenientList(whole, values, left, rules) }
    let column = try side(left, comparedWith: left, rules)
    if values.count > Self.longestList, !isOfBytes(left), let json = bind(whole, as: .json) {
      return .sql("\(column) IN (SELECT value FROM json_each(\(bind: json)))")
    }
    let isInText = values.count > Self.longestListOfBytes && isOfBytes(left)
    if isInText { isReusable = false }
    var elements: [SQLFragment] = []
    for value in values {
      let constant = isInText ? PredicateConstant(value: value.value) : value
      let element = try sides(left, .constant(constant), rules).1
      elements.append(isInText ? element.withBytesInText : element)
    }
    return .sql("\(column) IN (\(.joined(elements, by: ", ")))")
  }

  private func lenientList(
    _ whole: PredicateConstant, _ values: [PredicateConstant], _ left: SQLOperand,
    _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLCondition {
    if values.count > Self.longestLenientList, let json = bind(whole, as: .json) {
      let (column, _) = try sides(left, left, rules)
      let options = rules.options.rawValue
      // Unknown for NULL, like the comparisons of a short list.
      return .sql(
        "CASE WHEN \(column) IS NOT NULL THEN EXISTS (SELECT 1 FROM json_each(\(bind: json)) WHERE"
          + " NSCoreDataStringCompare(\(column), value, \(raw: options)) = 0) END")
    }
    var conditions: [SQLCondition] = []
    for value in values {
      conditions.append(try ordered(left, .constant(value), rules.with(.equalTo)))
    }
    return .any(conditions)
  }

  private func keyArray(
    _ whole: PredicateConstant, _ values: [PredicateConstant], _ entity: SQLEntity
  ) -> String {
    if let origin = whole.origin { return intArray(.keys(origin, entity)) }
    return intArray(
      .values(
        ContiguousArray(
          values.compactMap {
            let key = BindForm.key(entity).value(of: $0.value, for: translator)
            return if case .integer(let number) = key { number } else { nil }
          })))
  }

  private func isInteger(_ operand: SQLOperand) -> Bool {
    switch operand {
    case .attribute(_, let attribute): StoredType(attribute.attributeType) == .integer
    case .computed(_, let type): type == .integer
    default: false
    }
  }

  /// Returns whether a value is stored as bytes, which JSON can't represent.
  private func isOfBytes(_ operand: SQLOperand) -> Bool {
    switch operand {
    case .attribute(_, let attribute):
      [.uuid, .binary, .transformable].contains(StoredType(attribute.attributeType))
    case .computed(_, let type): [.uuid, .binary, .transformable].contains(type)
    default: false
    }
  }

  /// Returns the elements of a list expression or a constant list.
  func elements(
    of operand: SQLOperand, at site: Site, _ rules: ComparisonRules
  ) throws(TranslationError) -> [SQLOperand] {
    switch operand {
    case .constant(let constant):
      if let elements = constant.elements { return elements.map { .constant($0) } }
    case .list(let expressions):
      var operands: [SQLOperand] = []
      for expression in expressions {
        operands.append(try applyingOperator(try self.operand(expression, at: site), at: site))
      }
      return operands
    default: break
    }
    throw TranslationError(rules.piece, "The right side must be a list of values.")
  }
}

extension SQLFragment {
  /// The fragment with a literal instead of a `?` for bytes; any other fragment unchanged.
  fileprivate var withBytesInText: SQLFragment {
    guard sql == "?", case .value(let value)? = binds.first, case .blob = value else { return self }
    return SQLFragment(sql: value.literal)
  }
}

extension PredicateValue {
  /// Whether its type, rather than its value, is an integer.
  fileprivate var isInteger: Bool {
    switch self {
    case .integer, .bool: true
    default: false
    }
  }

  /// Whether it's an object, such as a value of a transformable attribute.
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }
}
