extension NSPredicate {
  /// Returns the predicate with each `FETCH` replaced by its result.
  ///
  /// Each fetch runs once, regardless of how often the predicate is evaluated afterward. One whose
  /// request or context isn't a constant remains. Returns the predicate itself if there's no
  /// `FETCH`.
  ///
  /// - Throws: The fetch's error, with its description.
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

/// A fetch request for `FETCH(…)`; this module doesn't depend on stores.
package protocol FetchedByExpressions {
  /// Returns the objects of the fetch, or their number.
  ///
  /// - Throws: An error if the context isn't a managed object context, or the error of the fetch.
  func result(in context: Any?, countOnly: Bool) throws -> Any
}
