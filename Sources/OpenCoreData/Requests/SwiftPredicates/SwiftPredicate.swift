import ManagedModel

/// A Swift predicate, `#Predicate<Mood> { … }`, as an `NSPredicate`.
///
/// In memory, Swift evaluates it. A fetch translates it for its entity.
final class SwiftPredicate: NSPredicate, @unchecked Sendable {  // all state is constant
  private let evaluation: @Sendable (Any?) -> Bool
  private let translation: @Sendable (NSEntityDescription) throws -> NSPredicate
  private let text: String

  init<Object: NSManagedObject>(_ predicate: Foundation.Predicate<Object>) {
    text = "\(predicate)"
    evaluation = { object in
      guard let object = object as? Object else { return false }
      do {
        return try predicate.evaluate(object)
      } catch {
        fatalError("\(predicate) can't be evaluated for \(object): \(error)")
      }
    }
    translation = { entity in
      var translation = SwiftPredicateTranslation(SwiftKeyNames(entity))
      return try translation.translate(predicate)
    }
    super.init()
  }

  required init?(coder: NSCoder) { nil }

  override var predicateFormat: String { text }

  override func evaluate(
    with object: Any?, substitutionVariables bindings: [String: Any]?
  ) -> Bool {
    evaluation(object)
  }

  override func withSubstitutionVariables(_ variables: [String: Any]) -> Self { self }

  /// Returns the predicate with key paths by name, for objects of an entity.
  func translated(for entity: NSEntityDescription) throws -> NSPredicate {
    try translation(entity)
  }
}

extension PredicateFormatInitializable {
  /// Creates a predicate from a Swift predicate, for fetches and evaluation in memory.
  ///
  /// A fetch translates it when it's executed; a part without a counterpart is then an error that
  /// names the operator. In SQL, `!=` differs for `nil`, as with any predicate. It's a programmer
  /// error to call it for a subclass of `NSPredicate`. Apple counterpart: the same, which returns
  /// `nil` if it can't translate the predicate.
  public init<Object: NSManagedObject>(_ predicate: Foundation.Predicate<Object>) {
    guard let made = SwiftPredicate(predicate) as? Self else {
      fatalError("a Swift predicate isn't a \(Self.self): convert it to an NSPredicate")
    }
    self = made
  }
}

extension NSPredicate {
  /// Returns the predicate with its Swift predicates translated for an entity.
  ///
  /// Returns itself if it contains none.
  func withoutSwiftPredicates(for entity: NSEntityDescription) throws -> NSPredicate {
    switch form {
    case .unknown: return try (self as? SwiftPredicate)?.translated(for: entity) ?? self
    case .compound(let type, let parts):
      let translated = try parts.map { try $0.withoutSwiftPredicates(for: entity) }
      return zip(parts, translated).allSatisfy { $0 === $1 }
        ? self : NSCompoundPredicate(type: type, subpredicates: translated)
    case .comparison, .constant, .block: return self
    }
  }
}

extension NSFetchRequest where ResultType: NSManagedObject {
  /// Sets Swift sort descriptors: `[SortDescriptor(\Mood.date, order: .reverse)]`.
  ///
  /// Their key paths become names when the request is executed; one that isn't a property of the
  /// entity is then an error. Strings are compared bytewise. Replaces `sortDescriptors`.
  public func setSortDescriptors(_ descriptors: [SortDescriptor<ResultType>]) {
    swiftSort = { entity in
      let names = SwiftKeyNames(entity)
      return try descriptors.map { descriptor in
        guard let keyPath = descriptor.keyPath else {
          throw NSError.fetch("A SortDescriptor without a key path can't sort a fetch.")
        }
        let name = try names.name(of: keyPath, in: ResultType.self)
        return NSSortDescriptor(key: name, ascending: descriptor.order == .forward)
      }
    }
  }

  /// Sets a Swift predicate: `request.setPredicate(#Predicate<Mood> { … })`.
  ///
  /// The same as setting `predicate` to an `NSPredicate` created from it.
  public func setPredicate(_ predicate: Foundation.Predicate<ResultType>) {
    self.predicate = NSPredicate(predicate)
  }
}

extension NSSortDescriptor {
  /// Creates a sort descriptor with a Swift key path, such as `\Car.maker` or `\Car.maker?.name`.
  ///
  /// For a managed object class whose model is in use, `key` is the name of the property, or the
  /// key path across up to two to-one relationships. Without a model in use, the name is looked up
  /// when the descriptor is used in a fetch. Other values are sorted in memory, by the key path
  /// itself. **Cost:** creates a few dozen objects without a context the first time a key path is
  /// used.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: ascending, comparison: .binary)
  }

  /// Creates a sort descriptor with a Swift key path, as `init(keyPath:ascending:)`, and a
  /// comparator.
  ///
  /// It can't be translated to SQL.
  /// - Parameters:
  ///   - keyPath: The key path.
  ///   - ascending: Whether the value that the comparator puts first is first.
  ///   - comparator: Returns the order of two values of the key path; it receives `NSNull` for
  ///     `nil`.
  public convenience init<Root, Value>(
    keyPath: KeyPath<Root, Value>, ascending: Bool,
    comparator: @escaping @Sendable (Any, Any) -> ComparisonResult
  ) {
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: ascending, comparator: comparator)
  }

  /// Creates a sort descriptor from a `SortDescriptor`, whose key path becomes the key as in
  /// `init(keyPath:ascending:)`.
  ///
  /// Strings are compared bytewise, as by the only comparator that Foundation has on Linux. It's a
  /// programmer error to pass a descriptor without a key path.
  public convenience init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    guard let keyPath = sortDescriptor.keyPath else {
      fatalError("a SortDescriptor without a key path can't become an NSSortDescriptor")
    }
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: sortDescriptor.order == .forward,
      comparison: .binary)
  }

  fileprivate static func name<Root>(of keyPath: PartialKeyPath<Root>) -> String? {
    guard let type = Root.self as? NSManagedObject.Type else { return nil }
    let entities = ManagedObjectClasses.entities(of: type)
    // Another thread may release the model.
    guard entities.count == 1, let model = entities[0].managedObjectModel else { return nil }
    return withExtendedLifetime(model) {
      try? SwiftKeyNames(entities[0]).name(of: keyPath, in: Root.self)
    }
  }

  /// Returns the descriptor with the name of its Swift key path in an entity; itself if it has a
  /// key.
  /// - Throws: 134060 for a key path that isn't a property of the entity.
  func named(in entity: NSEntityDescription) throws -> NSSortDescriptor {
    guard key == nil, let swiftKeyPath else { return self }
    let owner = type(of: swiftKeyPath).rootType
    return keyed(by: try SwiftKeyNames(entity).name(ofAny: swiftKeyPath, in: owner))
  }
}

extension NSExpression {
  /// Creates a key path from a Swift key path, such as `\Car.maker` or `\Car.maker?.name`.
  ///
  /// It's a programmer error if the class's model isn't in use, or the key path isn't one of a
  /// property. **Cost:** that of `NSSortDescriptor.init(keyPath:ascending:)`.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    guard let name = NSSortDescriptor.name(of: keyPath) else {
      fatalError("\(keyPath) isn't a property in a model in use: load the model, or pass a string")
    }
    self.init(forKeyPath: name)
  }
}

/// Translates the tree of a Swift predicate into an `NSPredicate`.
struct SwiftPredicateTranslation {
  /// The translation of a node.
  enum Term {
    case predicate(NSPredicate)
    case expression(NSExpression)
    /// A condition on a value that may be `nil`, and whether there's a value: if there isn't, the
    /// result is `nil`.
    case optional(NSPredicate, isThere: NSPredicate)
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
    case .predicate(let predicate), .optional(let predicate, _): return predicate
    case .expression(let expression):
      if case .constant(.bool(let value)) = expression.node { return NSPredicate(value: value) }
      return comparison(.equalTo, expression, NSExpression(forConstantValue: true))
    case .range: throw unknown(node)
    }
  }

  /// Translates a node into a value; a condition becomes a TERNARY expression.
  mutating func expression(_ node: some PredicateExpression) throws -> NSExpression {
    try expression(try term(node), of: node)
  }

  /// Returns a translated node as a value.
  func expression(_ term: Term, of node: Any) throws -> NSExpression {
    switch term {
    case .expression(let expression): return expression
    case .predicate(let predicate): return truth(predicate)
    case .optional(let predicate, let isThere):
      return NSExpression(
        forConditional: isThere, trueExpression: truth(predicate),
        falseExpression: NSExpression(forConstantValue: nil))
    case .range: throw unknown(node)
    }
  }

  /// Returns YES or NO.
  private func truth(_ predicate: NSPredicate) -> NSExpression {
    NSExpression(
      forConditional: predicate, trueExpression: NSExpression(forConstantValue: true),
      falseExpression: NSExpression(forConstantValue: false))
  }

  /// Returns a condition on a value that may be `nil` as YES or NO.
  ///
  /// - Parameter isTrueForNil: The result if the value is `nil`.
  func truth(
    _ predicate: NSPredicate, isThere: NSPredicate, isTrueForNil: Bool
  ) -> NSExpression {
    if isTrueForNil {
      return NSExpression(
        forConditional: isThere, trueExpression: truth(predicate),
        falseExpression: NSExpression(forConstantValue: true))
    }
    return truth(
      predicate.isAffirmative
        ? predicate : NSCompoundPredicate(andPredicateWithSubpredicates: [isThere, predicate]))
  }

  /// Returns the condition that a value isn't `nil`.
  func isThere(_ value: NSExpression) -> NSPredicate {
    comparison(.notEqualTo, value, NSExpression(forConstantValue: nil))
  }

  /// Returns an error that names the operator of a node.
  func unknown(_ node: Any) -> NSError {
    let type = "\(type(of: node))".prefix { $0 != "<" }
    return NSError.fetch(
      "#Predicate: \(type) has no counterpart in NSPredicate. Use a format string, or "
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
    let (first, second) = (try term(left), try term(right))
    let (one, other) = (
      try comparand(first, comparedWith: second, of: left),
      try comparand(second, comparedWith: first, of: right)
    )
    return .predicate(comparison(type, one, other))
  }

  /// Returns a compared value.
  ///
  /// A `nil` that's compared with a Boolean constant becomes the other Boolean value, which isn't
  /// equal either: SQL finds no rows for `!=` otherwise.
  private func comparand(
    _ term: Term, comparedWith other: Term, of node: Any
  ) throws -> NSExpression {
    guard case .optional(let predicate, let isThere) = term, case .expression(let value) = other,
      case .constant(.bool(let constant)) = value.node
    else { return try expression(term, of: node) }
    return truth(predicate, isThere: isThere, isTrueForNil: !constant)
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
    var predicate = try predicate(test)
    if isNegated {
      // A comparison with a nil value is unknown in SQL, and so is its negation.
      predicate =
        predicate.isAffirmative
        ? comparison(.equalTo, truth(predicate), NSExpression(forConstantValue: false))
        : NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
    }
    return NSExpression(
      forSubquery: elements, usingIteratorVariable: name, predicate: predicate)
  }
}

extension NSPredicate {
  /// Whether it's not true if a value that it compares is `nil`, in memory and in SQL.
  fileprivate var isAffirmative: Bool {
    switch form {
    case .comparison(let comparison):
      comparison.predicateOperatorType != .notEqualTo
        && [comparison.leftExpression, comparison.rightExpression].allSatisfy { !$0.replacesNil }
    case .compound(let type, let parts): type != .not && parts.allSatisfy(\.isAffirmative)
    case .constant, .block, .unknown: false
    }
  }
}

extension NSExpression {
  /// Whether the value may not be `nil` although a value in it is `nil`, or is `nil` itself.
  var replacesNil: Bool {
    var replacesNil = false
    forEachExpression { expression in
      switch expression.node {
      case .conditional, .constant(.null): replacesNil = true
      default: break
      }
    }
    return replacesNil
  }
}

/// A node of Swift's predicate trees that has an `NSPredicate` counterpart.
protocol SwiftPredicateNode {
  /// Returns the counterpart.
  func term(
    _ translation: inout SwiftPredicateTranslation
  ) throws -> SwiftPredicateTranslation.Term
}
