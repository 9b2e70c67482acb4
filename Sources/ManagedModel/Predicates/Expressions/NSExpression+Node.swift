internal import Foundation

extension NSExpression {
  /// The kinds of expression with what each holds.
  package indirect enum Node {
    case constant(PredicateValue)
    /// `SELF`
    case evaluatedObject
    /// `$name`, without the sign.
    case variable(String)
    /// A key path from the object: `country.name`, `moods.@count`.
    case keyPath(PredicateKeyPath)
    /// A key path, or a variable that holds one, from another value: `$x.name`,
    /// `SUBQUERY(…).@count`.
    case path(NSExpression, NSExpression)
    /// `names[0]`, `names[LAST]`.
    case subscripted(NSExpression, Index)
    /// One of the built-in functions, the operators of arithmetic among them.
    case function(PredicateFunction, [NSExpression])
    /// `FUNCTION(operand, "selector:", …)`: a method of the operand.
    case method(NSExpression, String, [NSExpression])
    /// `{1, a, "b"}`
    case aggregate([NSExpression])
    case setOperation(SetOperation, NSExpression, NSExpression)
    /// `SUBQUERY(collection, $variable, predicate)`
    case subquery(NSExpression, variable: String, NSPredicate)
    /// `TERNARY(predicate, yes, no)`
    case conditional(NSPredicate, NSExpression, NSExpression)
    case anyKey
    case block(Block, [NSExpression])
    /// `$name := value`, without the sign: the value, which the variable has from there on.
    case assignment(String, NSExpression)
    /// `FETCH(request, context, countOnly)`
    case fetch(NSExpression, context: NSExpression, countOnly: Bool)
  }

  /// What stands between the brackets of a subscript.
  package enum Index {
    case first
    case last
    case size
    case expression(NSExpression)
  }

  /// The operators on collections.
  package enum SetOperation: String, Sendable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
  }

  /// A block with an identity, so that expressions which share it are equal.
  package final class Block: Sendable {
    package let body: @Sendable (Any?, [Any], NSMutableDictionary?) -> Any

    package init(_ body: @escaping @Sendable (Any?, [Any], NSMutableDictionary?) -> Any) {
      self.body = body
    }
  }
}

extension NSExpression.Node {
  /// The key, for a key path of one key.
  var onlyKey: String? {
    if case .keyPath(let path) = self { path.onlyKey } else { nil }
  }

  /// The value of a constant that is no placeholder, and whether it is one.
  var constant: (value: PredicateValue, isConstant: Bool) {
    switch self {
    case .constant(.placeholder): (.null, false)
    case .constant(let value): (value, true)
    default: (.null, false)
    }
  }

  /// The expressions directly below, in the order they are written.
  ///
  /// Predicates are not among them.
  package var children: [NSExpression] {
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: []
    case .path(let operand, let path): [operand, path]
    case .subscripted(let operand, .expression(let index)): [operand, index]
    case .subscripted(let operand, _): [operand]
    case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments):
      arguments
    case .method(let operand, _, let arguments): [operand] + arguments
    case .setOperation(_, let left, let right), .fetch(let left, let right, _): [left, right]
    case .subquery(let collection, _, _): [collection]
    case .assignment(_, let value): [value]
    case .conditional(_, let yes, let no): [yes, no]
    }
  }

  /// The predicate inside a `SUBQUERY` or a `TERNARY`.
  package var childPredicate: NSPredicate? {
    switch self {
    case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate
    default: nil
    }
  }

  var childDepth: Int {
    max(children.lazy.map(\.depth).max() ?? 0, childPredicate?.depth ?? 0)
  }
}
