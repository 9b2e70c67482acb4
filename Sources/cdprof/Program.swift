import ArgumentParser
import Foundation
import OpenCoreData
import WorkbenchText

/// From arguments to exit status.
enum Program {
  /// Runs the program to its end; prints everything itself.
  ///
  /// - Parameter arguments: without the program's own name.
  static func run(_ arguments: [String]) -> ExitStatus {
    let console = Console()
    InputLimits.limitProcess()
    atexit { ScratchFolders.removeAll() }
    ScratchFolders.removeLeftBehind()
    // An app's classes are never here; that its objects are plain ones goes without saying.
    ManagedObjectClasses.silenceWarnings()
    if let wrong = unknownCommand(in: arguments) {
      console.complain(wrong)
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
      console.complain(failure.text)
      return failure.status
    }
  }

  /// A message for a first word that isn't a command; nil when it is one, or an option.
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

  /// Prints help, the version, or what is wrong with the arguments.
  private static func report(
    _ error: any Error, of arguments: [String], _ console: Console
  ) -> ExitStatus {
    // The parser quotes arguments as they are; a line feed in one must not begin a line.
    let message = arguments.filter { PrintableText.line($0) != $0 }
      .reduce(CDProf.fullMessage(for: error)) {
        $0.replacing($1, with: PrintableText.line($1))
      }
    guard CDProf.exitCode(for: error) != .success else {
      console.say(message)
      return .success
    }
    console.complain(message)
    return .usage
  }
}
