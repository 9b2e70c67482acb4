public import Foundation

/// A condition on one object. Counterpart: `NSPredicate`.
///
/// `NSPredicate(format:)` returns an `NSComparisonPredicate` or `NSCompoundPredicate`, as
/// Foundation's class cluster does. Predicates are immutable and can be used from any thread.
///
/// In a file that imports Foundation in addition to `OpenCoreData`, the compiler reports
/// "'NSPredicate' is ambiguous for type lookup in this context". Import only `OpenCoreData`, which
/// re-exports Foundation, or add `import class ManagedModel.NSPredicate`; the same applies to
/// `NSCompoundPredicate`, `NSComparisonPredicate`, `NSExpression`, and `NSSortDescriptor`.
// Sendable is unchecked because constants are stored as `Any`: they're only read, and blocks are
// `@Sendable`.
open class NSPredicate: NSObject, NSCopying, NSSecureCoding, PredicateFormatInitializable,
  @unchecked Sendable
{
  /// The kinds of predicates, by class.
  ///
  /// The framework's other subclasses are `.subclass`.
  package enum Kind: Sendable {
    case constant(Bool)
    case block(@Sendable (Any?, [String: Any]?) -> Bool)
    /// An `NSComparisonPredicate`.
    case comparison
    /// An `NSCompoundPredicate`.
    case compound
    case subclass
  }

  package let kind: Kind
  /// The depth of the tree, which limits every recursion over it.
  package let depth: Int

  /// Creates `TRUEPREDICATE` or `FALSEPREDICATE`.
  public init(value: Bool) {
    kind = .constant(value)
    depth = 1
  }

  /// Creates a predicate that evaluates a block.
  ///
  /// It can't be translated to SQL and has no parsable format.
  ///
  /// - Parameter block: Receives the object and the substitution variables. In a fetch from an
  ///   in-memory or document store, saved objects are rows: read their properties with
  ///   `value(forKey:)` of `KeyValueReadable`, to which managed objects conform, too.
  public init(block: @escaping @Sendable (_ object: Any?, _ bindings: [String: Any]?) -> Bool) {
    kind = .block(block)
    depth = 1
  }

  /// Creates a predicate of a subclass, which overrides `evaluate(with:substitutionVariables:)` and
  /// `predicateFormat`.
  public override init() {
    kind = .subclass
    depth = 1
  }

  /// Creates an instance of one of the framework's subclasses, with the depth of its tree.
  ///
  /// - Parameter kind: The kind, which must match the class: evaluation relies on it.
  init(kind: Kind, depth: Int) {
    self.kind = kind
    self.depth = depth
  }

  // MARK: Coding

  /// Whether the class supports secure coding.
  ///
  /// Always true: untrusted archives can be read.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes `TRUEPREDICATE` or `FALSEPREDICATE`; the subclasses decode their own predicates.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: PredicateArchiveKey.value) else { return nil }
    kind = .constant(coder.decodeBool(forKey: PredicateArchiveKey.value))
    depth = 1
  }

  /// Decodes the superclass's part, for the framework's subclasses.
  ///
  /// Returns `nil` if the decoded tree is deeper than a parsed one can be.
  init?(decoded kind: Kind, depth: Int) {
    guard depth <= ModelLimits.predicateDepth else { return nil }
    self.kind = kind
    self.depth = depth
  }

  /// Encodes the predicate with Foundation's keys.
  ///
  /// Traps for blocks and for constants that can't be archived, where Foundation raises an
  /// exception.
  open func encode(with coder: NSCoder) {
    guard case .constant(let value) = kind else {
      fatalError("\(self) can't be archived")
    }
    coder.encode(value, forKey: PredicateArchiveKey.value)
  }

  /// Does nothing: a decoded predicate can be evaluated, also one from an untrusted archive.
  ///
  /// In Foundation, evaluating a securely decoded predicate raises an exception until this method
  /// is called.
  open func allowEvaluation() {}

  /// Foundation's canonical format.
  ///
  /// It parses to an equal predicate, except for blocks and for constants without a format, which
  /// are objects and dictionaries. **Cost:** proportional to the size of the tree.
  open var predicateFormat: String {
    PredicatePrinter.text(of: self)
  }

  /// Returns whether the object matches the predicate.
  ///
  /// Traps where Foundation raises an exception: for an unknown key, an unbound variable, or an
  /// invalid comparison, such as a string with a number. **Cost:** reads the key paths, which may
  /// fire faults.
  open func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  /// Returns whether the object matches the predicate with values for its variables, whose names
  /// don't include the `$`.
  open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    // Evaluation calls this method of a subclass.
    if case .subclass = kind {
      fatalError("\(Self.self) must override evaluate(with:substitutionVariables:)")
    }
    do {
      return try evaluation(of: object, variables: bindings)
    } catch {
      fatalError(error.description)
    }
  }

  /// Returns whether the predicate is true for an evaluator's record or value.
  ///
  /// As a method, it needs no reference to the predicate or the record of its own. Counting
  /// references would take longer than a comparison.
  func isTrue(
    for record: (any PredicateRecord)?, _ evaluator: inout PredicateEvaluator
  ) throws(PredicateEvaluationError) -> Bool {
    evaluator.evaluate(other: self)
  }

  /// Returns a copy in which variables are replaced by their values.
  ///
  /// Variables without a value remain. Stops with a fatal error for a tree of more than 1,000
  /// levels.
  open func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    guard depth <= ModelLimits.predicateTreeDepth else {
      fatalError(
        "variables can't be substituted in a predicate that is nested \(depth) levels deep; the limit is "
          + "\(ModelLimits.predicateTreeDepth)")
    }
    let made = VariableSubstitution(variables: variables).predicate(self)
    guard let made = made as? Self else {
      fatalError("\(Self.self) doesn't substitute variables: override the method")
    }
    return made
  }

  /// Returns the predicate itself, which is immutable.
  open func copy(with zone: NSZone?) -> Any {
    self
  }

  open override var description: String {
    predicateFormat
  }

  /// Returns whether another object is an equal tree.
  ///
  /// Block predicates and unknown subclasses are equal to themselves only.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    return self === other || PredicateEquality.equal(self, other)
  }

  open override var hash: Int {
    var hasher = Hasher()
    PredicateEquality.hash(self, into: &hasher)
    return hasher.finalize()
  }
}

extension NSPredicate {
  /// Returns whether an object matches the predicate, and throws errors for which `evaluate(with:)`
  /// traps.
  ///
  /// - Parameter object: A `KeyValueReadable`, a dictionary, a collection, or any Swift value.
  package func evaluation(
    of object: Any?, variables: [String: Any]? = nil
  ) throws(PredicateEvaluationError) -> Bool {
    try checkDepth()
    var evaluator = PredicateEvaluator(root: object, bindings: variables)
    return try evaluator.evaluate(self)
  }

  /// Returns whether a record matches the predicate, without a dynamic cast.
  package func evaluation(
    ofRecord record: some PredicateRecord
  ) throws(PredicateEvaluationError) -> Bool {
    try checkDepth()
    var evaluator = PredicateEvaluator(record: record)
    return try evaluator.evaluate(self)
  }

  /// Throws an error if the tree is too deep for recursion.
  package func checkDepth() throws(PredicateEvaluationError) {
    if depth > ModelLimits.predicateTreeDepth {
      throw .tooDeep(depth, limit: ModelLimits.predicateTreeDepth)
    }
  }
}

/// Allows `NSPredicate(format:)` to return a subclass.
///
/// An initializer can choose the class of its result only in a protocol extension. Don't conform
/// other types to this protocol.
public protocol PredicateFormatInitializable {}

extension PredicateFormatInitializable {
  /// Creates a predicate from a format string.
  ///
  /// Counterpart: `init(format:_:)`, whose arguments are `CVarArg`s.
  ///
  /// Traps with the column, a caret, and the expected tokens if the format is invalid, where
  /// Foundation raises an exception. A Swift number for `%@` also traps, because it crashes on
  /// Apple platforms: use `%ld` or `NSNumber(value:)`. Extra arguments are ignored, as in
  /// Foundation.
  ///
  /// - Parameters:
  ///   - format: A format string, such as `"%K == %@ AND age > %ld"`.
  ///   - arguments: Objects, `nil`, strings, dates, or collections for `%@`; key paths as strings
  ///     for `%K`; integers for `%d`, `%ld`, `%lu`; floating-point numbers for `%f`, `%a`, `%la`.
  public init(format: String, _ arguments: Any?...) {
    self.init(parsing: format, source: PlaceholderSource(arguments, strict: true))
  }

  /// Creates a predicate from a format string with an array of arguments.
  ///
  /// `NSNumber` and Swift numbers are valid for `%@` and for number placeholders. Traps like
  /// `init(format:_:)`.
  public init(format: String, argumentArray arguments: [Any]?) {
    self.init(parsing: format, source: PlaceholderSource(arguments ?? [], strict: false))
  }

  private init(parsing format: String, source: PlaceholderSource) {
    do {
      let predicate = try PredicateParser.predicate(format, source: source)
      guard let made = predicate as? Self else {
        fatalError("\(type(of: predicate)) isn't a \(Self.self): \(format)")
      }
      self = made
    } catch {
      fatalError(error.description)
    }
  }
}

extension NSPredicate {
  /// Parses a format string, and throws an error if it's invalid.
  ///
  /// - Parameter arguments: The arguments of the placeholders, in order, with any number type for
  ///   any of them. With `nil`, the placeholders remain as nodes, which can be printed but not
  ///   evaluated.
  package static func parse(
    _ format: String, arguments: [Any?]? = nil
  ) throws(PredicateSyntaxError) -> NSPredicate {
    try PredicateParser.predicate(
      format, source: arguments.map { PlaceholderSource($0, strict: false) })
  }
}

extension NSPredicate {
  /// The kinds of predicates with their parts, for exhaustive switches.
  package enum Form {
    case comparison(NSComparisonPredicate)
    case compound(NSCompoundPredicate.LogicalType, [NSPredicate])
    /// `TRUEPREDICATE` or `FALSEPREDICATE`
    case constant(Bool)
    /// A block, which can only be evaluated in memory.
    case block
    /// A subclass from another module, which can only be evaluated in memory.
    case unknown
  }

  /// The kind of the predicate and its parts.
  package var form: Form {
    switch kind {
    // The kind guarantees the class. A dynamic cast would take most of the time of a short
    // comparison.
    case .comparison: return .comparison(unsafeDowncast(self, to: NSComparisonPredicate.self))
    case .compound:
      let compound = unsafeDowncast(self, to: NSCompoundPredicate.self)
      return .compound(compound.compoundPredicateType, compound.predicates)
    case .constant(let value): return .constant(value)
    case .block: return .block
    case .subclass: return .unknown
    }
  }

  /// Calls a closure for every expression of the tree, from left to right, and for arguments of
  /// functions and subqueries after the expression that contains them.
  package func forEachExpression(_ body: (NSExpression) -> Void) {
    switch form {
    case .comparison(let comparison):
      comparison.leftExpression.forEachExpression(body)
      comparison.rightExpression.forEachExpression(body)
    case .compound(_, let predicates):
      for predicate in predicates { predicate.forEachExpression(body) }
    case .constant, .block, .unknown: break
    }
  }

  /// The key paths that begin at the evaluated object, in the order in which they appear.
  ///
  /// Those in a subquery, and those that follow another value, begin elsewhere and are omitted.
  package var ownKeyPaths: [PredicateKeyPath] {
    switch form {
    case .compound(_, let predicates): predicates.flatMap(\.ownKeyPaths)
    case .comparison(let comparison):
      comparison.leftExpression.ownKeyPaths + comparison.rightExpression.ownKeyPaths
    case .constant, .block, .unknown: []
    }
  }

  /// Whether the result is the same for every object.
  package var isIndependentOfObject: Bool {
    switch form {
    case .comparison(let comparison):
      comparison.predicateOperatorType != .customSelector
        && comparison.leftExpression.isIndependentOfObject
        && comparison.rightExpression.isIndependentOfObject
    case .compound(_, let predicates): predicates.allSatisfy(\.isIndependentOfObject)
    case .constant: true
    case .block, .unknown: false
    }
  }
}

extension NSExpression {
  /// Whether the value is the same for every object.
  ///
  /// It's false for a random number and for a variable.
  package var isIndependentOfObject: Bool {
    switch node {
    case .constant: true
    case .evaluatedObject, .variable, .keyPath, .anyKey, .subquery, .block: false
    case .function(.random, _), .function(.randomBelow, _): false
    case .conditional(let predicate, let yes, let no):
      predicate.isIndependentOfObject && yes.isIndependentOfObject && no.isIndependentOfObject
    case .path(let base, _): base.isIndependentOfObject
    default: node.children.allSatisfy(\.isIndependentOfObject)
    }
  }

  /// The key paths that begin at the evaluated object, in the order in which they appear.
  package var ownKeyPaths: [PredicateKeyPath] {
    switch node {
    case .keyPath(let path): [path]
    case .path(let operand, _): operand.ownKeyPaths
    case .conditional(let predicate, let yes, let no):
      predicate.ownKeyPaths + yes.ownKeyPaths + no.ownKeyPaths
    default: node.children.flatMap(\.ownKeyPaths)
    }
  }

  /// Calls a closure for this expression and then for all its subexpressions, including those of
  /// nested predicates.
  package func forEachExpression(_ body: (NSExpression) -> Void) {
    body(self)
    for child in node.children { child.forEachExpression(body) }
    node.childPredicate?.forEachExpression(body)
  }
}
