import ManagedModel

/// A predicate made at random, as a format and as a judgment that was written apart.
///
/// The two share nothing but the meaning: the judgment knows no parser and no evaluator of the
/// module.
struct RandomPredicate {
  /// For `NSPredicate(format:)`.
  let format: String
  /// Whether it holds for a row, by plain Swift.
  let holds: (RandomRow) -> Bool
}
