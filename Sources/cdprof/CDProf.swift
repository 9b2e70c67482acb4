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
      New.self, List.self, Run.self, Check.self, Course.self, Shell.self, Report.self, Compare.self,
      Advise.self,
      Inspect.self,
      Doctor.self, Rows.self, Model.self, Diff.self, Migrate.self, Generate.self, Predicate.self,
      Log.self,
      Schema.self, Export.self,
    ])
}

/// The program's entry point: parses the arguments, runs a command, and returns the exit status.
enum Program {
  /// Runs a command, prints its errors, and returns the exit status.
  ///
  /// - Parameter arguments: The arguments, without the name of the program.
  static func run(_ arguments: [String]) -> ExitStatus {
    let console = Console()
    InputLimits.limitProcess()
    atexit { ScratchFolders.removeAll() }
    ScratchFolders.removeLeftBehind()
    // This process never contains an app's classes, so a warning about a missing class is noise.
    ManagedObjectClasses.silenceWarnings()
    if let wrong = unknownCommand(in: arguments) {
      console.writeError(wrong)
      return .usage
    }
    do {
      var command = try CDProf.parseAsRoot(arguments)
      if let executable = command as? any Executable {
        return try executable.execute(console)
      }
      try command.run()
      return .success
    } catch let error where isParserError(error) {
      return report(error, of: arguments, console)
    } catch {
      let failure = Failure(error)
      console.writeError(failure.text)
      return failure.status
    }
  }

  /// Returns the error message for an unknown command, or nil if the first word is a command or an
  /// option.
  private static func unknownCommand(in arguments: [String]) -> String? {
    let commands = CDProf.configuration.subcommands.map { $0._commandName }
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    guard let word = words.first, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
    return Messages.unknownCommand(PrintableText.line(word), commands: commands)
  }

  private static func isParserError(_ error: any Error) -> Bool {
    error is ExitCode || error is CleanExit || error is ValidationError
      || String(reflecting: type(of: error)).hasPrefix("ArgumentParser.")
  }

  /// Prints help, the version, or a usage error.
  private static func report(
    _ error: any Error, of arguments: [String], _ console: Console
  ) -> ExitStatus {
    // The parser quotes arguments unescaped; a line feed in one must not start a new line.
    let message = arguments.filter { PrintableText.line($0) != $0 }
      .reduce(CDProf.fullMessage(for: error)) {
        $0.replacing($1, with: PrintableText.line($1))
      }
    guard CDProf.exitCode(for: error) != .success else {
      console.write(message)
      return .success
    }
    console.writeError(message)
    return .usage
  }
}

/// A command that returns its exit status.
protocol Executable: ParsableCommand {
  /// Runs the command and returns its exit status.
  ///
  /// - Throws: Any error; `Failure.init(_:)` converts it to a message and a status.
  func execute(_ console: Console) throws -> ExitStatus
}
