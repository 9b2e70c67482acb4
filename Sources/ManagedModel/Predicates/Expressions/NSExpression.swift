public import Foundation

/// An expression that can be evaluated for an object: a constant, a key path, or a function.
///
/// Expressions are immutable and can be used from any thread. Counterpart: `NSExpression`.
///
/// If the name is "ambiguous for type lookup", import `OpenCoreData` without Foundation, or add
/// `import class ManagedModel.NSExpression`.
// Sendable is unchecked because constants are stored as `Any`: they're only read, and blocks are
// `@Sendable`.
open class NSExpression: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// The kinds of expressions, with Foundation's raw values.
  public enum ExpressionType: UInt, Sendable {
    case constantValue = 0
    case evaluatedObject
    case variable
    case keyPath
    case function
    case unionSet
    case intersectSet
    case minusSet
    case subquery = 13
    case aggregate
    case anyKey
    case block = 19
    case conditional
    /// `FETCH`: Core Data's `NSFetchRequestExpressionType`.
    case fetchRequest = 50
  }

  /// The kind of the expression and its parts, for exhaustive switches.
  package let node: Node
  /// The depth of the tree, including the expression itself.
  package let depth: Int
  /// The key, if the expression is a key path of one key.
  let onlyKey: String?
  /// Whether `onlyKey` isn't `nil`, which can be read without copying the string.
  let hasOnlyKey: Bool
  /// The value of a constant, stored outside the node so that reading it doesn't copy the payload.
  let constant: PredicateValue
  /// Whether the expression is a constant.
  ///
  /// It's false for a placeholder.
  let isConstant: Bool
  /// The position of `onlyKey` in the last record.
  private let lastPosition = LastPosition()

  /// How the expression was created, if the node doesn't determine it.
  package let origin: Origin

  /// How an expression was created.
  package enum Origin: Sendable {
    case node
    /// The constant is `NSNull`, which is `nil` in comparisons.
    case null
    /// A key path that starts at a variable, as one string: `$x.name`.
    case keyPath
  }

  package init(_ node: Node, origin: Origin = .node) {
    self.node = node
    self.origin = origin
    depth = 1 + node.childDepth
    onlyKey = node.onlyKey
    hasOnlyKey = onlyKey != nil
    (constant, isConstant) = node.constant
  }

  /// Whether the class supports secure coding.
  ///
  /// Always true: untrusted archives can be read.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes an expression.
  ///
  /// Returns `nil` if its type is unknown or it's nested more deeply than the parser allows.
  public required init?(coder: NSCoder) {
    guard let node = coder.descending({ Node(coder: coder) }),
      node.childDepth < ModelLimits.predicateDepth
    else {
      return nil
    }
    self.node = node
    origin = Origin(coder: coder)
    depth = 1 + node.childDepth
    onlyKey = node.onlyKey
    hasOnlyKey = onlyKey != nil
    (constant, isConstant) = node.constant
  }

  /// Encodes the expression.
  ///
  /// Traps for blocks and for constants that can't be archived.
  open func encode(with coder: NSCoder) {
    switch origin {
    case .node: node.encode(with: coder, type: expressionType)
    case .null:
      node.encode(with: coder, type: expressionType)
      coder.encode(NSNull(), forKey: PredicateArchiveKey.constant)
    case .keyPath: NSExpression(node).encode(with: coder)
    }
  }

  /// Does nothing: a decoded expression can be evaluated, as `NSPredicate.allowEvaluation()`
  /// describes.
  open func allowEvaluation() {}

  /// Returns the value of `onlyKey`, which must not be `nil`.
  func valueOfOnlyKey(in record: any PredicateRecord) -> PredicateValue {
    lastPosition.value(of: onlyKey ?? "", in: record)
  }

  /// The kind of the expression.
  ///
  /// As in Foundation, a path from a value (`$x.name`), a subscript, and `CAST` are functions; a
  /// placeholder without an argument is a constant.
  open var expressionType: ExpressionType {
    switch node {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath: .keyPath
    case .path where origin == .keyPath: .keyPath
    case .path, .subscripted, .function, .method: .function
    case .aggregate: .aggregate
    case .setOperation(.union, _, _): .unionSet
    case .setOperation(.intersect, _, _): .intersectSet
    case .setOperation(.minus, _, _): .minusSet
    case .subquery: .subquery
    case .conditional: .conditional
    case .anyKey: .anyKey
    case .block: .block
    case .assignment: .variable
    case .fetch: .fetchRequest
    }
  }

  /// Returns the value for an object; numbers are `NSNumber`s.
  ///
  /// Traps where Foundation raises an exception, like `NSPredicate.evaluate(with:)`.
  ///
  /// - Parameters:
  ///   - object: The object that key paths begin with.
  ///   - context: The variables by name; `$x := 1` sets one there.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    var bindings: [String: Any] = [:]
    for (key, value) in context ?? [:] {
      if let name = key as? String { bindings[name] = value }
    }
    do {
      try checkDepth()
      var evaluator = PredicateEvaluator(root: object, bindings: bindings)
      let value = try evaluator.value(of: self).boxed
      for name in evaluator.assigned { context?[name] = evaluator.boxed(variable: name) }
      return value
    } catch {
      fatalError(error.description)
    }
  }

  /// Returns the expression itself, which is immutable.
  open func copy(with zone: NSZone?) -> Any {
    self
  }

  /// Foundation's canonical format, which parses to an equal expression.
  open override var description: String {
    PredicatePrinter.text(of: self)
  }

  /// Returns whether another object is an equal tree.
  ///
  /// Numbers are equal by value; a constant list and an aggregate of the same constants are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    return self === other || PredicateEquality.equal(self, other)
  }

  open override var hash: Int {
    var hasher = Hasher()
    PredicateEquality.hash(self, into: &hasher)
    return hasher.finalize()
  }
}

extension NSExpression {
  /// Returns the value for an object, and throws errors for which `expressionValue` traps.
  package func value(
    for object: Any?, variables: [String: Any]? = nil
  ) throws(PredicateEvaluationError) -> PredicateValue {
    try checkDepth()
    var evaluator = PredicateEvaluator(root: object, bindings: variables)
    return try evaluator.value(of: self)
  }

  /// Throws an error if the tree is too deep for recursion.
  private func checkDepth() throws(PredicateEvaluationError) {
    let limit = ModelLimits.predicateTreeDepth
    if depth > limit { throw .tooDeep(depth, limit: limit) }
  }
}

extension NSExpression {
  /// The kinds of expressions with their parts.
  package indirect enum Node {
    case constant(PredicateValue)
    /// `SELF`
    case evaluatedObject
    /// `$name`, without the `$`.
    case variable(String)
    /// A key path from the object: `country.name`, `moods.@count`.
    case keyPath(PredicateKeyPath)
    /// A key path, or a variable with one, applied to another value: `$x.name`,
    /// `SUBQUERY(…).@count`.
    case path(NSExpression, NSExpression)
    /// `names[0]`, `names[LAST]`.
    case subscripted(NSExpression, Index)
    /// A built-in function, including arithmetic operators.
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
    /// `$name := value`, without the `$`: the value, which the variable has from then on.
    case assignment(String, NSExpression)
    /// `FETCH(request, context, countOnly)`
    case fetch(NSExpression, context: NSExpression, countOnly: Bool)
  }

  /// The index of a subscript.
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

  /// A block with an identity, so that expressions that share it are equal.
  package final class Block: Sendable {
    package let body: @Sendable (Any?, [Any], NSMutableDictionary?) -> Any

    package init(_ body: @escaping @Sendable (Any?, [Any], NSMutableDictionary?) -> Any) {
      self.body = body
    }
  }
}

extension NSExpression.Node {
  /// The key, if the node is a key path of one key.
  var onlyKey: String? {
    if case .keyPath(let path) = self { path.onlyKey } else { nil }
  }

  /// The value of a constant that isn't a placeholder, and whether the node is one.
  var constant: (value: PredicateValue, isConstant: Bool) {
    switch self {
    case .constant(.placeholder): (.null, false)
    case .constant(let value): (value, true)
    default: (.null, false)
    }
  }

  /// The direct subexpressions, in the order in which they're written.
  ///
  /// Predicates aren't included.
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
