public import Foundation

extension NSExpression {
  /// A value that does not depend on the object.
  ///
  /// `NSNull` compares as nil, and `constantValue` returns it.
  public convenience init(forConstantValue value: Any?) {
    self.init(
      .constant(PredicateValue(constant: value)), origin: value is NSNull ? .null : .node)
  }

  /// `$name`; the name is given without the sign.
  public convenience init(forVariable name: String) {
    self.init(.variable(name))
  }

  /// A key path from the object.
  ///
  /// `"self"` is the object itself; `"$x.name"` starts at the variable `x`.
  public convenience init(forKeyPath keyPath: String) {
    if keyPath.hasPrefix("$") {
      let parts = keyPath.dropFirst().split(separator: ".", maxSplits: 1)
      let variable = NSExpression(.variable(parts.first.map(String.init) ?? ""))
      let node: Node =
        parts.count == 2
        ? .path(variable, NSExpression(.keyPath(PredicateKeyPath(String(parts[1])))))
        : variable.node
      self.init(node, origin: parts.count == 2 ? .keyPath : .node)
      return
    }
    let path = PredicateKeyPath(keyPath)
    self.init(path.isSelf ? .evaluatedObject : .keyPath(path))
  }

  /// `SELF`: the object the predicate is evaluated with.
  public class func expressionForEvaluatedObject() -> NSExpression {
    NSExpression(.evaluatedObject)
  }

  /// `ANYKEY`, which stands for any key of a Spotlight item.
  ///
  /// Nothing here evaluates it.
  public class func expressionForAnyKey() -> NSExpression {
    NSExpression(.anyKey)
  }

  /// One of the built-in functions, by Apple's name: `average:`, `sum:`, `add:to:`, `now` …
  /// Traps for a name that does not exist and for a wrong number of arguments, as Apple raises.
  public convenience init(forFunction name: String, arguments: [Any]) {
    let expressions = arguments.map(Self.expression)
    if name == "valueForKeyPath:" || name == "objectFrom:withIndex:", expressions.count == 2 {
      self.init(Self.node(of: name, expressions[0], expressions[1]))
      return
    }
    guard let function = PredicateFunction(rawValue: name) else {
      let near = NearestName.of(name, among: PredicateFunction.allCases.map(\.rawValue))
      let hint = near.map { ": did you mean \($0)?" } ?? ""
      preconditionFailure("there is no function \(name) in NSExpression\(hint)")
    }
    precondition(
      function.accepts(expressions.count),
      "\(name) takes \(function.arityText); it was given \(expressions.count)")
    self.init(.function(function, expressions))
  }

  /// A method of the operand's value, by name.
  ///
  /// `PredicateMethod` lists those that exist; any other is an error when evaluated.
  public convenience init(
    forFunction operand: NSExpression, selectorName: String, arguments: [Any]?
  ) {
    let expressions = (arguments ?? []).map(Self.expression)
    if selectorName == "valueForKeyPath:", let path = expressions.first {
      self.init(Self.node(of: selectorName, operand, path))
    } else {
      self.init(.method(operand, selectorName, expressions))
    }
  }

  /// `{…}`.
  ///
  /// Elements that are not expressions become constants.
  public convenience init(forAggregate elements: [Any]) {
    self.init(.aggregate(elements.map(Self.expression)))
  }

  /// The elements of both.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.union, left, right))
  }

  /// The elements that are in both.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.intersect, left, right))
  }

  /// The elements of the first that are not in the second.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.minus, left, right))
  }

  /// `SUBQUERY`: the elements for which the predicate holds.
  ///
  /// The variable has no `$`.
  public convenience init(
    forSubquery collection: NSExpression, usingIteratorVariable variable: String,
    predicate: NSPredicate
  ) {
    self.init(.subquery(collection, variable: variable, predicate))
  }

  /// `TERNARY`: one of two values.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression,
    falseExpression: NSExpression
  ) {
    self.init(.conditional(predicate, trueExpression, falseExpression))
  }

  /// Asks a block.
  ///
  /// It cannot become SQL and has no parsable text.
  public convenience init(
    block:
      @escaping @Sendable (
        _ object: Any?, _ arguments: [Any], _ context: NSMutableDictionary?
      ) -> Any,
    arguments: [NSExpression]?
  ) {
    self.init(.block(Block(block), arguments ?? []))
  }

  /// Parses an expression, such as `"price * %d"`.
  ///
  /// Traps as `NSPredicate(format:)`.
  public convenience init(format: String, _ arguments: Any?...) {
    let source = PlaceholderSource(arguments, strict: true)
    do {
      self.init(try PredicateParser.expression(format, source: source).node)
    } catch {
      preconditionFailure(error.description)
    }
  }

  /// Parses an expression whose arguments are all objects.
  ///
  /// Traps as `NSPredicate(format:)`.
  public convenience init(format: String, argumentArray arguments: [Any]) {
    let source = PlaceholderSource(arguments, strict: false)
    do {
      self.init(try PredicateParser.expression(format, source: source).node)
    } catch {
      preconditionFailure(error.description)
    }
  }

  /// Parses an expression; `nil` arguments keep the placeholders, as `NSPredicate.parse`.
  package static func parse(
    _ format: String, arguments: [Any?]? = nil
  ) throws(PredicateSyntaxError) -> NSExpression {
    try PredicateParser.expression(
      format, source: arguments.map { PlaceholderSource($0, strict: false) })
  }

  private static func expression(_ value: Any) -> NSExpression {
    value as? NSExpression ?? NSExpression(forConstantValue: value)
  }

  private static func node(
    of name: String, _ operand: NSExpression, _ argument: NSExpression
  ) -> Node {
    if name == "objectFrom:withIndex:" {
      return .subscripted(operand, .expression(argument))
    }
    if case .constant(.string(let keyPath)) = argument.node {
      return .path(operand, NSExpression(forKeyPath: keyPath))
    }
    return .path(operand, argument)
  }
}
