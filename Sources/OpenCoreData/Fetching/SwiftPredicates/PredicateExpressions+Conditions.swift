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
