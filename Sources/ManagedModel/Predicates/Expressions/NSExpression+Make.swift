public import Foundation

extension NSExpression {
  /// Creates a constant, whose value doesn't depend on the object.
  ///
  /// `NSNull` compares as `nil`, and `constantValue` returns it.
  public convenience init(forConstantValue value: Any?) {
    self.init(
      .constant(PredicateValue(constant: value)), origin: value is NSNull ? .null : .node)
  }

  /// Creates a variable, `$name`.
  ///
  /// The name doesn't include the `$`.
  public convenience init(forVariable name: String) {
    self.init(.variable(name))
  }

  /// Creates a key path that begins at the object.
  ///
  /// `"self"` is the object itself; `"$x.name"` begins at the variable `x`.
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

  /// Returns `SELF`, the object that the predicate is evaluated for.
  public class func expressionForEvaluatedObject() -> NSExpression {
    NSExpression(.evaluatedObject)
  }

  /// Returns `ANYKEY`, any key of a Spotlight item.
  ///
  /// It can't be evaluated.
  public class func expressionForAnyKey() -> NSExpression {
    NSExpression(.anyKey)
  }

  /// Creates an expression of a type without parts: the evaluated object, or any key.
  ///
  /// Traps for other types, which have initializers with their parts.
  public convenience init(expressionType type: ExpressionType) {
    switch type {
    case .evaluatedObject: self.init(.evaluatedObject)
    case .anyKey: self.init(.anyKey)
    default:
      fatalError("an expression of the type \(type) has parts: use the initializer with them")
    }
  }

  /// Creates a call of a built-in function, such as `average:`, `sum:`, `add:to:`, or `now`.
  ///
  /// Traps if there's no such function or if the number of arguments is wrong, where Foundation
  /// raises an exception.
  public convenience init(forFunction name: String, arguments: [Any]) {
    let expressions = arguments.map(Self.expression)
    if name == "valueForKeyPath:" || name == "objectFrom:withIndex:", expressions.count == 2 {
      self.init(Self.node(of: name, expressions[0], expressions[1]))
      return
    }
    guard let function = PredicateFunction(rawValue: name) else {
      let near = NearestName.of(name, among: PredicateFunction.allCases.map(\.rawValue))
      let hint = near.map { ": did you mean \($0)?" } ?? ""
      fatalError("there's no function \(name) in NSExpression\(hint)")
    }
    guard function.accepts(expressions.count) else {
      fatalError("\(name) takes \(function.arityText); it has \(expressions.count)")
    }
    self.init(.function(function, expressions))
  }

  /// Creates a call of a method of the operand's value.
  ///
  /// `PredicateMethod` lists the available methods; evaluating another one is an error.
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

  /// Creates an aggregate, `{…}`.
  ///
  /// Elements that aren't expressions become constants.
  public convenience init(forAggregate elements: [Any]) {
    self.init(.aggregate(elements.map(Self.expression)))
  }

  /// Creates the union of two collections.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.union, left, right))
  }

  /// Creates the intersection of two collections.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.intersect, left, right))
  }

  /// Creates the difference of two collections: the elements of the first that aren't in the
  /// second.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.minus, left, right))
  }

  /// Creates a `SUBQUERY`: the elements for which the predicate is true.
  ///
  /// The variable's name doesn't include the `$`.
  public convenience init(
    forSubquery collection: NSExpression, usingIteratorVariable variable: String,
    predicate: NSPredicate
  ) {
    self.init(.subquery(collection, variable: variable, predicate))
  }

  /// Creates a `TERNARY`: one of two values, depending on a predicate.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression,
    falseExpression: NSExpression
  ) {
    self.init(.conditional(predicate, trueExpression, falseExpression))
  }

  /// Creates an expression whose value a block computes.
  ///
  /// It can't be translated to SQL and has no parsable format.
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
  /// Traps like `NSPredicate(format:)`.
  public convenience init(format: String, _ arguments: Any?...) {
    let source = PlaceholderSource(arguments, strict: true)
    do {
      self.init(try PredicateParser.expression(format, source: source).node)
    } catch {
      fatalError(error.description)
    }
  }

  /// Parses an expression whose arguments are all objects.
  ///
  /// Traps like `NSPredicate(format:)`.
  public convenience init(format: String, argumentArray arguments: [Any]) {
    let source = PlaceholderSource(arguments, strict: false)
    do {
      self.init(try PredicateParser.expression(format, source: source).node)
    } catch {
      fatalError(error.description)
    }
  }

  /// Parses an expression.
  ///
  /// With `nil` as arguments, the placeholders remain, as in `NSPredicate.parse`.
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

// The accessors of Foundation's class. Each traps, where Foundation raises an exception, if the
// expression is of another kind.
extension NSExpression {
  /// The value of a constant.
  ///
  /// All numbers are `NSNumber`s; `NSNull` is returned unchanged.
  public var constantValue: Any? {
    if origin == .null { return NSNull() }
    guard case .constant(let value) = node else { unavailable("constantValue") }
    return value.boxed
  }

  /// The key path as a string.
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

  /// The expression that a function is called on.
  ///
  /// For a built-in function, it's a constant with the name of Foundation's helper class.
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

  /// The value of a `TERNARY` whose predicate is true.
  public var `true`: NSExpression {
    guard case .conditional(_, let yes, _) = node else { unavailable("true") }
    return yes
  }

  /// The value of a `TERNARY` whose predicate is false.
  public var `false`: NSExpression {
    guard case .conditional(_, _, let no) = node else { unavailable("false") }
    return no
  }

  /// The block of an expression that was created with one.
  public var expressionBlock: @Sendable (Any?, [Any], NSMutableDictionary?) -> Any {
    guard case .block(let block, _) = node else { unavailable("expressionBlock") }
    return block.body
  }

  private func unavailable(_ property: String) -> Never {
    fatalError("an expression of type \(expressionType) has no \(property): \(self)")
  }
}
