/// The limits of an attribute's values in a model document.
///
/// The limits are strings, as in the document. The type determines their meaning: numbers and dates
/// are compared; strings are compared by length.
package struct ValueRule: Sendable, Hashable {
  /// The minimum value or length.
  package var minimum: String?
  /// The maximum value or length.
  package var maximum: String?
  /// A regular expression that the entire string must match.
  package var pattern: String?

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - minimum: The minimum value or length.
  ///   - maximum: The maximum value or length.
  ///   - pattern: A regular expression that the entire string must match.
  package init(minimum: String? = nil, maximum: String? = nil, pattern: String? = nil) {
    self.minimum = minimum
    self.maximum = maximum
    self.pattern = pattern
  }

  /// Whether the rule allows every value.
  package var isEmpty: Bool { minimum == nil && maximum == nil && pattern == nil }
}

extension ValueRule {
  /// Returns the predicates that values of a type must satisfy, where `SELF` is the value.
  ///
  /// Limits that don't match the type are ignored, and so is a pattern for values that aren't
  /// strings: it remains from an earlier type of the attribute.
  func predicates(for type: NSAttributeType) -> [NSPredicate] {
    let pattern = type == .stringAttributeType ? pattern : nil
    return [
      limit(minimum, ">=", type), limit(maximum, "<=", type),
      pattern.flatMap { try? NSPredicate.parse("SELF MATCHES %@", arguments: [$0]) },
    ].compactMap { $0 }
  }

  /// Returns whether a string is a limit for values of a type: a number, a date, or a length.
  static func isLimit(_ text: String, for type: NSAttributeType) -> Bool {
    limitValue(text, type) != nil
  }

  private func limit(_ text: String?, _ comparison: String, _ type: NSAttributeType) -> NSPredicate?
  {
    guard let text, let value = Self.limitValue(text, type) else { return nil }
    let subject = type == .stringAttributeType ? "length" : "SELF"
    return try? NSPredicate.parse("\(subject) \(comparison) %@", arguments: [value])
  }

  private static func limitValue(_ text: String, _ type: NSAttributeType) -> Any? {
    switch type {
    case .stringAttributeType: Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .decimalAttributeType, .doubleAttributeType, .floatAttributeType, .dateAttributeType:
      DefaultValueText.value(text, type: type)
    default: nil
    }
  }
}

extension ValueRule {
  /// Creates the limits that predicates express.
  ///
  /// Returns `nil` for a predicate whose form isn't one of those that `predicates(for:)` returns,
  /// with or without swapped sides.
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
    let isText = type == .stringAttributeType
    switch comparison.predicateOperatorType {
    case .matches:
      guard isText, case .evaluatedObject = subject.node, case .string(let text) = constant,
        pattern == nil
      else { return false }
      pattern = text
      return true
    case .greaterThanOrEqualTo, .lessThanOrEqualTo:
      switch subject.node {
      case .evaluatedObject where !isText: break
      case .keyPath(let path) where isText && path.text == "length": break
      default: return false
      }
      guard let text = Self.text(of: constant), Self.isLimit(text, for: type) else {
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

  private static func text(of value: PredicateValue) -> String? {
    switch value {
    case .date(let date): DefaultValueText.text(date.timeIntervalSinceReferenceDate)
    case .bool(let flag): flag ? "1" : "0"
    case .integer(let number): "\(number)"
    case .double(let number): DefaultValueText.text(number)
    case .decimal(let number): "\(number)"
    default: nil
    }
  }
}
