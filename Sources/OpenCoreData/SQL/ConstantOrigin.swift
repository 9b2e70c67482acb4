import ManagedModel

/// Which constant of a predicate, or which element of a constant list.
struct ConstantOrigin: Hashable, Sendable {
  let index: Int
  var element: Int?

  func value(in constants: [PredicateValue]) -> PredicateValue? {
    guard let element else { return constants[index] }
    guard case .collection(let collection) = constants[index],
      element < collection.elements.count
    else { return nil }
    return collection.elements[element]
  }
}
