import ManagedModel
import SQLiteDriver

/// Says the predicate of a partial index in SQL.
///
/// An index takes no parameters, so constants are written out. What can be said are comparisons of
/// an entity's own columns with constants, joined by AND, OR and NOT.
struct IndexCondition {
  let entity: SQLEntity

  /// The condition; nil for what cannot be said, so that the index holds all rows instead.
  func sql(_ predicate: NSPredicate) -> String? {
    switch predicate {
    case let compound as NSCompoundPredicate: joined(compound)
    case let comparison as NSComparisonPredicate: comparison.isPlain ? compared(comparison) : nil
    default: nil
    }
  }

  private func joined(_ compound: NSCompoundPredicate) -> String? {
    let parts = compound.predicates.compactMap(sql)
    guard parts.count == compound.predicates.count, !parts.isEmpty else { return nil }
    switch compound.compoundPredicateType {
    case .not: return "NOT (\(parts[0]))"
    case .and: return "(" + parts.joined(separator: " AND ") + ")"
    case .or: return "(" + parts.joined(separator: " OR ") + ")"
    }
  }

  private func compared(_ comparison: NSComparisonPredicate) -> String? {
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    guard left.expressionType == .keyPath, right.expressionType == .constantValue,
      let column = entity.column(named: left.keyPath)
    else { return nil }
    let name = SQLNames.quoted(column.name)
    guard let value = right.constantValue else {
      switch comparison.predicateOperatorType {
      case .equalTo: return "\(name) IS NULL"
      case .notEqualTo: return "\(name) IS NOT NULL"
      default: return nil
      }
    }
    guard let sign = comparison.predicateOperatorType.sign, let literal = literal(value) else {
      return nil
    }
    return "\(name) \(sign) \(literal)"
  }

  private func literal(_ value: Any) -> String? {
    switch value {
    case let value as Bool: value ? "1" : "0"
    case let value as any BinaryInteger: "\(value)"
    case let value as Double: value.isFinite ? "\(value)" : nil
    case let value as Date: "\(value.timeIntervalSinceReferenceDate)"
    case let value as String: SQLNames.literal(value)
    case let value as NSNumber: "\(value)"
    default: nil
    }
  }
}

extension NSComparisonPredicate {
  fileprivate var isPlain: Bool { comparisonPredicateModifier == .direct && options.isEmpty }
}

extension NSComparisonPredicate.Operator {
  fileprivate var sign: String? {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .equalTo: "="
    case .notEqualTo: "!="
    default: nil
    }
  }
}
