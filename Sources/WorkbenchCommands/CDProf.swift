import ArgumentParser
import Foundation
import OpenCoreData
import WorkbenchText

/// The program and its commands.
struct CDProf: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdprof",
    abstract:
      "Profile Core Data on Linux: the SQL, rows, and time behind every fetch, fault, and save.",
    discussion: Messages.discussion,
    version: Messages.version,
    subcommands: [
      New.self, List.self, Run.self, Check.self, Course.self, Serve.self, Shell.self, Report.self,
      Compare.self, Advise.self, Inspect.self, Doctor.self, Rows.self, Model.self, Diff.self,
      Migrate.self, Generate.self, Predicate.self, Log.self, Schema.self, Export.self,
    ])
}

/// A command that returns its exit status.
protocol Executable: ParsableCommand {
  /// Runs the command and returns its exit status.
  ///
  /// - Throws: Any error; `Failure.init(_:)` converts it to a message and a status.
  func execute(_ console: Console) throws -> ExitStatus
}
