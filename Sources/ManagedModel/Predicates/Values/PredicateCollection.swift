internal import Foundation

/// The elements of an array or a set.
package struct PredicateCollection: Hashable {
  package let elements: [PredicateValue]
  /// False for sets.
  ///
  /// A constant set of plain values is kept sorted, so that it prints the same each time; it is
  /// equal to an array of the same elements in that order.
  package let isOrdered: Bool
  /// Whether it's a set, ordered or not: a key path over it gives a set too, without nils.
  package let isSet: Bool
  /// For long constant lists: makes IN independent of their length.
  private let lookup: Set<PredicateValue>?
  /// The family of all elements of a long constant list; nil for others.
  private let onlyFamily: PredicateValue.Family?

  /// - Parameter isSet: For an ordered set; what has no order is a set anyway.
  package init(_ elements: [PredicateValue], isOrdered: Bool = true, isSet: Bool = false) {
    self.elements = elements
    self.isOrdered = isOrdered
    self.isSet = isSet || !isOrdered
    lookup = nil
    onlyFamily = nil
  }

  /// A collection that stays as it is, in a predicate.
  init(constant elements: [PredicateValue], isOrdered: Bool, isSet: Bool = false) {
    let isPlain = elements.allSatisfy(\.isScalar)
    self.isSet = isSet || !isOrdered
    self.elements =
      isOrdered || !isPlain
      ? elements : elements.sorted { PredicateValue.order($0, $1) == .orderedAscending }
    self.isOrdered = isOrdered
    lookup = elements.count > 8 && elements.allSatisfy(\.isStable) ? Set(elements) : nil
    let family = elements.first?.family
    onlyFamily =
      lookup != nil && elements.allSatisfy { $0.family == family } ? family : nil
  }

  /// The collection as key-value coding returns it: a `Set`, an `NSOrderedSet`, or an array, with
  /// numbers as `NSNumber`.
  ///
  /// A set with values that aren't hashable, such as the arrays of a transformable attribute, is an
  /// array.
  var boxed: Any {
    let values = elements.map { $0.boxed ?? NSNull() }
    if !isSet { return values }
    if isOrdered { return NSOrderedSet(array: values) }
    let members = values.compactMap { $0 as? AnyHashable }
    return members.count == values.count ? Set(members) : values
  }

  /// Whether a value compares with each element as it is.
  func fits(_ value: PredicateValue) -> Bool {
    switch value.family {
    case .null, .other: true
    case let family:
      if let onlyFamily { onlyFamily == family } else { elements.allSatisfy { $0.fits(value) } }
    }
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

  /// Two sets without an order are equal whatever the order of their elements.
  package static func == (left: Self, right: Self) -> Bool {
    left.isOrdered || right.isOrdered
      ? left.elements == right.elements : left.sameElements(as: right)
  }

  package func hash(into hasher: inout Hasher) {
    // The same in any order, since a set equals an array of its elements in some order.
    hasher.combine(elements.count)
    hasher.combine(elements.reduce(0) { $0 ^ $1.hashValue })
  }
}
