internal import Foundation

extension PredicateEvaluator {
  /// Returns whether a comparison is true for a value of its left expression.
  mutating func evaluate(
    _ comparison: NSComparisonPredicate, _ left: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    let right = Self.unnested(
      try value(of: comparison.rightExpression).nilIfNotANumber, comparison.rightExpression)
    let isAny: Bool
    switch comparison.comparisonPredicateModifier {
    case .direct:
      return try isTrue(comparison, Self.unnested(left, comparison.leftExpression), right)
    case .any: isAny = true
    case .all: isAny = false
    }
    // A path over to-one relationships has one value.
    guard case .collection(let collection) = left else {
      if left.isNull { return !isAny }
      return try isTrue(comparison, left, right)
    }
    for element in Self.flattened(collection.elements)
    where try isTrue(comparison, element, right) == isAny {
      return isAny
    }
    if isAny, try findsMissingValue(comparison, right) { return true }
    return !isAny
  }

  /// Returns whether a comparison with a constant `nil` is true because an object of a collection
  /// along the key path on the left has no value, which a set of values doesn't contain:
  /// `ANY pets.age == nil`.
  private mutating func findsMissingValue(
    _ comparison: NSComparisonPredicate, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    guard try isConstantNil(comparison, right) else { return false }
    switch comparison.leftExpression.node {
    case .keyPath(let path):
      return try KeyPathReader.lacksValue(
        path, from: value(of: NSExpression.expressionForEvaluatedObject()))
    case .path(let base, let rest):
      guard case .keyPath(let path) = rest.node else { return false }
      return try KeyPathReader.lacksValue(path, from: value(of: base))
    default: return false
    }
  }

  /// Returns whether `nil` is the right side of `==`, or in the list of an `IN`, as a constant: a
  /// value of the object is never equal to a missing one, as in SQL.
  private mutating func isConstantNil(
    _ comparison: NSComparisonPredicate, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    let expression = comparison.rightExpression
    switch (comparison.predicateOperatorType, right) {
    case (.equalTo, .null): return expression.isIndependentOfObject
    case (.in, .collection(let list)) where list.elements.contains(where: \.isNull):
      if expression.isIndependentOfObject { return true }
      guard case .aggregate(let elements) = expression.node else { return false }
      for element in elements where element.isIndependentOfObject {
        if try value(of: element).nilIfNotANumber.isNull { return true }
      }
      return false
    default: return false
    }
  }

  /// Returns nested collections, the result of a path over two to-many relationships, as one.
  static func flattened(_ elements: [PredicateValue]) -> [PredicateValue] {
    elements.flatMap { element in
      if case .collection(let inner) = element { flattened(inner.elements) } else { [element] }
    }
  }

  /// Returns the objects of a path over two to-many relationships as one collection, in which `IN`
  /// and `CONTAINS` look for one of them; other values unchanged.
  private static func unnested(
    _ value: PredicateValue, _ expression: NSExpression
  ) -> PredicateValue {
    guard case .collection(let collection) = value,
      collection.elements.contains(where: { if case .collection = $0 { true } else { false } })
    else { return value }
    switch expression.node {
    case .keyPath, .path:
      return .collection(PredicateCollection(flattened(collection.elements), isOrdered: false))
    default: return value
    }
  }

  /// Returns whether the comparison is true for two values.
  ///
  /// For a record, values of different kinds are converted as in SQL.
  @inline(__always)
  func isTrue(
    _ comparison: NSComparisonPredicate, _ left: PredicateValue, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    if isOfRecord, Self.differInKind(left, right) {
      return try Self.holdsAsStored(comparison, left, right)
    }
    return try Self.isTrue(comparison, left, right)
  }

  static func isTrue(
    _ comparison: NSComparisonPredicate, _ left: PredicateValue, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    let options = comparison.options
    switch comparison.predicateOperatorType {
    case .equalTo: return equal(left, right, options)
    case .notEqualTo: return !equal(left, right, options)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return try isOrdered(comparison.predicateOperatorType, left, right, options)
    case .between: return try isBetween(left, right, options)
    case .in: return try isContained(left, in: right, options, sign: "IN")
    case .contains: return try isContained(right, in: left, options, sign: "CONTAINS")
    case .beginsWith, .endsWith, .like, .matches:
      return try matches(comparison.predicateOperatorType, left, right, options)
    case .customSelector:
      return try PredicateMethod.test(comparison.customSelectorName ?? "", left, right)
    }
  }

  static func equal(
    _ left: PredicateValue, _ right: PredicateValue, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)) where !options.isEmpty:
      StringMatching.isEqual(left, right, options)
    case (.collection(let left), .collection(let right)): left.sameElements(as: right)
    default: left == right
    }
  }

  static func isOrdered(
    _ type: NSComparisonPredicate.Operator, _ left: PredicateValue, _ right: PredicateValue,
    _ options: NSComparisonPredicate.Options
  ) throws(PredicateEvaluationError) -> Bool {
    let order: ComparisonResult
    if left.isNull || right.isNull {
      guard left.isNull, right.isNull else { return false }
      order = .orderedSame
    } else if left.isNotANumber || right.isNotANumber {
      return false
    } else {
      order = try compare(left, right, options, sign: type.sign)
    }
    return switch type {
    case .lessThan: order == .orderedAscending
    case .lessThanOrEqualTo: order != .orderedDescending
    case .greaterThan: order == .orderedDescending
    default: order != .orderedAscending
    }
  }

  private static func compare(
    _ left: PredicateValue, _ right: PredicateValue, _ options: NSComparisonPredicate.Options,
    sign: String
  ) throws(PredicateEvaluationError) -> ComparisonResult {
    if !options.isEmpty, case .string(let left) = left, case .string(let right) = right {
      return StringMatching.compare(left, right, options)
    }
    guard let order = PredicateValue.compare(left, right) else {
      throw .incomparable(left: left.kindText, operator: sign, right: right.kindText)
    }
    return order
  }

  private static func isBetween(
    _ value: PredicateValue, _ bounds: PredicateValue, _ options: NSComparisonPredicate.Options
  ) throws(PredicateEvaluationError) -> Bool {
    if bounds.isNull { return false }
    guard case .collection(let collection) = bounds, collection.elements.count == 2 else {
      throw .wrongOperand(bounds.kindText, operator: "BETWEEN, which needs two bounds,")
    }
    if value.isNull { return false }
    let (lower, upper) = (collection.elements[0], collection.elements[1])
    guard try isOrdered(.greaterThanOrEqualTo, value, lower, options) else { return false }
    return try isOrdered(.lessThanOrEqualTo, value, upper, options)
  }

  /// Returns the result of `IN` and `CONTAINS`: whether a collection contains an element, or a
  /// string a substring.
  private static func isContained(
    _ element: PredicateValue, in container: PredicateValue,
    _ options: NSComparisonPredicate.Options, sign: String
  ) throws(PredicateEvaluationError) -> Bool {
    switch container {
    case .null: return false
    case .collection(let collection):
      guard !options.isEmpty, case .string = element else { return collection.contains(element) }
      return collection.elements.contains { equal(element, $0, options) }
    case .string, .url:
      let text = container.searchText ?? ""
      if element.isNull { return false }
      guard let part = element.searchText else {
        throw .wrongOperand(element.kindText, operator: "\(sign) with a string")
      }
      return StringMatching.contains(text, part, options)
    case .dictionary(let entries, _):
      return entries.values.contains(element)
    default:
      throw .wrongOperand(container.kindText, operator: sign)
    }
  }

  private static func matches(
    _ type: NSComparisonPredicate.Operator, _ left: PredicateValue, _ right: PredicateValue,
    _ options: NSComparisonPredicate.Options
  ) throws(PredicateEvaluationError) -> Bool {
    if left.isNull || right.isNull { return false }
    guard let text = left.searchText else {
      throw .wrongOperand(left.kindText, operator: type.sign)
    }
    guard let pattern = right.searchText else {
      throw .wrongOperand(right.kindText, operator: type.sign)
    }
    return switch type {
    case .beginsWith: StringMatching.hasPrefix(text, pattern, options)
    case .endsWith: StringMatching.hasSuffix(text, pattern, options)
    case .like: StringMatching.isLike(text, pattern, options)
    default: try StringMatching.matches(text, pattern, options)
    }
  }
}

// Comparisons of a record's values with values of another kind: a string with a number, a date with
// seconds. As in SQL, the type of the column determines the conversion.
extension PredicateEvaluator {
  /// Returns whether two values, or a value and an element of a list, have kinds that must be
  /// converted before they're compared.
  @inline(__always)
  static func differInKind(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    switch (left, right) {
    case (.integer, .integer), (.string, .string), (.null, _), (_, .null): false
    case (.collection(let list), let value), (let value, .collection(let list)):
      !list.fits(value)
    default: !left.fits(right)
    }
  }

  /// Returns whether a comparison is true for two values of different kinds.
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
        guard try sides.isOrdered(.greaterThanOrEqualTo, left, bounds.elements[0], position: 0)
        else {
          return false
        }
        return try sides.isOrdered(.lessThanOrEqualTo, left, bounds.elements[1], position: 1)
      }
    case .beginsWith, .endsWith, .like, .matches, .customSelector: break
    }
    return try isTrue(comparison, left, right)
  }

  /// The two sides of a comparison.
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

    /// Returns whether two values are equal; values of kinds that can't be converted to each other
    /// aren't.
    func equal(
      _ left: PredicateValue, _ right: PredicateValue, position: Int? = nil
    ) throws(PredicateEvaluationError) -> Bool {
      guard let (left, right) = fitted(left, right, position) else { return false }
      return PredicateEvaluator.equal(left, right, options)
    }

    func isOrdered(
      _ type: NSComparisonPredicate.Operator, _ left: PredicateValue, _ right: PredicateValue,
      position: Int? = nil
    ) throws(PredicateEvaluationError) -> Bool {
      guard let (first, second) = fitted(left, right, position) else {
        throw .incomparable(left: left.kindText, operator: type.sign, right: right.kindText)
      }
      return try PredicateEvaluator.isOrdered(type, first, second, options)
    }

    func isContained(
      _ element: PredicateValue, in list: PredicateCollection
    ) throws(PredicateEvaluationError) -> Bool {
      for (position, candidate) in list.elements.enumerated()
      where try equal(element, candidate, position: position) {
        return true
      }
      return false
    }

    /// Returns both values in comparable form, or `nil` if there's no such form.
    ///
    /// - Parameter position: The index of the second value in a literal list.
    private func fitted(
      _ left: PredicateValue, _ right: PredicateValue, _ position: Int?
    ) -> (PredicateValue, PredicateValue)? {
      if left.fits(right) { return (left, right) }
      var (first, second) = (left, right)
      switch (value.isIndependentOfObject, isConstant(position)) {
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

    private func isConstant(_ position: Int?) -> Bool {
      if let position, case .aggregate(let elements) = other.node,
        elements.indices.contains(position)
      {
        return elements[position].isIndependentOfObject
      }
      return other.isIndependentOfObject
    }
  }
}
