import ManagedModel

/// Translates the tree of a Swift predicate into an `NSPredicate`.
struct SwiftPredicateTranslation {
  /// The translation of a node.
  enum Term {
    case predicate(NSPredicate)
    case expression(NSExpression)
    /// Bounds, the upper one inclusive or exclusive.
    case range(lower: NSExpression, upper: NSExpression, isClosed: Bool)
  }

  let names: SwiftKeyNames
  private var variables: [PredicateExpressions.VariableID: NSExpression] = [:]
  private var count = 0

  init(_ names: SwiftKeyNames) {
    self.names = names
  }

  /// Translates the whole predicate; its variable is the fetched object.
  mutating func translate<Object>(_ predicate: Foundation.Predicate<Object>) throws -> NSPredicate {
    let variable: PredicateExpressions.Variable<Object> = predicate.variable
    variables[variable.key] = .expressionForEvaluatedObject()
    return try self.predicate(predicate.expression)
  }

  // MARK: Nodes

  /// Translates a node of any kind.
  mutating func term(_ node: some PredicateExpression) throws -> Term {
    guard let node = node as? any SwiftPredicateNode else { throw unknown(node) }
    return try node.term(&self)
  }

  /// Translates a node into a condition; a Boolean value is compared with YES.
  mutating func predicate(_ node: some PredicateExpression) throws -> NSPredicate {
    switch try term(node) {
    case .predicate(let predicate): return predicate
    case .expression(let expression):
      if case .constant(.bool(let value)) = expression.node { return NSPredicate(value: value) }
      return comparison(.equalTo, expression, NSExpression(forConstantValue: true))
    case .range: throw unknown(node)
    }
  }

  /// Translates a node into a value; a condition becomes a TERNARY expression.
  mutating func expression(_ node: some PredicateExpression) throws -> NSExpression {
    switch try term(node) {
    case .expression(let expression): return expression
    case .predicate(let predicate):
      return NSExpression(
        forConditional: predicate, trueExpression: NSExpression(forConstantValue: true),
        falseExpression: NSExpression(forConstantValue: false))
    case .range: throw unknown(node)
    }
  }

  /// Returns an error that names the operator of a node.
  func unknown(_ node: Any) -> NSError {
    let type = "\(type(of: node))".prefix { $0 != "<" }
    return NSError.fetch(
      "#Predicate: \(type) has no counterpart in NSPredicate. Write the predicate as a format, or "
        + "filter the fetched objects.")
  }

  // MARK: Pieces

  func comparison(
    _ type: NSComparisonPredicate.Operator, _ left: NSExpression, _ right: NSExpression
  ) -> NSPredicate {
    NSComparisonPredicate(
      leftExpression: left, rightExpression: right, modifier: .direct, type: type)
  }

  mutating func comparison(
    _ type: NSComparisonPredicate.Operator, _ left: some PredicateExpression,
    _ right: some PredicateExpression
  ) throws -> Term {
    .predicate(comparison(type, try expression(left), try expression(right)))
  }

  mutating func function(
    _ function: PredicateFunction, _ left: some PredicateExpression,
    _ right: some PredicateExpression
  ) throws -> Term {
    .expression(NSExpression(.function(function, [try expression(left), try expression(right)])))
  }

  /// Appends a key or an operator to a value.
  func path(_ operand: NSExpression, _ key: String) -> NSExpression {
    let path = PredicateKeyPath(key)
    switch operand.node {
    case .evaluatedObject: return NSExpression(forKeyPath: key)
    case .keyPath(let first): return NSExpression(forKeyPath: first.text + "." + key)
    default: return NSExpression(.path(operand, NSExpression(.keyPath(path))))
    }
  }

  /// Returns the value of a variable.
  func value(of variable: PredicateExpressions.VariableID) -> NSExpression? {
    variables[variable]
  }

  /// Binds a variable to a value.
  mutating func bind(_ variable: PredicateExpressions.VariableID, to value: NSExpression) {
    variables[variable] = value
  }

  /// Returns a SUBQUERY for the elements of a collection that pass a test.
  mutating func subquery(
    _ collection: some PredicateExpression, _ variable: PredicateExpressions.VariableID,
    _ test: some PredicateExpression, isNegated: Bool = false
  ) throws -> NSExpression {
    count += 1
    let name = "x\(count)"
    let elements = try expression(collection)
    bind(variable, to: NSExpression(forVariable: name))
    let predicate = try predicate(test)
    return NSExpression(
      forSubquery: elements, usingIteratorVariable: name,
      predicate: isNegated
        ? NSCompoundPredicate(notPredicateWithSubpredicate: predicate) : predicate)
  }
}

/// A node of Swift's predicate trees that has an `NSPredicate` counterpart.
protocol SwiftPredicateNode {
  /// Returns the counterpart.
  func term(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> SwiftPredicateTranslation.Term
}
