/// A property and the value that a step assigns to it, such as `latitude 1.5` or
/// `country countries`.
package struct Assignment: Sendable, Hashable {
  package var key: String
  /// The value as written, parsed according to the property's type.
  ///
  /// For a relationship, the value is the name of a result.
  package var value: String
  /// Whether the value is `nil` or `null`, written without quotation marks.
  package var isNil: Bool

  package init(key: String, value: String, isNil: Bool) {
    self.key = key
    self.value = value
    self.isNil = isNil
  }

  /// The value in the syntax of a shell line.
  var valueText: String {
    let isText = !isNil && AttributeLiteral.nilWords.contains(value)
    return isText ? LineWords.quoted(value) : LineWords.plain(value)
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
