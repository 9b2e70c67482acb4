import Foundation
import ScenarioFiles
import ScenarioLanguage
import WorkbenchServer
import WorkbenchShell
import WorkbenchText

/// The shell of a browser, as `serve` starts it: lines from a pipe, and an answer to each.
///
/// The process limits itself. SIGINT, which the server sends after a time, stops the running step
/// as Ctrl-C does in a terminal.
struct ServedShell {
  private let console: Console

  init(_ console: Console) {
    self.console = console
  }

  /// Opens a scenario and answers lines until the input ends.
  ///
  /// - Parameters:
  ///   - path: The path of the scenario's file.
  ///   - text: The path of a file with its text.
  func run(_ path: String, text: String) -> ExitStatus {
    ProcessLimits.apply(processorTime: InputLimits.browserShellTime)
    let engine: ShellEngine
    do {
      let scenario = try ScenarioReader.read(
        URL(fileURLWithPath: path), path: path, textFrom: text)
      engine = try ShellEngine(workspace: try ShellWorkspace(scenario: scenario)) { [console] in
        console.write([$0])
      }
    } catch {
      let failure = Failure(error)
      console.write(failure.text)
      return failure.status
    }
    defer { engine.close() }
    engine.isConfined = true
    let running = RunningStep()
    let interruption = engine.interruption
    Signals.perform { signal in
      guard signal == SIGINT else { Signals.endProgram(signal) }
      // The step may have just ended.
      if running.isRunning { Shell.stop(running, interruption) }
    }
    console.write([engine.banner()])
    console.endAnswer()
    var lines = PipedLines()
    while let line = lines.next() {
      let answer = running.run { engine.answer(to: line) }
      console.write(answer.lines)
      if let failure = answer.failure { console.write(failure.text()) }
      if answer.ends { break }
      console.endAnswer()
    }
    return .success
  }
}
