import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  func functionOperand(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site,
    _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    switch function {
    case .count where arguments.count == 1:
      return try count(try operand(arguments[0], at: site), at: site, expression)
    case .add, .subtract, .multiply, .divide, .modulus, .bitwiseAnd, .bitwiseOr, .leftShift,
      .rightShift, .bitwiseXor:
      return try arithmetic(function, arguments, at: site)
    case .onesComplement:
      return .computed("~(\(try number(arguments[0], at: site).fragment))", .integer)
    case .absolute:
      let (fragment, type) = try number(arguments[0], at: site)
      return .computed("abs(\(fragment))", type)
    case .noIndex:
      // A unary plus keeps the value and hides the column from the planner's indexes.
      switch try operand(arguments[0], at: site) {
      case .attribute(let column, let attribute): return .attribute("+\(column)", attribute)
      case .object(let column, let entity): return .object("+\(column)", entity)
      case let other: return other
      }
    default:
      throw TranslationError(
        expression.description, "The function \(function.rawValue) has no SQL.")
    }
  }

  private func arithmetic(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site
  ) throws(TranslationError) -> SQLOperand {
    let (left, leftType) = try number(arguments[0], at: site)
    let (right, rightType) = try number(arguments[1], at: site)
    let type: StoredType = leftType == .integer && rightType == .integer ? .integer : .real
    let sign: String
    switch function {
    case .add: sign = "+"
    case .subtract: sign = "-"
    case .multiply: sign = "*"
    case .divide: sign = "/"
    case .modulus: sign = "%"
    case .bitwiseAnd: sign = "&"
    case .bitwiseOr: sign = "|"
    case .leftShift: sign = "<<"
    case .rightShift: sign = ">>"
    default:
      // SQLite has no exclusive or.
      return .computed("((\(left) | \(right)) - (\(left) & \(right)))", .integer)
    }
    return .computed("(\(left) \(raw: sign) \(right))", type)
  }

  /// An expression that is a number.
  private func number(
    _ expression: NSExpression, at site: Site
  ) throws(TranslationError) -> (fragment: SQLFragment, type: StoredType) {
    let (fragment, type) = try value(of: expression, at: site)
    switch type {
    case .integer, .real, .decimal, .timestamp: return (fragment, type ?? .integer)
    case nil: return (fragment, .integer)
    default:
      throw TranslationError(expression.description, "This is no number.")
    }
  }

  /// An expression as a value on its own.
  ///
  /// The type is nil for nil.
  func value(
    of expression: NSExpression, at site: Site
  ) throws(TranslationError) -> (fragment: SQLFragment, type: StoredType?) {
    switch try operand(expression, at: site) {
    case .constant(let constant):
      let (value, type) = try plain(constant, expression)
      return ("\(bind: value)", type)
    case .attribute(let column, let attribute):
      return (column, StoredType(attribute.attributeType))
    case .computed(let fragment, let type): return (fragment, type)
    case .toMany(let path):
      guard case .computed(let fragment, let type) = try aggregate(path, at: site) else {
        throw TranslationError(path.text, "This is no single value.")
      }
      return (fragment, type)
    case .object, .list:
      throw TranslationError(expression.description, "This is no single value.")
    }
  }
}
