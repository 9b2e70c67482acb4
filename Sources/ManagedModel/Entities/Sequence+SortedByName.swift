extension Sequence where Element: NSEntityDescription {
  /// Returns the entities in the order of their names; those without a name are first.
  package func sortedByName() -> [Element] { sorted { $0.name ?? "" } }
}

extension Sequence where Element: NSPropertyDescription {
  /// Returns the properties in the order of their names.
  package func sortedByName() -> [Element] { sorted { $0.name } }
}

extension Sequence {
  /// Returns the elements in the order of their names.
  ///
  /// The sort itself isn't generic, so that the compiler doesn't specialize it for each caller.
  fileprivate func sorted(_ name: (Element) -> String) -> [Element] {
    let elements = Array(self)
    return positions(of: elements.map(name)).map { elements[$0] }
  }
}

/// Returns the positions of names in their order.
@inline(never)
private func positions(of names: [String]) -> [Int] {
  names.indices.sorted { names[$0] < names[$1] }
}
