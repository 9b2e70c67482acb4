/// The exit status of the program.
enum ExitStatus: Int32 {
  /// Everything succeeded, and all expectations are met.
  case success = 0
  /// A run failed.
  case runFailed = 1
  /// An expectation isn't met, a count is above the baseline, or a comparison fails.
  case expectationNotMet = 2
  /// `doctor` reported errors, `model --check` or `run --fail-on` findings, `migrate` would lose
  /// values or fail, or a solution doesn't pass `check`.
  case findings = 3
  /// Invalid arguments or an unknown command.
  case usage = 64
  /// Invalid input: a corrupt file (but for `doctor`), a file that isn't a Core Data store, or an
  /// error in YAML, a predicate, a key path, or a model.
  case badInput = 65
  /// A file is missing or can't be read.
  case missingFile = 66
  /// A bug in cdprof.
  case internalError = 70

  /// Returns the more severe of two statuses, for a run of several files.
  func worse(_ other: ExitStatus) -> ExitStatus {
    let order: [ExitStatus] = [
      .success, .findings, .expectationNotMet, .runFailed, .usage, .missingFile, .badInput,
      .internalError,
    ]
    let mine = order.firstIndex(of: self) ?? 0
    return mine >= order.firstIndex(of: other) ?? 0 ? self : other
  }
}
