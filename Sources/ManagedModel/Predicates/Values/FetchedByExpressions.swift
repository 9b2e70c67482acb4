/// A fetch request as `FETCH(…)` sees it; this module knows no stores.
package protocol FetchedByExpressions {
  /// The objects of the fetch, or their number.
  ///
  /// Throws for a context that is none, and what fetching throws.
  func result(in context: Any?, countOnly: Bool) throws -> Any
}
