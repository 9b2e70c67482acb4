/// A property and the value that a step assigns to it, such as `latitude 1.5`,
/// `country countries`, or `latitude = "latitude + 1"`.
package struct Assignment: Sendable, Hashable {
  package var key: String
  /// The value as written, parsed according to the property's type.
  ///
  /// For a relationship, the value is the name of a result; for an expression, its format.
  package var value: String
  /// Whether the value is `nil` or `null`, written without quotation marks.
  package var isNil: Bool
  /// Whether the value is the format of an expression, which a batch update evaluates for each row.
  package var isExpression: Bool

  package init(key: String, value: String, isNil: Bool, isExpression: Bool = false) {
    self.key = key
    self.value = value
    self.isNil = isNil
    self.isExpression = isExpression
  }

  /// The assignment in the syntax of a shell line: `latitude 1.5`, `latitude = "latitude + 1"`.
  var text: String {
    let name = key.contains("=") ? LineWords.quoted(key) : LineWords.plain(key)
    if isExpression { return "\(name) = \(LineWords.quoted(value))" }
    // Without quotation marks, these words have another meaning.
    let isText = !isNil && (AttributeLiteral.nilWords.contains(value) || value.hasPrefix("="))
    return "\(name) \(isText ? LineWords.quoted(value) : LineWords.plain(value))"
  }
}

extension Step {
  /// The assignments of `with`.
  ///
  /// Empty if the step doesn't have the option.
  package var assignments: [Assignment] {
    if let assignments = assignments(of: .assignments) { return assignments }
    return []
  }

  /// The removals of `without`.
  ///
  /// Empty if the step doesn't have the option.
  package var removals: [Assignment] {
    if let removals = assignments(of: .removals) { return removals }
    return []
  }
}
