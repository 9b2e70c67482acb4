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

  /// The placeholders that have no argument, in order.
  ///
  /// A predicate with any cannot be evaluated.
  package var placeholders: [String] {
    var found: [String] = []
    forEachExpression { expression in
      switch expression.node {
      case .constant(.placeholder(let text)): found.append(text)
      case .keyPath(let path):
        found += path.components.filter { $0 == .placeholder }.map { _ in "%K" }
      default: break
      }
    }
    return found
  }
}

extension NSExpression {
  /// Calls the body for this expression and then for all below, those of inner predicates too.
  package func forEachExpression(_ body: (NSExpression) -> Void) {
    body(self)
    for child in node.children { child.forEachExpression(body) }
    node.childPredicate?.forEachExpression(body)
  }
}
