/// The elements of an array or a set.
package struct PredicateCollection: Hashable {
  package let elements: [PredicateValue]
  /// False for sets.
  ///
  /// A constant set of plain values is kept sorted, so that it prints the same each time; it is
  /// equal to an array of the same elements in that order.
  package let isOrdered: Bool
  /// For long constant lists: makes IN independent of their length.
  private let lookup: Set<PredicateValue>?

  package init(_ elements: [PredicateValue], isOrdered: Bool = true) {
    self.elements = elements
    self.isOrdered = isOrdered
    lookup = nil
  }

  /// A collection that stays as it is, in a predicate.
  init(constant elements: [PredicateValue], isOrdered: Bool) {
    let isPlain = elements.allSatisfy(\.isScalar)
    self.elements =
      isOrdered || !isPlain
      ? elements : elements.sorted { PredicateValue.order($0, $1) == .orderedAscending }
    self.isOrdered = isOrdered
    lookup = elements.count > 8 && elements.allSatisfy(\.isStable) ? Set(elements) : nil
  }

  /// Whether an equal element is in it, without string options.
  func contains(_ value: PredicateValue) -> Bool {
    lookup?.contains(value) ?? elements.contains(value)
  }

  /// Whether both hold the same elements, in the same order if both have one.
  func sameElements(as other: PredicateCollection) -> Bool {
    if isOrdered, other.isOrdered { return elements == other.elements }
    return elements.count == other.elements.count && Set(elements) == Set(other.elements)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.elements == right.elements
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(elements)
  }
}
