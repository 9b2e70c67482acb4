/// The limits that a model document puts on the values of an attribute.
///
/// The limits are kept as the texts of the document. Their meaning follows from the type: numbers
/// and dates are compared, for a text the length is.
package struct ValueRule: Sendable, Hashable {
  /// The least value or least length.
  package var minimum: String?
  /// The greatest value or greatest length.
  package var maximum: String?
  /// A regular expression that a whole text must match.
  package var pattern: String?

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - minimum: The least value or least length.
  ///   - maximum: The greatest value or greatest length.
  ///   - pattern: A regular expression that a whole text must match.
  package init(minimum: String? = nil, maximum: String? = nil, pattern: String? = nil) {
    self.minimum = minimum
    self.maximum = maximum
    self.pattern = pattern
  }

  /// Whether the rule allows every value.
  package var isEmpty: Bool { minimum == nil && maximum == nil && pattern == nil }
}
