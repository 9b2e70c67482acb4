import WorkbenchText

/// Limits the objects that the key paths of a step reach, and lets the step be interrupted between
/// two of them.
///
/// The to-many relationships of a key path multiply.
final class PathBudget {
  private let interruption: StepInterruption
  private let limit: Int
  private var count = 0

  init(_ interruption: StepInterruption, limit: Int = InputLimits.reachedObjects) {
    (self.interruption, self.limit) = (interruption, limit)
  }

  /// Counts an object.
  ///
  /// - Throws: An `NSError` if the step is interrupted, or reaches more objects than allowed.
  func spend() throws {
    try interruption.check()
    count += 1
    guard count <= limit else {
      throw StepInput.error(
        "The key paths reach more objects than the limit, \(NumberText.grouped(limit)). Use shorter ones, "
          + "or `limit`.")
    }
  }
}
