/// What a fetch brings: `result ids`.
package enum ResultKind: String, CaseIterable, Sendable {
  case objects
  case ids
  case count
  case dictionaries

  /// Whether a session can bring it.
  package var isRunnable: Bool {
    self != .dictionaries
  }
}
