extension NSPredicate {
  /// The predicate with the result of each `FETCH` in its place.
  ///
  /// Each fetch runs once, however often the predicate is asked afterwards. One whose request or
  /// context isn't a constant stays. Gives the predicate itself where there is none.
  /// - Throws: what the fetch throws, in words.
  package func withFetchesRun() throws -> NSPredicate {
    guard holdsFetch else { return self }
    var results: [ObjectIdentifier: NSExpression] = [:]
    var failure: (any Error)?
    forEachExpression { expression in
      guard failure == nil, case .fetch(let request, let context, _) = expression.node,
        case .constant = request.node, case .constant = context.node,
        results[ObjectIdentifier(expression)] == nil
      else { return }
      do {
        results[ObjectIdentifier(expression)] = NSExpression(
          .constant(try expression.value(for: nil)))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return results.isEmpty ? self : VariableSubstitution(fetched: results).predicate(self)
  }

  fileprivate var holdsFetch: Bool {
    switch form {
    case .comparison(let comparison):
      comparison.leftExpression.holdsFetch || comparison.rightExpression.holdsFetch
    case .compound(_, let parts): parts.contains(where: \.holdsFetch)
    case .constant, .block, .unknown: false
    }
  }
}

extension NSExpression {
  fileprivate var holdsFetch: Bool {
    switch node {
    case .fetch: true
    case .constant, .keyPath, .variable, .evaluatedObject, .anyKey: false
    default: node.children.contains(where: \.holdsFetch) || node.childPredicate?.holdsFetch == true
    }
  }
}

/// A fetch request as `FETCH(…)` sees it; this module knows no stores.
package protocol FetchedByExpressions {
  /// The objects of the fetch, or their number.
  ///
  /// Throws for a context that is none, and what fetching throws.
  func result(in context: Any?, countOnly: Bool) throws -> Any
}
