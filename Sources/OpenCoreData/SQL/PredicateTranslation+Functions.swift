import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  func functionOperand(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site,
    _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    if function.isAggregate { return try aggregate(function, arguments, at: site, expression) }
    switch function {
    case .add, .subtract, .multiply, .divide, .modulus, .bitwiseAnd, .bitwiseOr, .leftShift,
      .rightShift, .bitwiseXor:
      return try arithmetic(function, arguments, at: site)
    case .onesComplement:
      let (fragment, type) = try number(arguments[0], at: site)
      return type == .integer && Self.isInRange(arguments[0])
        ? .computed("~(\(fragment))", .integer) : call(.onesComplement, [fragment], .integer)
    case .absolute:
      let (fragment, type) = try number(arguments[0], at: site)
      // SQLite's own is an error for the lowest integer.
      return call(.absolute, [fragment], type)
    case .noIndex:
      // A unary plus keeps the value and hides the column from the planner's indexes.
      switch try operand(arguments[0], at: site) {
      // It also removes the affinity, by which the text of a decimal is compared as a number.
      case .attribute(let column, let attribute)
      where StoredType(attribute.attributeType) == .decimal:
        return .computed("+\(column)", .decimal)
      case .attribute(let column, let attribute): return .attribute("+\(column)", attribute)
      case .object(let column, let entity): return .object("+\(column)", entity)
      case let other: return other
      }
    case .cast: return try cast(arguments, at: site, expression)
    case .uppercase, .lowercase, .canonical, .length:
      return try textFunction(function, arguments, at: site)
    case .random, .randomBelow:
      throw TranslationError(
        expression.description,
        "A random number differs from row to row; it can be evaluated only in memory.")
    default: return try mathematics(function, arguments, at: site, expression)
    }
  }

  private func arithmetic(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site
  ) throws(TranslationError) -> SQLOperand {
    let (left, leftType) = try number(arguments[0], at: site)
    let (right, rightType) = try number(arguments[1], at: site)
    let isWhole =
      leftType == .integer && rightType == .integer && arguments.allSatisfy(Self.isInRange)
    if !isWhole, let called = ValueFunction(function) {
      return call(called, [left, right], function == .modulus ? .real : .integer)
    }
    let sign: String
    switch function {
    case .add: sign = "+"
    case .subtract: sign = "-"
    case .multiply: sign = "*"
    case .divide:
      // A column of numeric affinity stores 3.0 as 3, which would divide as an integer.
      if [leftType, rightType].contains(where: { $0 == .decimal || $0 == .timestamp }) {
        return .computed("(CAST(\(left) AS REAL) / \(right))", .real)
      }
      sign = "/"
    case .modulus: sign = "%"
    case .bitwiseAnd: sign = "&"
    case .bitwiseOr: sign = "|"
    case .leftShift: sign = "<<"
    case .rightShift: sign = ">>"
    default:
      // SQLite has no exclusive-or operator.
      return .computed("((\(left) | \(right)) - (\(left) & \(right)))", .integer)
    }
    return .computed(
      "(\(left) \(raw: sign) \(right))", Self.type(of: function, leftType, rightType))
  }

  /// Returns whether an integer can't exceed the range of integers, like the real result of an
  /// addition that overflows, which SQLite's operators for integers clamp.
  private static func isInRange(_ expression: NSExpression) -> Bool {
    if expression.isIndependentOfObject { return true }
    guard case .keyPath(let path) = expression.node else { return false }
    return path.collectionOperator == nil
  }

  private static func type(
    of function: PredicateFunction, _ left: StoredType, _ right: StoredType
  ) -> StoredType {
    if left == .integer, right == .integer { return .integer }
    switch (left, right) {
    case (.timestamp, .timestamp): return .decimal
    case (.timestamp, _), (_, .timestamp):
      return function == .add || function == .subtract ? .timestamp : .decimal
    case (.decimal, _), (_, .decimal): return .decimal
    default: return .real
    }
  }

  private func mathematics(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site,
    _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    guard let called = ValueFunction(function) else {
      throw TranslationError(
        expression.description, "The function \(function.rawValue) can't be translated to SQL.")
    }
    var values: [SQLFragment] = []
    var isWhole = [.floor, .ceiling, .truncate].contains(function)
    for argument in arguments {
      let (fragment, type) = try number(argument, at: site)
      values.append(fragment)
      isWhole = isWhole && type == .integer
    }
    return call(called, values, isWhole ? .integer : .real)
  }

  private func textFunction(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site
  ) throws(TranslationError) -> SQLOperand {
    let (text, type) = try value(of: arguments[0], at: site)
    guard type == .text || type == nil, let called = ValueFunction(function) else {
      throw TranslationError(
        arguments[0].description, "This isn't a string, which \(function.rawValue) requires.")
    }
    return call(called, [text], function == .length ? .integer : .text)
  }

  /// Returns a call of a function registered by OpenCoreData.
  func call(
    _ function: ValueFunction, _ arguments: [SQLFragment], _ type: StoredType
  ) -> SQLOperand {
    let list = SQLFragment.joined(arguments, by: ", ")
    return .computed("\(raw: function.rawValue)(\(list))", type)
  }

  /// Returns an expression that is a number.
  func number(
    _ expression: NSExpression, at site: Site
  ) throws(TranslationError) -> (fragment: SQLFragment, type: StoredType) {
    let (fragment, type) = try value(of: expression, at: site)
    guard let type else { return (fragment, .integer) }
    guard type.isNumber else {
      throw TranslationError(expression.description, "This isn't a number.")
    }
    return (fragment, type)
  }

  /// Returns values of which a row uses one, and their common type; `nil` if all are `nil`.
  ///
  /// Values of different numeric types are integer or real row by row: a column of numeric affinity
  /// is converted to real, because it may contain 3.0 as 3.
  static func unified(
    _ values: [(fragment: SQLFragment, type: StoredType?)]
  ) -> (fragments: [SQLFragment], type: StoredType?) {
    let types = values.compactMap(\.type)
    guard let first = types.first, first.isNumber, !types.allSatisfy({ $0 == first }) else {
      return (values.map(\.fragment), types.first)
    }
    let fragments = values.map { fragment, type -> SQLFragment in
      type == .decimal || type == .timestamp ? "CAST(\(fragment) AS REAL)" : fragment
    }
    return (fragments, .real)
  }

  /// Returns an expression as a single value.
  ///
  /// The type is `nil` for `nil`.
  func value(
    of expression: NSExpression, at site: Site
  ) throws(TranslationError) -> (fragment: SQLFragment, type: StoredType?) {
    try value(of: operand(expression, at: site), expression, at: site)
  }

  /// Returns an operand as a single value.
  func value(
    of operand: SQLOperand, _ expression: NSExpression, at site: Site
  ) throws(TranslationError) -> (fragment: SQLFragment, type: StoredType?) {
    switch operand {
    case .constant(let constant):
      let (bind, type) = try plain(constant, expression)
      return ("\(bind: bind)", type)
    case .attribute(let column, let attribute):
      try requireValueInColumn(attribute, expression.description)
      return (column, StoredType(attribute.attributeType))
    case .computed(let fragment, let type): return (fragment, type)
    case .toMany(let path):
      guard case .computed(let fragment, let type) = try aggregate(path, at: site, keepsWhole: true)
      else {
        throw TranslationError(path.text, "This isn't a single value.")
      }
      return (fragment, type)
    case .object, .entity, .list:
      throw TranslationError(expression.description, "This isn't a single value.")
    }
  }
}
