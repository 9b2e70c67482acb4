import ManagedModel

extension PredicateExpressions.Equal: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    try translation.comparison(.equalTo, lhs, rhs)
  }
}

extension PredicateExpressions.NotEqual: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    try translation.comparison(.notEqualTo, lhs, rhs)
  }
}

extension PredicateExpressions.Comparison: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let type: NSComparisonPredicate.Operator =
      switch op {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqualTo
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqualTo
      @unknown default: throw translation.unknown(self)
      }
    return try translation.comparison(type, lhs, rhs)
  }
}

extension PredicateExpressions.Conjunction: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .predicate(
      NSCompoundPredicate(andPredicateWithSubpredicates: [
        try translation.predicate(lhs), try translation.predicate(rhs),
      ]))
  }
}

extension PredicateExpressions.Disjunction: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .predicate(
      NSCompoundPredicate(orPredicateWithSubpredicates: [
        try translation.predicate(lhs), try translation.predicate(rhs),
      ]))
  }
}

extension PredicateExpressions.Negation: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .predicate(
      NSCompoundPredicate(notPredicateWithSubpredicate: try translation.predicate(wrapped)))
  }
}

extension PredicateExpressions.Range: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .range(
      lower: try translation.expression(lower), upper: try translation.expression(upper),
      isClosed: false)
  }
}

extension PredicateExpressions.ClosedRange: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .range(
      lower: try translation.expression(lower), upper: try translation.expression(upper),
      isClosed: true)
  }
}

extension PredicateExpressions.RangeExpressionContains: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    guard case .range(let lower, let upper, let isClosed) = try translation.term(range) else {
      throw translation.unknown(range)
    }
    let value = try translation.expression(element)
    if isClosed {
      return .predicate(
        translation.comparison(.between, value, NSExpression(forAggregate: [lower, upper])))
    }
    return .predicate(
      NSCompoundPredicate(andPredicateWithSubpredicates: [
        translation.comparison(.greaterThanOrEqualTo, value, lower),
        translation.comparison(.lessThan, value, upper),
      ]))
  }
}

extension PredicateExpressions.SequenceContains: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let collection = try translation.expression(sequence)
    let value = try translation.expression(element)
    if case .constant = collection.node {
      return .predicate(translation.comparison(.in, value, collection))
    }
    return .predicate(translation.comparison(.contains, collection, value))
  }
}

extension PredicateExpressions.SequenceContainsWhere: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let found = try translation.subquery(sequence, variable.key, test)
    return .predicate(
      translation.comparison(
        .greaterThan, translation.path(found, "@count"), NSExpression(forConstantValue: 0)))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let others = try translation.subquery(sequence, variable.key, test, isNegated: true)
    return .predicate(
      translation.comparison(
        .equalTo, translation.path(others, "@count"), NSExpression(forConstantValue: 0)))
  }
}

extension PredicateExpressions.SequenceStartsWith: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    guard Base.Output.self is any StringProtocol.Type else { throw translation.unknown(self) }
    return try translation.comparison(.beginsWith, base, prefix)
  }
}

extension PredicateExpressions.CollectionContainsCollection: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    guard Base.Output.self is any StringProtocol.Type else { throw translation.unknown(self) }
    return try translation.comparison(.contains, base, other)
  }
}

extension PredicateExpressions.Conditional: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .expression(
      NSExpression(
        forConditional: try translation.predicate(test),
        trueExpression: try translation.expression(trueBranch),
        falseExpression: try translation.expression(falseBranch)))
  }
}

extension PredicateExpressions.Variable: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    guard let value = translation.value(of: key) else { throw translation.unknown(self) }
    return .expression(value)
  }
}

extension PredicateExpressions.Value: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    if let bounds = (value as? any ConstantRange)?.term { return bounds }
    let plain = (value as? any ManagedValue)?.managedValue ?? value
    return .expression(NSExpression(forConstantValue: plain))
  }
}

extension PredicateExpressions.NilLiteral: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .expression(NSExpression(forConstantValue: nil))
  }
}

extension PredicateExpressions.KeyPath: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let operand = try translation.expression(root)
    if let kind {
      let isText = Root.Output.self is any StringProtocol.Type
      let size = translation.path(operand, "@count")
      switch kind {
      case .collectionCount where !isText: return .expression(size)
      case .collectionIsEmpty:
        return .predicate(
          isText
            ? translation.comparison(.equalTo, operand, NSExpression(forConstantValue: ""))
            : translation.comparison(.equalTo, size, NSExpression(forConstantValue: 0)))
      default:
        throw NSError.fetch("#Predicate: \(kind) has no counterpart in NSPredicate.")
      }
    }
    let name = try translation.names.name(of: keyPath, in: Root.Output.self)
    return .expression(translation.path(operand, name))
  }
}

extension PredicateExpressions.OptionalFlatMap: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let value = try translation.expression(wrapped)
    translation.bind(variable.key, to: value)
    let isThere = translation.isThere(value)
    switch try translation.term(transform) {
    case .predicate(let predicate): return .optional(predicate, isThere: isThere)
    case .optional(let predicate, let isInnerThere):
      let both = NSCompoundPredicate(andPredicateWithSubpredicates: [isThere, isInnerThere])
      return .optional(predicate, isThere: both)
    case .expression(let result) where result.replacesNil || result.isIndependentOfObject:
      return .expression(
        NSExpression(
          forConditional: isThere, trueExpression: result,
          falseExpression: NSExpression(forConstantValue: nil)))
    case let result: return result
    }
  }
}

extension PredicateExpressions.ForcedUnwrap: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    try translation.term(inner)
  }
}

extension PredicateExpressions.NilCoalesce: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let left = try translation.term(lhs)
    let fallback = try translation.expression(rhs)
    if case .optional(let predicate, let isThere) = left,
      case .constant(.bool(let constant)) = fallback.node
    {
      return .expression(
        translation.truth(predicate, isThere: isThere, isTrueForNil: constant))
    }
    let value = try translation.expression(left, of: lhs)
    return .expression(
      NSExpression(
        forConditional: translation.isThere(value), trueExpression: value,
        falseExpression: fallback))
  }
}

extension PredicateExpressions.Filter: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    .expression(try translation.subquery(sequence, variable.key, filter))
  }
}

extension PredicateExpressions.Arithmetic: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    switch op {
    case .add: try translation.function(.add, lhs, rhs)
    case .subtract: try translation.function(.subtract, lhs, rhs)
    case .multiply: try translation.function(.multiply, lhs, rhs)
    @unknown default: throw translation.unknown(self)
    }
  }
}

extension PredicateExpressions.FloatDivision: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    try translation.function(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    try translation.function(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    try translation.function(.modulus, lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: SwiftPredicateNode {
  func term(_ translation: inout SwiftPredicateTranslation) throws -> SwiftPredicateTranslation.Term
  {
    let value = try translation.expression(wrapped)
    return .expression(
      NSExpression(.function(.subtract, [NSExpression(forConstantValue: 0), value])))
  }
}

/// A range captured by a predicate.
private protocol ConstantRange {
  var term: SwiftPredicateTranslation.Term { get }
}

extension Range: ConstantRange {
  fileprivate var term: SwiftPredicateTranslation.Term {
    .range(
      lower: NSExpression(forConstantValue: lowerBound),
      upper: NSExpression(forConstantValue: upperBound), isClosed: false)
  }
}

extension ClosedRange: ConstantRange {
  fileprivate var term: SwiftPredicateTranslation.Term {
    .range(
      lower: NSExpression(forConstantValue: lowerBound),
      upper: NSExpression(forConstantValue: upperBound), isClosed: true)
  }
}
