import ManagedModel

/// A random predicate, as a format and as an equivalent closure.
///
/// The closure doesn't use the module's parser or evaluator.
struct RandomPredicate {
  /// For `NSPredicate(format:)`.
  let format: String
  /// Whether a row matches, evaluated in plain Swift.
  let matches: (RandomRow) -> Bool
}
