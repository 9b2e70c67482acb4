/// How the program ends.
enum ExitStatus: Int32 {
  /// Everything succeeded, and all expectations are met.
  case success = 0
  /// A run failed.
  case runFailed = 1
  /// An expectation was missed.
  case expectationMissed = 2
  /// The doctor, the check of a model, or a gate on findings found something.
  case findings = 3
  /// Wrong usage, unknown command.
  case usage = 64
  /// Bad input: a damaged file, no Core Data store, YAML, a predicate, a key path, a model.
  case badInput = 65
  /// A file is missing or cannot be read.
  case missingFile = 66
  /// A bug in cdprof.
  case internalError = 70

  /// The worse of two, for several files in one run.
  func worse(_ other: ExitStatus) -> ExitStatus {
    let order: [ExitStatus] = [
      .success, .findings, .expectationMissed, .runFailed, .usage, .missingFile, .badInput,
      .internalError,
    ]
    let mine = order.firstIndex(of: self) ?? 0
    return mine >= order.firstIndex(of: other) ?? 0 ? self : other
  }
}
