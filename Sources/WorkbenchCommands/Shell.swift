import ArgumentParser
import Foundation
import Profiling
import WorkbenchShell
import WorkbenchText

/// `cdprof shell`: runs one step per line and prints its cost.
struct Shell: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Run steps interactively and see the cost of each one.",
    discussion: """
      A store is opened read-only and isn't modified; with --write, the shell works on a copy. \
      A scenario's data is generated in a temporary store. If the input isn't a terminal, the \
      shell continues after an error, and prints its line number on standard error.

      Exit status: 65 if a line failed and the input isn't a terminal.
      """)

  @Argument(
    help: ArgumentHelp("A store, or a scenario (.yml).", valueName: "store | scenario"),
    completion: .scenariosAndStores)
  var file: String?

  @ArgumentParser.Flag(help: "Work on a copy of the store, which is deleted at the end.")
  var write = false

  @ArgumentParser.Flag(help: "Modify the store itself; requires --write.")
  var inPlace = false

  @ArgumentParser.Flag(help: "Print bound values in the SQL log, from level 2 on.")
  var showBinds = false

  /// A file with the text to use instead of that of the scenario, for `serve`.
  ///
  /// The shell then answers each line on standard output, errors too, ends each answer with
  /// `ShellProcess.endOfAnswer`, and doesn't read or write files.
  @Option(help: ArgumentHelp(visibility: .hidden))
  var served: String?

  func validate() throws {
    guard write || !inPlace else {
      throw ValidationError("--in-place requires --write.")
    }
    guard file != nil || !write else { throw ValidationError("--write requires a store.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    if let file, let served { return ServedShell(console).run(file, text: served) }
    let writing: ShellWorkspace.Writing = inPlace ? .inPlace : write ? .copy : .never
    let workspace = try file.map { try ShellWorkspace(opening: $0, writing: writing) }
    if let workspace {
      console.warn(of: workspace.model, path: workspace.modelPath)
    }
    let engine = try ShellEngine(workspace: workspace, showsBinds: showBinds) {
      console.writeMessage($0)
    }
    defer { engine.close() }
    let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    return isTerminal ? converse(with: engine, console.colored) : readAll(engine, console)
  }

  /// Reads and runs lines from a terminal.
  private func converse(with engine: ShellEngine, _ console: Console) -> ExitStatus {
    let input = TerminalInput()
    let running = RunningStep()
    let interruption = engine.interruption
    Signals.perform(also: [SIGTSTP, SIGWINCH]) { signal in
      guard running.isRunning else { return input.receive(signal) }
      switch signal {
      case SIGWINCH: break
      case SIGTSTP: Signals.stopProgram()
      case SIGINT where running.press() == 1:
        Shell.stop(running, interruption)
        running.ifStillRunning(after: 1) { console.writeError(Messages.stillRunning) }
      default: TerminalInput.endProgram(signal)
      }
    }
    console.write([engine.banner(completes: true), ""])
    if let path = Shell.startFile, let failure = running.run({ engine.begin(with: path) }) {
      console.writeError(failure)
    }
    while let line = input.nextLine(
      after: { engine.prompt }, offering: engine.vocabulary,
      discarding: { engine.discardBlock() })
    {
      engine.width = Pager.screen?.columns
      let answer = running.run { engine.answer(to: line) }
      if engine.pages {
        if let key = Pager(console).show(answer.lines) { input.begin(with: key) }
      } else {
        console.write(answer.lines)
      }
      if let failure = answer.failure { console.writeError(failure) }
      if answer.ends { break }
      if !line.isEmpty { console.write("") }
    }
    input.saveHistory()
    return .success
  }

  /// Interrupts the running step, and repeats this every 0.1 seconds until the step ends.
  ///
  /// A single interruption has no effect if the step's next statement hasn't started yet.
  static func stop(_ running: RunningStep, _ interruption: StepInterruption) {
    interruption.request()
    running.ifStillRunning(after: 0.1) { stop(running, interruption) }
  }

  /// Reads and runs all lines of a pipe or a file, and continues after errors.
  private func readAll(_ engine: ShellEngine, _ console: Console) -> ExitStatus {
    console.write([engine.banner()])
    var status = ExitStatus.success
    var number = 0
    var lines = PipedLines()
    while let line = lines.next() {
      number += 1
      let answer = engine.answer(to: line)
      console.write(answer.lines)
      if let failure = answer.failure {
        console.writeError(failure.text(line: number))
        status = .badInput
      }
      if answer.ends { return status }
    }
    if let failure = engine.endOfLines() {
      console.writeError(failure.text())
      status = .badInput
    }
    return status
  }

  /// The user's `.cdprofrc`, or `nil` if there's none.
  ///
  /// Only the home folder is searched: a file in a folder of someone else's isn't run.
  private static var startFile: String? {
    guard let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") else {
      return nil
    }
    let path = "\(home)/.cdprofrc"
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }
}
