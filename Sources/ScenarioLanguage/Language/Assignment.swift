/// A property and the value a step gives it: `latitude 1.5`, `country countries`.
package struct Assignment: Sendable, Hashable {
  package var key: String
  /// As written; read by the property's type.
  ///
  /// For a relationship it is the name of a result.
  package var value: String

  package init(key: String, value: String) {
    self.key = key
    self.value = value
  }
}

extension Step {
  /// What `with` gives; empty without it.
  package var assignments: [Assignment] {
    if case .assignments(let assignments)? = option(.assignments) { return assignments }
    return []
  }

  /// What `without` takes; empty without it.
  package var removals: [Assignment] {
    if case .removals(let removals)? = option(.removals) { return removals }
    return []
  }
}
