internal import Foundation

// Apple's accessors. Each traps, as Apple raises, when the expression is of another kind.
extension NSExpression {
  /// The value of a constant; a number is an `NSNumber`, whatever it was given as.
  ///
  /// `NSNull` stays what it is.
  public var constantValue: Any? {
    if origin == .null { return NSNull() }
    guard case .constant(let value) = node else { unavailable("constantValue") }
    return value.boxed
  }

  /// The text of a key path.
  public var keyPath: String {
    switch node {
    case .keyPath(let path): path.text
    case .path(let start, let path) where origin == .keyPath:
      "$\(start.variable).\(path.keyPath)"
    case .path(_, let path): path.keyPath
    default: unavailable("keyPath")
    }
  }

  /// The name of a variable, or of a subquery's variable, without the `$`.
  public var variable: String {
    switch node {
    case .variable(let name), .subquery(_, let name, _), .assignment(let name, _): name
    default: unavailable("variable")
    }
  }

  /// The name of a function: `sum:`, `valueForKeyPath:`, or a method's selector.
  public var function: String {
    switch node {
    case .function(let function, _): function.rawValue
    case .method(_, let name, _): name
    case .path: "valueForKeyPath:"
    case .subscripted: "objectFrom:withIndex:"
    default: unavailable("function")
    }
  }

  /// The arguments of a function or a block.
  public var arguments: [NSExpression]? {
    switch node {
    case .function(_, let arguments), .method(_, _, let arguments), .block(_, let arguments):
      arguments
    case .path(_, let path): [path]
    case .subscripted: node.children
    default: unavailable("arguments")
    }
  }

  /// What a function is called on.
  ///
  /// A built-in function has the name of Apple's helper class as a constant.
  public var operand: NSExpression {
    switch node {
    case .path(let operand, _), .method(let operand, _, _): operand
    case .function, .subscripted: NSExpression(forConstantValue: "_NSPredicateUtilities")
    default: unavailable("operand")
    }
  }

  /// The elements of an aggregate, as `[NSExpression]`; the collection of a subquery.
  public var collection: Any? {
    switch node {
    case .aggregate(let elements): elements
    case .subquery(let collection, _, _): collection
    default: unavailable("collection")
    }
  }

  /// The predicate of a `SUBQUERY` or a `TERNARY`.
  public var predicate: NSPredicate {
    guard let predicate = node.childPredicate else { unavailable("predicate") }
    return predicate
  }

  /// The first operand of a set operation.
  public var left: NSExpression {
    guard case .setOperation(_, let left, _) = node else { unavailable("left") }
    return left
  }

  /// The second operand of a set operation.
  public var right: NSExpression {
    guard case .setOperation(_, _, let right) = node else { unavailable("right") }
    return right
  }

  /// The value of a `TERNARY` whose predicate holds.
  public var `true`: NSExpression {
    guard case .conditional(_, let yes, _) = node else { unavailable("true") }
    return yes
  }

  /// The value of a `TERNARY` whose predicate does not hold.
  public var `false`: NSExpression {
    guard case .conditional(_, _, let no) = node else { unavailable("false") }
    return no
  }

  private func unavailable(_ property: String) -> Never {
    preconditionFailure("an expression of type \(expressionType) has no \(property): \(self)")
  }
}
