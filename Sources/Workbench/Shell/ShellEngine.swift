import ProfileEvents

/// The shell without a terminal: takes a line, runs it, gives the answer.
///
/// Steps run as in a scenario, one `perform` block each. Use it from one thread, not the main one.
package final class ShellEngine {
  /// By which another thread may stop the step that runs.
  package let interruption = StepInterruption()
  /// Takes the lines of the SQL log, one at a time.
  let log: @Sendable (String) -> Void

  // Written by the +flows.
  var workspace: ShellWorkspace?
  var session: Session?
  /// Lines read so far, empty ones included: the line of a step's call site.
  var lineNumber = 0
  /// The tries that are over; each ran at least one step.
  var tries: [ShellTry] = []
  var current = ShellTry(number: 1)
  var sqlLog: (level: Int, sink: any EventSink)?
  /// Scenario files that this shell wrote and may write again.
  var written: Set<String> = []

  /// - Parameters:
  ///   - workspace: what is open from the beginning; nil for nothing.
  ///   - log: takes the lines of the SQL log, on the thread that runs the statement.
  /// - Throws: the framework's `NSError` when the store cannot be opened.
  package init(
    workspace: ShellWorkspace?, log: @escaping @Sendable (String) -> Void
  ) throws {
    self.log = log
    self.workspace = workspace
    session = try workspace?.makeSession(sinks: [], interruption: interruption)
  }

  /// What is open, and what to type first.
  package func banner(completes: Bool = false) -> String {
    let hint = (completes ? "Tab completes, " : "") + "`help` helps"
    guard let workspace else {
      return "nothing is open · `\(ShellCommand.open.usage)` · \(hint)"
    }
    return "\(workspace.title) · \(workspace.contents) · \(workspace.state) · \(hint)"
  }

  /// Lets the session go and removes its scratch store.
  package func close() {
    session = nil
    workspace?.close()
    workspace = nil
  }

  /// Runs one line.
  ///
  /// Cost: the step's own; a line that is wrong runs nothing. An empty line or a comment has an empty
  /// answer.
  /// - Parameter line: without its end.
  package func answer(to line: String) -> ShellAnswer {
    lineNumber += 1
    interruption.clear()
    do {
      let start = SourcePlace(line: lineNumber, column: 1)
      let words = try LineWords.tokens(of: line, startingAt: start)
      guard !words.isEmpty else { return ShellAnswer() }
      if let (command, length) = ShellCommand.named(by: words.map(\.text)) {
        return try run(command, ShellArguments(Array(words.dropFirst(length)), of: command))
      }
      return try runStep(line)
    } catch {
      return ShellAnswer(failure: ShellFailure(error, in: line))
    }
  }
}

extension LineWords.Token {
  /// The word's text; empty for a mark or a quoted word, which is never a command.
  fileprivate var text: String {
    if case .word(let word) = self, !word.isQuoted { word.text } else { "" }
  }
}
