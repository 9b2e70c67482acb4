import ArgumentParser
import Foundation
import OpenCoreData
import Synchronization
import WorkbenchServer
import WorkbenchText

/// The program's entry point: parses the arguments, runs a command, and exits with its status.
package struct Program {
  private let root: any ParsableCommand.Type
  /// Called before the process ends, on any thread.
  private let cleanUp: @Sendable () -> Void

  init(_ root: any ParsableCommand.Type, cleanUp: @escaping @Sendable () -> Void = {}) {
    self.root = root
    self.cleanUp = cleanUp
  }

  /// Runs `cdprof` with the process's arguments.
  package static func start() -> Never {
    Program(CDProf.self, cleanUp: CourseServer.endProcesses).start()
  }

  /// Runs the program with the process's arguments.
  func start() -> Never {
    // Commands run on a separate thread with a large stack, which leaves the main queue to
    // main-queue contexts, as in an app.
    Console.occupyClosedDescriptors()
    Ending.cleanUp.withLock { $0 = cleanUp }
    let arguments = Array(CommandLine.arguments.dropFirst())
    let command = Result { try root.parseAsRoot(arguments) }
    ScratchFolders.removeLeftBehind()
    // Before the process has other threads, which wouldn't be confined.
    if case .success(let confined as any Confined) = command, let inputs = confined.inputs {
      Sandbox.enter(reading: inputs)
    }
    Signals.listen()
    let run = ProgramRun(program: self, command: command, arguments: arguments)
    let worker = Thread { Ending.end(run.start().rawValue) }
    worker.stackSize = 8 << 20
    worker.start()
    dispatchMain()
  }

  /// Runs a command, prints its errors, and returns the exit status.
  ///
  /// - Parameters:
  ///   - parsed: The command, or the error in the arguments.
  ///   - arguments: The arguments, without the name of the program.
  fileprivate func run(
    _ parsed: Result<any ParsableCommand, any Error>, _ arguments: [String]
  ) -> ExitStatus {
    let console = Console()
    InputLimits.limitSQLiteMemory()
    atexit {
      Ending.cleanUp.withLock { $0 }()
      ScratchFolders.removeAll()
    }
    // This process never contains an app's classes, so a warning about a missing class is noise.
    ManagedObjectClasses.silenceWarnings()
    if let wrong = unknownCommand(in: arguments) {
      console.writeError(wrong)
      return .usage
    }
    do {
      var command = try parsed.get()
      if let executable = command as? any Executable {
        return try executable.execute(console)
      }
      try command.run()
      return .success
    } catch let error where isParserError(error) {
      return report(error, of: arguments, console)
    } catch {
      let failure = Failure(error)
      console.writeError(Secrets.hidden(in: failure.text))
      return failure.status
    }
  }

  /// Returns the error message for an unknown command, or `nil` if the first word is a command or
  /// an option.
  private func unknownCommand(in arguments: [String]) -> String? {
    let commands = root.configuration.subcommands.map { $0._commandName }
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    guard let word = words.first, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
    return Secrets.hidden(
      in: Messages.unknownCommand(
        PrintableText.line(word), commands: commands, of: root._commandName))
  }

  private func isParserError(_ error: any Error) -> Bool {
    error is ExitCode || error is CleanExit || error is ValidationError
      || String(reflecting: type(of: error)).hasPrefix("ArgumentParser.")
  }

  /// Prints help, the version, or a usage error.
  private func report(
    _ error: any Error, of arguments: [String], _ console: Console
  ) -> ExitStatus {
    // The parser quotes arguments unescaped; a line feed in one must not start a new line.
    let message = arguments.filter { PrintableText.line($0) != $0 }
      .reduce(root.fullMessage(for: error)) {
        $0.replacing($1, with: PrintableText.line($1))
      }
    guard root.exitCode(for: error) != .success else {
      console.write(message)
      return .success
    }
    console.writeError(Secrets.hidden(in: message))
    return .usage
  }
}

/// A run of a program, as the thread that executes it gets it.
private struct ProgramRun: @unchecked Sendable {  // only that thread uses it
  let program: Program
  let command: Result<any ParsableCommand, any Error>
  let arguments: [String]

  func start() -> ExitStatus { program.run(command, arguments) }
}

/// The end of the process, which only one thread begins.
///
/// Ctrl-C ends it on the signal thread, which removes the temporary folders of the command that
/// still runs on another thread and can fail because of that.
enum Ending {
  /// What a process does before it ends, even after a signal.
  fileprivate static let cleanUp = Mutex<@Sendable () -> Void> {}
  private static let begins = Atomic(false)

  /// Whether a thread has begun to end the process.
  static var hasBegun: Bool { begins.load(ordering: .sequentiallyConsistent) }

  /// Ends the process with a status, or waits for its end if another thread has begun it.
  static func end(_ status: Int32) -> Never {
    if begins.exchange(true, ordering: .sequentiallyConsistent) { wait() }
    exit(status)
  }

  /// Waits for the end of the process if a thread has begun it.
  static func waitIfBegun() {
    if hasBegun { wait() }
  }

  private static func wait() -> Never {
    while true { sleep(60) }
  }
}

/// Hides passwords in messages.
enum Secrets {
  /// Returns a text in which the password of each URL is replaced.
  ///
  /// A password that isn't escaped can contain `@`, so it ends at the last one of a word.
  ///
  /// **Cost:** linear in the text, whatever the lengths of its words.
  static func hidden(in text: String) -> String {
    text.replacing(/\S+/) { hidden(inWord: $0.output) }
      .replacing(/([?&]password=)[^\s&]*/) { "\($0.1)…" }
  }

  private static func hidden(inWord word: Substring) -> String {
    guard let end = word.lastIndex(of: "@"),
      let start = word[..<end].firstMatch(of: /\w:\/\/[^\s:\/@]*:/)
    else { return String(word) }
    return "\(word[..<start.range.upperBound])…\(word[end...])"
  }
}
