import ManagedModel

/// One predicate that an attribute's values must satisfy, with what is said when one does not.
struct ValueLimit {
  let predicate: NSPredicate
  /// From 1550 to 1680: the warning if it's a number, 1550 if it's a string, otherwise what follows
  /// from the predicate.
  let code: Int
  /// The model's own words; nil for the framework's.
  let message: String?

  /// The limits of an attribute, from its model document or set by code.
  static func limits(of attribute: NSAttributeDescription) -> [ValueLimit] {
    let warnings = attribute.validationWarnings
    return attribute.validationPredicates.enumerated().map { index, predicate in
      let warning = warnings.indices.contains(index) ? warnings[index] : nil
      let code = (warning as? Int) ?? (warning as? NSNumber)?.intValue
      let message = warning as? String
      return ValueLimit(
        predicate: predicate,
        code: code
          ?? (message == nil
            ? ValueLimit.code(predicate, attribute.attributeType) : NSManagedObjectValidationError),
        message: message)
    }
  }

  /// Whether a value satisfies it; a predicate that has no answer is not satisfied.
  func allows(_ value: Any) -> Bool {
    (try? predicate.evaluation(of: value)) ?? false
  }

  /// The code that follows from a bound's direction and the type of the values.
  private static func code(_ predicate: NSPredicate, _ type: NSAttributeType) -> Int {
    guard let comparison = predicate as? NSComparisonPredicate else {
      return NSManagedObjectValidationError
    }
    switch comparison.predicateOperatorType {
    case .greaterThan, .greaterThanOrEqualTo:
      return bound(
        type, number: NSValidationNumberTooSmallError, date: NSValidationDateTooSoonError,
        string: NSValidationStringTooShortError)
    case .lessThan, .lessThanOrEqualTo:
      return bound(
        type, number: NSValidationNumberTooLargeError, date: NSValidationDateTooLateError,
        string: NSValidationStringTooLongError)
    case .matches: return NSValidationStringPatternMatchingError
    default: return NSManagedObjectValidationError
    }
  }

  private static func bound(_ type: NSAttributeType, number: Int, date: Int, string: Int) -> Int {
    switch type {
    case .dateAttributeType: date
    case .stringAttributeType: string
    default: number
    }
  }
}
