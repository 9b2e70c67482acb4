import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Returns `=` and `<>`.
  ///
  /// As in SQL, neither finds rows without a value.
  func equal(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    if let known = try known(left, right, rules) { return known }
    if left.isNull { return .sql(try nullTest(right, rules)) }
    if right.isNull { return .sql(try nullTest(left, rules)) }
    switch (left, right) {
    case (.object(let key, let entity), .constant(let value)):
      let bind = try self.key(of: value, as: entity, rules)
      return .sql("\(key) \(raw: rules.sign) \(bind: bind)")
    case (.constant(let value), .object(let key, let entity)):
      let bind = try self.key(of: value, as: entity, rules)
      return .sql("\(bind: bind) \(raw: rules.sign) \(key)")
    case (.object(let left, let entity), .object(let right, let other)):
      guard entity.root === other.root else { return .constant(rules.type == .notEqualTo) }
      return .sql("\(left) \(raw: rules.sign) \(right)")
    default:
      return try ordered(left, right, rules)
    }
  }

  /// Returns comparisons of values by order.
  func ordered(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLCondition {
    if let known = try known(left, right, rules) { return known }
    let (first, second) = try sides(left, right, rules)
    // Options apply to strings: two URLs are compared bytewise, as in memory.
    guard rules.isLenient, isText(left), isText(right), !(isURL(left) && isURL(right)) else {
      return .sql("\(first) \(raw: rules.sign) \(second)")
    }
    // The same call for each operator, so that one function determines equality.
    let options = rules.options.rawValue
    return .sql(
      " NSCoreDataStringCompare(\(first), \(second), \(raw: options)) \(raw: rules.sign) 0")
  }

  /// Returns the result if both sides are constants, such as an element of a list or a bound.
  private func known(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLCondition? {
    guard case .constant(let first) = left, case .constant(let second) = right else { return nil }
    isReusable = false
    // In a list or a range, it's unknown, like a NULL column.
    if first.isNull != second.isNull { return .sql("NULL") }
    let comparison = NSComparisonPredicate(
      leftExpression: NSExpression(forConstantValue: first.value.original),
      rightExpression: NSExpression(forConstantValue: second.value.original),
      modifier: .direct, type: rules.type, options: rules.options)
    return .constant(try evaluated(comparison))
  }

  /// Returns both sides as SQL, a constant as the type of the other side.
  func sides(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> (SQLFragment, SQLFragment) {
    if let first = Self.type(of: left), let second = Self.type(of: right),
      !first.compares(with: second)
    {
      throw TranslationError(
        rules.piece,
        "One side is \(first.summary), the other \(second.summary). CAST one of them to compare "
          + "the two.")
    }
    try requireComparable(left, right, rules)
    return (
      try side(left, comparedWith: right, rules), try side(right, comparedWith: left, rules)
    )
  }

  /// Returns the type of a value that depends on the row.
  private static func type(of operand: SQLOperand) -> StoredType? {
    switch operand {
    case .attribute(_, let attribute): StoredType(attribute.attributeType)
    case .computed(_, let type): type
    case .constant, .object, .entity, .toMany, .list: nil
    }
  }

  /// Returns one side as SQL, a constant as the type of the other side.
  func side(
    _ operand: SQLOperand, comparedWith other: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLFragment {
    switch operand {
    case .attribute(let column, _): return column
    case .computed(let fragment, _): return fragment
    case .constant(let constant):
      switch other {
      case .attribute(_, let attribute):
        let type = StoredType(attribute.attributeType)
        return "\(bind: try bind(constant, as: type, attribute, rules))"
      case .computed(_, let type):
        return "\(bind: try bind(constant, as: type, nil, rules))"
      default:
        throw TranslationError(rules.piece, "The two sides can't be compared.")
      }
    case .object:
      throw TranslationError(
        rules.piece, "An object can be compared only with another object, and only for equality.")
    case .entity:
      throw TranslationError(
        rules.piece, "An entity can be compared only with entities, and its name only with strings."
      )
    case .toMany(let path):
      throw TranslationError(rules.piece, path.reason)
    case .list:
      throw TranslationError(rules.piece, "A list can be compared only by IN or BETWEEN.")
    }
  }

  /// Returns `IS NOT NULL`.
  func present(_ operand: SQLOperand) throws(TranslationError) -> SQLFragment {
    switch operand {
    case .object(let column, _), .entity(let column, _, _): return "\(column) IS NOT NULL"
    case .attribute(let column, _): return "\(column) IS NOT NULL"
    case .computed(let fragment, _): return "\(fragment) IS NOT NULL"
    case .constant, .toMany, .list: return "1 = 1"
    }
  }

  /// Returns `IS NULL`, or `IS NOT NULL` for `!=`.
  func nullTest(
    _ operand: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLFragment {
    let test = rules.type == .notEqualTo ? "IS NOT NULL" : "IS NULL"
    switch operand {
    case .object(let column, _), .entity(let column, _, _): return "\(column) \(raw: test)"
    case .constant: return rules.type == .notEqualTo ? "0 = 1" : "1 = 1"
    default: return "\(try side(operand, comparedWith: operand, rules)) \(raw: test)"
    }
  }

  /// Returns the primary key of a constant object.
  ///
  /// 0, which no row has, for an object without a row.
  func key(
    of constant: PredicateConstant, as entity: SQLEntity, _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLBind {
    guard let bind = bind(constant, as: .key(entity)) else {
      throw TranslationError(
        rules.piece, "Compare \(entity.name) with an object or an object ID.")
    }
    return bind
  }

  /// Returns whether an operand is a string or a URL, which is stored as one.
  func isText(_ operand: SQLOperand) -> Bool {
    switch operand {
    case .attribute(_, let attribute): StoredType(attribute.attributeType) == .text
    case .computed(_, let type): type == .text
    case .constant(let constant): StoredType(of: constant.value) == .text
    case .object, .entity, .toMany, .list: false
    }
  }

  private func isURL(_ operand: SQLOperand) -> Bool {
    switch operand {
    case .attribute(_, let attribute): attribute.attributeType == .URIAttributeType
    case .constant(let constant): if case .url = constant.value { true } else { false }
    case .computed, .object, .entity, .toMany, .list: false
    }
  }
}

extension PredicateValue {
  /// Returns the value as a column of a type stores it; `nil` if it can't.
  func stored(as type: StoredType) -> SQLiteValue? {
    switch type {
    case .integer: storedInteger
    case .real: storedReal
    case .timestamp: storedTimestamp
    case .decimal: storedDecimal
    case .text: storedText
    case .uuid: storedUUID
    case .binary, .transformable: storedBytes
    }
  }

  private var storedInteger: SQLiteValue? {
    if let value = exactInteger { return .integer(value) }
    if case .string(let text) = self { return PredicateValue.number(of: text)?.storedInteger }
    return nearestDouble.map(SQLiteValue.real)
  }

  /// A real number, or an integer that isn't one exactly, which SQLite compares without rounding.
  private var storedReal: SQLiteValue? {
    if case .string(let text) = self { return PredicateValue.number(of: text)?.storedReal }
    if let integer = exactInteger, Double(exactly: integer) == nil { return .integer(integer) }
    return nearestDouble.map(SQLiteValue.real)
  }

  private var storedTimestamp: SQLiteValue? {
    if case .date(let date) = self { return .real(date.timeIntervalSinceReferenceDate) }
    return isNumber ? nearestDouble.map(SQLiteValue.real) : nil
  }

  /// A decimal whose digits a column of numeric affinity stores like the existing values.
  private var storedDecimal: SQLiteValue? {
    if let value = exactInteger { return .integer(value) }
    if case .string(let text) = self {
      return PredicateValue.number(of: text) == nil ? nil : .text(text)
    }
    // NaN is bound as NULL; the text would be greater than every number.
    if case .decimal(let value) = self, !value.isNaN { return .text("\(value)") }
    return nearestDouble.map(SQLiteValue.real)
  }

  private var storedText: SQLiteValue? { columnText.map(SQLiteValue.text) }

  private var storedUUID: SQLiteValue? {
    switch self {
    case .uuid(let uuid): .blob(Self.bytes(of: uuid))
    case .string(let text): UUID(uuidString: text).map { .blob(Self.bytes(of: $0)) }
    case .data(let data): .blob([UInt8](data))
    default: nil
    }
  }

  private var storedBytes: SQLiteValue? {
    switch self {
    case .data(let data): .blob([UInt8](data))
    case .uuid(let uuid): .blob(Self.bytes(of: uuid))
    default: nil
    }
  }

  private static func bytes(of uuid: UUID) -> [UInt8] {
    withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }
  }
}

extension StoredType {
  /// Creates the type of a single value; `nil` for `nil` and for other values.
  init?(of value: PredicateValue) {
    switch value {
    case .bool, .integer: self = .integer
    case .double: self = .real
    case .decimal: self = .decimal
    case .string, .url: self = .text
    case .date: self = .timestamp
    case .data: self = .binary
    case .uuid: self = .uuid
    case .null, .collection, .dictionary, .object, .placeholder: return nil
    }
  }

  /// Returns whether SQL compares values of both types by value rather than by storage class.
  func compares(with other: StoredType) -> Bool {
    summary == other.summary
  }

  /// The description of the type's values for a message.
  var summary: String {
    switch self {
    case .integer, .real, .decimal, .timestamp: "a number"
    case .text: "a string"
    case .uuid, .binary, .transformable: "data"
    }
  }

  /// Whether values of the type are numbers.
  var isNumber: Bool {
    switch self {
    case .integer, .real, .decimal, .timestamp: true
    default: false
    }
  }
}
