import ArgumentParser

/// A command that returns its exit status.
protocol Executable: ParsableCommand {
  /// Runs the command and returns its exit status.
  ///
  /// - Throws: Any error; `Failure.init(_:)` converts it to a message and a status.
  func execute(_ console: Console) throws -> ExitStatus
}
