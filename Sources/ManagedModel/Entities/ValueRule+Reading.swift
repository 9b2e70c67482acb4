extension ValueRule {
  /// The limits that predicates set, or nil when one of them is no limit of the usual forms.
  ///
  /// The forms are those that `predicates(for:)` gives, with the sides and the operator turned round
  /// or not.
  init?(predicates: [NSPredicate], type: NSAttributeType) {
    self.init()
    for predicate in predicates {
      guard let comparison = predicate as? NSComparisonPredicate, add(comparison, type: type) else {
        return nil
      }
    }
  }

  private mutating func add(_ comparison: NSComparisonPredicate, type: NSAttributeType) -> Bool {
    let subject = comparison.leftExpression
    guard case .constant(let constant) = comparison.rightExpression.node else { return false }
    let isLength = type == .stringAttributeType
    switch comparison.predicateOperatorType {
    case .matches:
      guard case .evaluatedObject = subject.node, case .string(let text) = constant,
        pattern == nil
      else { return false }
      pattern = text
      return true
    case .greaterThanOrEqualTo, .lessThanOrEqualTo:
      switch subject.node {
      case .evaluatedObject where !isLength: break
      case .keyPath(let path) where isLength && path.text == "length": break
      default: return false
      }
      guard let text = Self.text(of: constant.boxed, type), Self.isLimit(text, for: type) else {
        return false
      }
      if comparison.predicateOperatorType == .lessThanOrEqualTo {
        guard maximum == nil else { return false }
        maximum = text
      } else {
        guard minimum == nil else { return false }
        minimum = text
      }
      return true
    default: return false
    }
  }

  private static func text(of value: Any?, _ type: NSAttributeType) -> String? {
    switch value {
    case let date as Date: DefaultValueText.text(date.timeIntervalSinceReferenceDate)
    case let number as NSDecimalNumber: "\(number.decimalValue)"
    case let number as NSNumber: DefaultValueText.text(number.doubleValue)
    default: nil
    }
  }
}
