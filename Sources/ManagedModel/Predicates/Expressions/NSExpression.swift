public import Foundation
internal import Synchronization

/// Something that has a value for an object: a constant, a key path, a function. Apple's
/// `NSExpression`. It never changes after it was made and may be used from any thread.
///
/// If the name is "ambiguous for type lookup", import `OpenCoreData` without Foundation, or add
/// `import class ManagedModel.NSExpression`.
// Sendable is unchecked because constants are held as `Any`: they are read only, and blocks are
// `@Sendable`.
open class NSExpression: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// The kinds, with Apple's raw values.
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
    /// `FETCH`: Apple's `NSFetchRequestExpressionType`.
    case fetchRequest = 50
  }

  /// What the expression is, for walks that switch over all kinds.
  package let node: Node
  /// The height of the tree below, itself included.
  package let depth: Int
  /// The key, for a key path of one key.
  let onlyKey: String?
  /// Whether there is one: asking this copies no string.
  let hasOnlyKey: Bool
  /// The value of a constant, beside the node: read from here, it is not copied out of it.
  let constant: PredicateValue
  /// Whether there is one; a placeholder is none.
  let isConstant: Bool
  /// Where `onlyKey` was found last: the number of the record's places, then that of the place.
  private let lastPlace = Atomic<UInt64>(0)

  /// How the expression was given, where the node doesn't say.
  package let origin: Origin

  /// How an expression was given.
  package enum Origin: Sendable {
    case node
    /// The constant is `NSNull`, which is nil in comparisons.
    case null
    /// A key path that starts at a variable, as one text: `$x.name`.
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

  /// Archives may be read without trust in them.
  open class var supportsSecureCoding: Bool { true }

  /// Reads an expression from an archive; nil when it has none that is known, or one nested deeper
  /// than what is parsed.
  public required init?(coder: NSCoder) {
    guard let node = coder.descending({ Node(coder: coder) }),
      node.childDepth < PredicateParser.maximumDepth
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

  /// Writes the expression into an archive.
  ///
  /// Traps with a sentence for blocks and for constants that are no archivable objects.
  open func encode(with coder: NSCoder) {
    switch origin {
    case .node: node.encode(with: coder, type: expressionType)
    case .null:
      node.encode(with: coder, type: expressionType)
      coder.encode(NSNull(), forKey: PredicateArchiveKey.constant)
    case .keyPath: NSExpression(node).encode(with: coder)
    }
  }

  /// The value of `onlyKey`, which there must be.
  ///
  /// The place is looked up once for all records with the same places.
  func valueOfOnlyKey(
    in record: any PredicateRecord
  ) throws(PredicateEvaluationError) -> PredicateValue {
    let number = record.placesNumber
    let last = lastPlace.load(ordering: .relaxed)
    if UInt32(truncatingIfNeeded: last >> 32) == number {
      return record.predicateValue(at: UInt32(truncatingIfNeeded: last))
    }
    let key = onlyKey ?? ""
    guard let place = record.placeNumber(ofKey: key) else {
      return PredicateValue(record.storedValue(forKey: key))
    }
    lastPlace.store(UInt64(number) << 32 | UInt64(place), ordering: .relaxed)
    return record.predicateValue(at: place)
  }

  /// Apple's name for the kind.
  ///
  /// A path from a value (`$x.name`), a subscript and `CAST` are functions, as in Apple's trees; a
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

  /// The value for an object; numbers are `NSNumber`s.
  ///
  /// Traps where Apple raises, as `NSPredicate.evaluate(with:)`.
  ///
  /// - Parameter context: variables by name; `$x := 1` sets one there.
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
      preconditionFailure(error.description)
    }
  }

  /// Itself: expressions never change.
  open func copy(with zone: NSZone?) -> Any {
    self
  }

  /// Apple's canonical text; it parses to an equal expression.
  open override var description: String {
    PredicatePrinter.text(of: self)
  }

  /// Equal trees are equal.
  ///
  /// Numbers are equal by value, a constant list and an aggregate of the same constants are equal.
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
  /// The value for an object; what would trap in `expressionValue` is an error here.
  package func value(
    for object: Any?, variables: [String: Any]? = nil
  ) throws(PredicateEvaluationError) -> PredicateValue {
    try checkDepth()
    var evaluator = PredicateEvaluator(root: object, bindings: variables)
    return try evaluator.value(of: self)
  }

  /// Throws for a tree that recursion must not enter.
  private func checkDepth() throws(PredicateEvaluationError) {
    let limit = NSPredicate.maximumDepth
    if depth > limit { throw .tooDeep(depth, limit: limit) }
  }
}
