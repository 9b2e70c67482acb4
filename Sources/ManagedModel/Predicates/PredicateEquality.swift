/// Compares and hashes predicate and expression trees, which are equal if their canonical formats
/// and constants are equal.
enum PredicateEquality {
  static func equal(_ left: NSPredicate, _ right: NSPredicate) -> Bool {
    // Recursion isn't possible in trees that are too deep, so they're equal to themselves only.
    if max(left.depth, right.depth) > ModelLimits.predicateTreeDepth { return false }
    let (first, second) = (canonical(left), canonical(right))
    switch (first.form, second.form) {
    case (.comparison(let left), .comparison(let right)):
      return left.predicateOperatorType == right.predicateOperatorType
        && left.comparisonPredicateModifier == right.comparisonPredicateModifier
        && left.options == right.options && left.customSelectorName == right.customSelectorName
        && left.leftExpression == right.leftExpression
        && left.rightExpression == right.rightExpression
    case (.compound(let left, let lefts), .compound(let right, let rights)):
      return left == right && lefts == rights
    case (.constant(let left), .constant(let right)): return left == right
    default: return first === second
    }
  }

  static func hash(_ predicate: NSPredicate, into hasher: inout Hasher) {
    if predicate.depth > ModelLimits.predicateTreeDepth { return hasher.combine(predicate.depth) }
    let predicate = canonical(predicate)
    switch predicate.form {
    case .comparison(let comparison):
      hasher.combine(comparison.predicateOperatorType)
      hasher.combine(comparison.comparisonPredicateModifier)
      hasher.combine(comparison.options)
      hasher.combine(comparison.leftExpression)
      hasher.combine(comparison.rightExpression)
    case .compound(let type, let predicates):
      hasher.combine(type)
      hasher.combine(predicates)
    case .constant(let value): hasher.combine(value)
    case .block, .unknown: hasher.combine(ObjectIdentifier(predicate))
    }
  }

  /// Returns a predicate without compounds that have one or no subpredicate, which aren't printed.
  private static func canonical(_ predicate: NSPredicate) -> NSPredicate {
    var predicate = predicate
    while case .compound(let type, let predicates) = predicate.form, type != .not,
      predicates.count < 2
    {
      guard let only = predicates.first else { return NSPredicate(value: type == .and) }
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
    case (.assignment(let left, let leftValue), .assignment(let right, let rightValue)):
      left == right && leftValue == rightValue
    case (.fetch(let left, let a, let leftCounts), .fetch(let right, let b, let rightCounts)):
      left == right && a == b && leftCounts == rightCounts
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
    case .variable(let name), .subquery(_, let name, _), .assignment(let name, _):
      hasher.combine(name)
    case .keyPath(let path): hasher.combine(path)
    case .function(let function, _): hasher.combine(function)
    case .method(_, let name, _): hasher.combine(name)
    case .setOperation(let operation, _, _): hasher.combine(operation)
    default: break
    }
    hasher.combine(node.children)
    hasher.combine(node.childPredicate)
  }

  /// Returns the constant list that's equal to an aggregate of constants, or the key path that's
  /// equal to a path that begins at a key.
  private static func canonical(_ node: NSExpression.Node) -> NSExpression.Node {
    if case .path(let operand, let rest) = node, case .keyPath(let path) = rest.node {
      switch canonical(operand.node) {
      case .evaluatedObject: return .keyPath(path)
      case .keyPath(let start):
        return .keyPath(PredicateKeyPath(components: start.components + path.components))
      default: return node
      }
    }
    guard case .aggregate(let elements) = node else { return node }
    var values: [PredicateValue] = []
    for element in elements {
      guard case .constant(let value) = canonical(element.node) else { return node }
      values.append(value)
    }
    return .constant(.collection(PredicateCollection(values)))
  }
}
