import Foundation
import OpenCoreData
import ProfileEvents
package import Profiling
import ScenarioLanguage
import StoreTools
import WorkbenchText

/// The shell without a terminal: takes a line, runs it, gives the answer.
///
/// Steps run as in a scenario, one `perform` block each. Use it from one thread, not the main one.
package final class ShellEngine {
  /// By which another thread may stop the step that runs.
  package let interruption = StepInterruption()
  /// Takes the lines of the SQL log, one at a time.
  let log: @Sendable (String) -> Void
  /// Whether the SQL log says what was bound.
  let showsBinds: Bool

  // Written by the +flows.
  /// What is open, in the order of opening.
  var desks: [ShellDesk] = []
  /// What is worked on.
  var desk: ShellDesk?
  /// Lines read so far, empty ones included: the line of a step's call site.
  var lineNumber = 0
  var sqlLog: (level: Int, sink: any EventSink)?
  var stackRequest: StackRequest?
  /// Files that this shell wrote and may write again.
  var written: Set<String> = []
  var mode = ShellMode.table
  var output: ShellOutput?
  /// Files that `source` is in the middle of.
  var sources: [String] = []
  /// Whether long answers stop at the end of the screen; for whoever has one.
  package var pages = true

  /// - Parameters:
  ///   - workspace: what is open from the beginning; nil for nothing.
  ///   - showsBinds: whether the SQL log says what was bound; kept back if left out.
  ///   - log: takes the lines of the SQL log, on the thread that runs the statement.
  /// - Throws: the framework's `NSError` when the store cannot be opened.
  package init(
    workspace: ShellWorkspace?, showsBinds: Bool = false, log: @escaping @Sendable (String) -> Void
  ) throws {
    self.log = log
    self.showsBinds = showsBinds
    if let workspace { try add(workspace, as: nil) }
  }

  /// What is open, and what to type first.
  package func banner(completes: Bool = false) -> String {
    let hint = (completes ? "Tab completes, " : "") + "`help` helps"
    guard let desk else { return "nothing is open · `\(ShellCommand.open.usage)` · \(hint)" }
    return "\(desk.line) · \(hint)"
  }

  /// What stands before the cursor: with several open, which one is worked on.
  package var prompt: String {
    guard desks.count > 1, let desk else { return "cdprof> " }
    return "cdprof \(desk.name)> "
  }

  /// Lets the sessions go and removes their scratch stores.
  package func close() {
    let open = desks
    desk = nil
    desks = []
    for desk in open { desk.workspace.close() }
    output = nil
  }

  /// Runs one line.
  ///
  /// Cost: the step's own, however long the try is; a line that is wrong runs nothing. An empty line or a
  /// comment has an empty answer. Where `output` named a file, what is printed goes there and the answer
  /// has no lines.
  /// - Parameter line: without its end.
  package func answer(to line: String) -> ShellAnswer {
    lineNumber += 1
    interruption.clear()
    let before = output
    var answer = answer(to: line, at: CallSite(file: "shell", line: lineNumber))
    // The line that names the file, and the one that ends it, are answered here.
    if let before, before === output {
      do {
        try before.add(answer.lines)
        answer.lines = []
      } catch {
        answer.failure = answer.failure ?? CommandFailure(error, in: line)
      }
    }
    return answer
  }

  /// Runs one line that stands somewhere, and says which rows it could not show.
  func answer(to line: String, at place: CallSite) -> ShellAnswer {
    let damagedRows = session?.damagedRows
    var answer = plainAnswer(to: line, at: place)
    let errors = damagedRows?.take() ?? []
    if !errors.isEmpty, answer.failure == nil {
      answer.failure = CommandFailure(
        "not all could be read: \(DamagedRowsText.list(errors))",
        nextStep: "`cdprof doctor` says what is wrong with the store")
    }
    return answer
  }

  private func plainAnswer(to line: String, at place: CallSite) -> ShellAnswer {
    do {
      if let query = ShellEngine.query(in: line) {
        return try ask(query.text, at: query.start, in: line).printed(in: mode)
      }
      let start = SourcePlace(line: place.line, column: 1)
      let words = try LineWords.tokens(of: line, startingAt: start)
      guard !words.isEmpty else { return ShellAnswer() }
      if let (command, length) = ShellCommand.named(by: words.map(\.text)) {
        let arguments = try ShellArguments(Array(words.dropFirst(length)), of: command)
        return try run(command, arguments).printed(in: mode)
      }
      return try runStep(line, at: place).printed(in: mode)
    } catch {
      return ShellAnswer(failure: CommandFailure(error, in: line))
    }
  }

  var workspace: ShellWorkspace? { desk?.workspace }
  var session: Session? { desk?.session }

  /// The try that goes on.
  var current: ShellTry { desk?.current ?? ShellTry(number: 1) }
}

extension LineWords.Token {
  /// The word's text; empty for a mark or a quoted word, which is never a command.
  fileprivate var text: String {
    if case .word(let word) = self, !word.isQuoted { word.text } else { "" }
  }
}
