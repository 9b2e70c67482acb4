import ArgumentParser

/// A command that says how it ended.
protocol Executable: ParsableCommand {
  /// Does the command's work.
  ///
  /// - Throws: what `Failure.init(_:)` puts into words.
  func execute(_ console: Console) throws -> ExitStatus
}
