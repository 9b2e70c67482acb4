extension NSPredicate {
  /// The kinds of predicate with what each holds, for walks that switch over all of them.
  package enum Form {
    case comparison(NSComparisonPredicate)
    case compound(NSCompoundPredicate.LogicalType, [NSPredicate])
    /// `TRUEPREDICATE` or `FALSEPREDICATE`
    case constant(Bool)
    /// Only memory can ask it.
    case block
    /// A subclass from outside. Only memory can ask it.
    case unknown
  }

  /// What the predicate is.
  package var form: Form {
    switch kind {
    // The kind promises the class; a dynamic cast is most of what a short comparison costs.
    case .comparison: return .comparison(unsafeDowncast(self, to: NSComparisonPredicate.self))
    case .compound:
      let compound = unsafeDowncast(self, to: NSCompoundPredicate.self)
      return .compound(compound.compoundPredicateType, compound.predicates)
    case .constant(let value): return .constant(value)
    case .block: return .block
    case .subclass: return .unknown
    }
  }

  /// Calls the body for every expression of the tree, from left to right, the inner ones of
  /// functions and subqueries after those that hold them.
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

  /// The key paths that begin at the object that is asked, in the order in which they are written.
  ///
  /// Those inside of a subquery, and those behind another value, begin elsewhere and are left out.
  package var ownKeyPaths: [PredicateKeyPath] {
    switch form {
    case .compound(_, let predicates): predicates.flatMap(\.ownKeyPaths)
    case .comparison(let comparison):
      comparison.leftExpression.ownKeyPaths + comparison.rightExpression.ownKeyPaths
    case .constant, .block, .unknown: []
    }
  }

  /// Whether the answer is the same for every object.
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
  /// A random number is not, nor is a variable.
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

  fileprivate var ownKeyPaths: [PredicateKeyPath] {
    switch node {
    case .keyPath(let path): [path]
    case .path(let operand, _): operand.ownKeyPaths
    case .conditional(let predicate, let yes, let no):
      predicate.ownKeyPaths + yes.ownKeyPaths + no.ownKeyPaths
    default: node.children.flatMap(\.ownKeyPaths)
    }
  }

  /// Calls the body for this expression and then for all below, those of inner predicates too.
  package func forEachExpression(_ body: (NSExpression) -> Void) {
    body(self)
    for child in node.children { child.forEachExpression(body) }
    node.childPredicate?.forEachExpression(body)
  }
}
