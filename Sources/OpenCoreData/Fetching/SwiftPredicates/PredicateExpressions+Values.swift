import ManagedModel

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
    translation.bind(variable.key, to: try translation.expression(wrapped))
    return try translation.term(transform)
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
    let value = try translation.expression(lhs)
    let isThere = translation.comparison(.notEqualTo, value, NSExpression(forConstantValue: nil))
    return .expression(
      NSExpression(
        forConditional: isThere, trueExpression: value,
        falseExpression: try translation.expression(rhs)))
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

/// A range that a predicate was given from outside.
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
