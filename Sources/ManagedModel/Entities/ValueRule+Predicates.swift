extension ValueRule {
  /// The predicates that values of a type must satisfy; the value is `SELF`.
  ///
  /// Limits that do not fit the type give no predicate.
  func predicates(for type: NSAttributeType) -> [NSPredicate] {
    [
      limit(minimum, ">=", type), limit(maximum, "<=", type),
      pattern.flatMap { try? NSPredicate.parse("SELF MATCHES %@", arguments: [$0]) },
    ].compactMap { $0 }
  }

  /// Whether a text is a limit for values of a type: a number, a date or a length.
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
