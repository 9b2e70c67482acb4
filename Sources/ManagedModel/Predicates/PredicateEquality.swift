/// Equality and hash values of predicate and expression trees: equal when they mean the same by
/// their form, that is, when their canonical texts and constants agree.
enum PredicateEquality {
  static func equal(_ left: NSPredicate, _ right: NSPredicate) -> Bool {
    switch (canonical(left), canonical(right)) {
    case (let left as NSComparisonPredicate, let right as NSComparisonPredicate):
      return left.predicateOperatorType == right.predicateOperatorType
        && left.comparisonPredicateModifier == right.comparisonPredicateModifier
        && left.options == right.options && left.customSelectorName == right.customSelectorName
        && left.leftExpression == right.leftExpression
        && left.rightExpression == right.rightExpression
    case (let left as NSCompoundPredicate, let right as NSCompoundPredicate):
      return left.compoundPredicateType == right.compoundPredicateType
        && left.predicates == right.predicates
    case (let left, let right):
      guard case .constant(let left) = left.kind, case .constant(let right) = right.kind else {
        return left === right
      }
      return left == right
    }
  }

  static func hash(_ predicate: NSPredicate, into hasher: inout Hasher) {
    switch canonical(predicate) {
    case let comparison as NSComparisonPredicate:
      hasher.combine(comparison.predicateOperatorType)
      hasher.combine(comparison.comparisonPredicateModifier)
      hasher.combine(comparison.options)
      hasher.combine(comparison.leftExpression)
      hasher.combine(comparison.rightExpression)
    case let compound as NSCompoundPredicate:
      hasher.combine(compound.compoundPredicateType)
      hasher.combine(compound.predicates)
    case let other:
      if case .constant(let value) = other.kind {
        hasher.combine(value)
      } else {
        hasher.combine(ObjectIdentifier(other))
      }
    }
  }

  /// Without compounds of one or of none, which print as what they mean.
  private static func canonical(_ predicate: NSPredicate) -> NSPredicate {
    var predicate = predicate
    while let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType != .not,
      compound.predicates.count < 2
    {
      guard let only = compound.predicates.first else {
        return NSPredicate(value: compound.compoundPredicateType == .and)
      }
      predicate = only
    }
    return predicate
  }

  static func equal(_ left: NSExpression, _ right: NSExpression) -> Bool {
    switch (canonical(left.node), canonical(right.node)) {
    case (.constant(let left), .constant(let right)): left == right
    case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey): true
    case (.variable(let left), .variable(let right)): left == right
    case (.keyPath(let left), .keyPath(let right)): left == right
    case (.path(let left, let leftPath), .path(let right, let rightPath)):
      left == right && leftPath == rightPath
    case (.subscripted(let left, let leftIndex), .subscripted(let right, let rightIndex)):
      left == right && equal(leftIndex, rightIndex)
    case (.function(let left, let leftArguments), .function(let right, let rightArguments)):
      left == right && leftArguments == rightArguments
    case (.method(let left, let leftName, let lefts), .method(let right, let rightName, let rights)):
      left == right && leftName == rightName && lefts == rights
    case (.aggregate(let left), .aggregate(let right)): left == right
    case (.setOperation(let left, let a, let b), .setOperation(let right, let c, let d)):
      left == right && a == c && b == d
    case (.subquery(let left, let a, let leftTest), .subquery(let right, let b, let rightTest)):
      left == right && a == b && leftTest == rightTest
    case (.conditional(let left, let a, let b), .conditional(let right, let c, let d)):
      left == right && a == c && b == d
    case (.block(let left, let lefts), .block(let right, let rights)):
      left === right && lefts == rights
    default: false
    }
  }

  private static func equal(_ left: NSExpression.Index, _ right: NSExpression.Index) -> Bool {
    switch (left, right) {
    case (.first, .first), (.last, .last), (.size, .size): true
    case (.expression(let left), .expression(let right)): left == right
    default: false
    }
  }

  static func hash(_ expression: NSExpression, into hasher: inout Hasher) {
    let node = canonical(expression.node)
    switch node {
    case .constant(let value): hasher.combine(value)
    case .variable(let name), .subquery(_, let name, _): hasher.combine(name)
    case .keyPath(let path): hasher.combine(path)
    case .function(let function, _): hasher.combine(function)
    case .method(_, let name, _): hasher.combine(name)
    case .setOperation(let operation, _, _): hasher.combine(operation)
    default: break
    }
    hasher.combine(node.children)
    hasher.combine(node.childPredicate)
  }

  /// An aggregate of constants is the constant list.
  private static func canonical(_ node: NSExpression.Node) -> NSExpression.Node {
    guard case .aggregate(let elements) = node else { return node }
    var values: [PredicateValue] = []
    for element in elements {
      guard case .constant(let value) = canonical(element.node) else { return node }
      values.append(value)
    }
    return .constant(.collection(PredicateCollection(values)))
  }
}
