import ManagedModel

/// A value that does not depend on the row, and where the predicate has it from.
struct PredicateConstant {
  let value: PredicateValue

  /// Nil for a constant that no other predicate of the shape can put another value for.
  var origin: ConstantOrigin?

  var isNull: Bool { value.isNull }

  /// The elements of a list, nil when the value is none.
  var elements: [PredicateConstant]? {
    guard case .collection(let collection) = value else { return nil }
    return collection.elements.enumerated().map { position, element in
      PredicateConstant(
        value: element, origin: origin.map { ConstantOrigin(index: $0.index, element: position) })
    }
  }
}
