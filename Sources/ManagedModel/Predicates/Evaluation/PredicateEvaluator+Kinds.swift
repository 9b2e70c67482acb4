internal import Foundation

// Comparisons of a record's values with values of another kind: a string with a number, a date with
// seconds. A column decides in SQL, so it does here.
extension PredicateEvaluator {
  /// Whether two values, or a value and an element of a list, are of kinds that don't compare as they
  /// are.
  @inline(__always)
  static func differInKind(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    switch (left, right) {
    case (.integer, .integer), (.string, .string), (.null, _), (_, .null): false
    case (.collection(let list), let value), (let value, .collection(let list)):
      !list.fits(value)
    default: !left.fits(right)
    }
  }

  /// Whether a comparison is true of two values of different kinds.
  @inline(never)
  static func holdsAsStored(
    _ comparison: NSComparisonPredicate, _ left: PredicateValue, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    let sides = Sides(comparison)
    let type = comparison.predicateOperatorType
    switch type {
    case .equalTo, .notEqualTo:
      if case .collection = left { break }
      if case .collection = right { break }
      return try sides.equal(left, right) == (type == .equalTo)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return try sides.isOrdered(type, left, right)
    case .in:
      if case .collection(let list) = right { return try sides.isContained(left, in: list) }
    case .contains:
      if case .collection(let list) = left {
        return try sides.reversed.isContained(right, in: list)
      }
    case .between:
      if case .collection(let bounds) = right, bounds.elements.count == 2 {
        guard try sides.isOrdered(.greaterThanOrEqualTo, left, bounds.elements[0], place: 0) else {
          return false
        }
        return try sides.isOrdered(.lessThanOrEqualTo, left, bounds.elements[1], place: 1)
      }
    case .beginsWith, .endsWith, .like, .matches, .customSelector: break
    }
    return try holds(comparison, left, right)
  }

  /// The two sides of a comparison, the value first and what it's compared with second.
  private struct Sides {
    let value: NSExpression
    let other: NSExpression
    let options: NSComparisonPredicate.Options

    init(_ comparison: NSComparisonPredicate) {
      value = comparison.leftExpression
      other = comparison.rightExpression
      options = comparison.options
    }

    private init(_ value: NSExpression, _ other: NSExpression, _ options: Options) {
      self.value = value
      self.other = other
      self.options = options
    }

    private typealias Options = NSComparisonPredicate.Options

    var reversed: Sides { Sides(other, value, options) }

    /// Values of different kinds that have no common one are unequal.
    func equal(
      _ left: PredicateValue, _ right: PredicateValue, place: Int? = nil
    ) throws(PredicateEvaluationError) -> Bool {
      guard let (left, right) = fitted(left, right, place) else { return false }
      return PredicateEvaluator.equal(left, right, options)
    }

    func isOrdered(
      _ type: NSComparisonPredicate.Operator, _ left: PredicateValue, _ right: PredicateValue,
      place: Int? = nil
    ) throws(PredicateEvaluationError) -> Bool {
      guard let (first, second) = fitted(left, right, place) else {
        throw .incomparable(left: left.kindText, operator: type.sign, right: right.kindText)
      }
      return try PredicateEvaluator.isOrdered(type, first, second, options)
    }

    func isContained(
      _ element: PredicateValue, in list: PredicateCollection
    ) throws(PredicateEvaluationError) -> Bool {
      for (place, candidate) in list.elements.enumerated()
      where try equal(element, candidate, place: place) {
        return true
      }
      return false
    }

    /// Both values in a form in which they compare; nil if there is none.
    ///
    /// - Parameter place: Where the second is in a list that is written out.
    private func fitted(
      _ left: PredicateValue, _ right: PredicateValue, _ place: Int?
    ) -> (PredicateValue, PredicateValue)? {
      if left.fits(right) { return (left, right) }
      var (first, second) = (left, right)
      switch (value.isIndependentOfObject, isConstant(place)) {
      case (true, true): return nil
      case (false, true):
        guard let found = right.converted(toFit: left) else { return nil }
        second = found
      case (true, false):
        guard let found = left.converted(toFit: right) else { return nil }
        first = found
      case (false, false): break
      }
      if first.fits(second) { return (first, second) }
      (first, second) = (first.asStored, second.asStored)
      return first.fits(second) ? (first, second) : nil
    }

    private func isConstant(_ place: Int?) -> Bool {
      if let place, case .aggregate(let elements) = other.node, elements.indices.contains(place) {
        return elements[place].isIndependentOfObject
      }
      return other.isIndependentOfObject
    }
  }
}
