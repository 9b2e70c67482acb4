import ManagedModel

/// The result of a fetch as a value: `FETCH(request, context, countOnly)`.
///
/// Evaluating it fetches, each time anew; in a predicate of another fetch it is fetched first, as a
/// list of constants. Apple counterpart: the same.
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
  /// Makes the expression.
  ///
  /// - Parameters:
  ///   - fetch: its value is an `NSFetchRequest`.
  ///   - context: its value is the `NSManagedObjectContext` to fetch in.
  ///   - countFlag: whether the value is the number of matches rather than their list.
  public class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(.fetch(fetch, context: context, countOnly: countFlag))
  }

  /// What gives the request.
  open var requestExpression: NSExpression { node.children[0] }

  /// What gives the context.
  open var contextExpression: NSExpression { node.children[1] }

  /// Whether the value is a number of matches.
  open var isCountOnlyRequest: Bool {
    if case .fetch(_, _, let countOnly) = node { countOnly } else { false }
  }
}

extension NSFetchRequest: FetchedByExpressions {
  /// What a fetch gives for this request, for a predicate with `FETCH`.
  ///
  /// - Throws: as `fetch`, and when the context is none.
  package func result(in context: Any?, countOnly: Bool) throws -> Any {
    guard let context = context as? NSManagedObjectContext else {
      throw NSError.fetch("FETCH has no managed object context: give it one as second argument.")
    }
    if countOnly || resultType == .countResultType { return try context.count(for: self) }
    return try context.fetch(self)
  }
}
