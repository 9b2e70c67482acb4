import Foundation
import OpenCoreData
import ProfileEvents
package import Profiling
import RunResults
import SQLiteDriver
import ScenarioLanguage
import StoreTools
import WorkbenchText

/// The shell without a terminal: runs lines and returns their results.
///
/// Each step runs in its own `perform` block, as in a scenario. Use an engine on a single thread
/// that isn't the main thread.
package final class ShellEngine {
  /// The interruption with which another thread can stop the running step.
  package let interruption = StepInterruption()
  /// The closure that receives the lines of the SQL log, one at a time.
  let log: @Sendable (String) -> Void
  /// Whether the SQL log contains bound values.
  let showsBinds: Bool

  // Modified by the extensions in other files.
  /// The open stores and scenarios, in the order in which they were opened.
  var targets: [ShellTarget] = []
  /// The current store or scenario.
  var target: ShellTarget?
  /// The number of lines read so far, including empty ones, which is the line of a step's call
  /// site.
  var lineNumber = 0
  var sqlLog: (level: Int, sink: any EventSink)?
  var stackRequest: StackRequest?
  /// The files that this shell wrote and can replace.
  var written: Set<String> = []
  /// The files of others to which this shell appended results, and can append more.
  private var appended: Set<String> = []
  var mode = ShellMode.table
  var output: ShellOutput?
  /// The files that `source` is currently running.
  var sources: [String] = []
  /// Whether long results stop at the end of the screen of a terminal.
  package var pages = true
  /// The last line that was run, for `!!`; for a `repeat` in several lines, all of them.
  private var previousLine: String?
  /// The lines of a `repeat` whose block isn't complete.
  var openBlock: (text: String, callSite: CallSite)?
  /// The number of times that the blocks around the running line repeat it.
  var repetitions = 1
  /// Whether commands that read or write files are rejected, as in a browser.
  package var isConfined = false
  /// The width of the terminal in columns, or `nil` if results aren't printed on one.
  package var width: Int?

  /// Creates an engine.
  ///
  /// - Parameters:
  ///   - workspace: The store or scenario to open; `nil` to start without any.
  ///   - showsBinds: Whether the SQL log contains bound values.
  ///   - log: A closure that receives the lines of the SQL log, on the thread that runs the
  ///     statement.
  /// - Throws: An `NSError` if the store can't be opened.
  package init(
    workspace: ShellWorkspace?, showsBinds: Bool = false, log: @escaping @Sendable (String) -> Void
  ) throws {
    self.log = log
    self.showsBinds = showsBinds
    if let workspace { try add(workspace, as: nil) }
  }

  /// Returns the first line of the shell: the open store, and how to get help.
  package func banner(completes: Bool = false) -> String {
    let hint = (completes ? "Tab completes, " : "") + "`help` lists commands"
    guard let target else { return "nothing is open · `\(ShellCommand.open.usage)` · \(hint)" }
    return "\(target.line) · \(hint)"
  }

  /// The prompt; if several stores are open, it contains the name of the current one.
  package var prompt: String {
    if openBlock != nil { return "   ...> " }
    guard targets.count > 1, let target else { return "cdprof> " }
    return "cdprof \(target.name)> "
  }

  /// Closes all sessions and removes their scratch stores.
  package func close() {
    let open = targets
    target = nil
    targets = []
    for target in open { target.workspace.close() }
    output = nil
  }

  /// Runs a line and returns its result.
  ///
  /// The result of an empty line or a comment is empty. If `output` is set to a file, the lines of
  /// the result are appended to it, and the returned result has no lines.
  ///
  /// **Cost:** that of the step, regardless of the length of the run; an invalid line runs nothing.
  /// - Parameter line: The line, without a line feed.
  package func answer(to line: String) -> ShellAnswer {
    lineNumber += 1
    interruption.clear()
    let before = output
    var answer = repeated(line)
    if before == nil, let width, mode == .table {
      answer.lines = answer.lines.flatMap { ScreenText.fitted($0, to: width) }
    }
    // The results of `output FILE` and `output off` themselves aren't written to the file.
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

  /// Runs a typed line, or the previous one for `!!`, which is printed first.
  private func repeated(_ line: String) -> ShellAnswer {
    let callSite = CallSite(file: "shell", line: lineNumber)
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words == [Substring(ShellCommand.again.rawValue)], openBlock == nil else {
      if !words.isEmpty {
        previousLine = openBlock == nil ? line : "\(previousLine ?? "")\n\(line)"
      }
      return answer(to: line, at: callSite)
    }
    guard let previousLine else {
      return ShellAnswer(
        failure: CommandFailure(
          "there's no previous line", nextStep: "run a line first; `!!` runs it again"))
    }
    var answer = answer(to: previousLine, at: callSite)
    if mode == .table {
      answer.lines = previousLine.split(separator: "\n").map { "> \($0)" } + answer.lines
    }
    return answer
  }

  /// Runs a line with a call site, and reports rows that couldn't be read.
  func answer(to line: String, at callSite: CallSite) -> ShellAnswer {
    let skippedRows = session?.skippedRows
    var answer = plainAnswer(to: line, at: callSite)
    let errors = skippedRows?.take() ?? []
    if !errors.isEmpty, answer.failure == nil {
      answer.failure = CommandFailure(
        "some rows couldn't be read: \(SkippedRowsText.list(errors))",
        nextStep: "run `cdprof doctor` to check the store")
    }
    return answer
  }

  func plainAnswer(to line: String, at callSite: CallSite) -> ShellAnswer {
    do {
      guard line.utf8.count <= InputLimits.shellLine else {
        let limit = NumberText.grouped(InputLimits.shellLine)
        throw CommandFailure(
          "the line is too long; the limit is \(limit) bytes", nextStep: "write several lines")
      }
      if let answer = try block(with: line, at: callSite) { return answer }
      let line = ShellEngine.withoutSemicolon(line)
      if let timed = ShellEngine.timedLine(in: line) { return time(timed, at: callSite) }
      if let query = ShellEngine.query(in: line) {
        return try run(query: query.text, at: query.start, in: line).printed(
          in: mode, width: output == nil ? width : nil)
      }
      let start = SourceRange(line: callSite.line, column: 1)
      let words = try LineWords.tokens(of: ShellCommand.withoutMarks(line), startingAt: start)
      guard !words.isEmpty else { return ShellAnswer() }
      if let (command, length) = ShellCommand.named(by: words.map(\.text)) {
        let arguments = try ShellArguments(Array(words.dropFirst(length)), of: command)
        return try run(command, arguments).printed(in: mode, width: output == nil ? width : nil)
      }
      return try runStep(line, at: callSite).printed(in: mode, width: output == nil ? width : nil)
    } catch {
      return ShellAnswer(failure: CommandFailure(error, in: line))
    }
  }

  var workspace: ShellWorkspace? { target?.workspace }
  var session: Session? { target?.session }

  /// The current run.
  var current: ShellRun { target?.current ?? ShellRun(number: 1) }
}

extension LineWords.Token {
  /// The word; empty for a punctuation mark or a quoted word, which is never a command.
  fileprivate var text: String {
    if case .word(let word) = self, !word.isQuoted { word.text } else { "" }
  }
}

extension ShellEngine {
  /// Sets or prints the level of the SQL log.
  func setSQLLevel(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let level = try ShellArguments.number(
        word, in: 0...4, of: "levels",
        nextStep: "use `sql 1`, for example, or `sql 0` to turn it off"
      )
      if let sqlLog { for target in targets { target.session.remove(sqlLog.sink) } }
      sqlLog = nil
      if level > 0 {
        let sink = SQLDebugLog(level: level, showsBinds: showsBinds, write: log)
        sqlLog = (level, sink)
        for target in targets { target.session.add(sink) }
      }
    }
    let level = sqlLog?.level ?? 0
    return ShellAnswer(
      "  SQL log: level \(level)" + (level == 0 ? ", off" : ", on standard error")
        + (level >= 2 && !showsBinds ? ", bound values hidden (start with --show-binds)" : ""))
  }

  /// Sets or prints what events record in addition to the counts.
  func setRecording(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let wanted = try ShellArguments.choice(word, of: ["stacks", "off"], command: .record)
      if let stackRequest { for target in targets { target.session.remove(stackRequest) } }
      stackRequest = nil
      if wanted == "stacks" {
        let request = StackRequest()
        stackRequest = request
        for target in targets { target.session.add(request) }
      }
    }
    return ShellAnswer(
      stackRequest == nil
        ? "  recorded: every event, without call stacks; `record stacks` adds them"
        : "  recorded: every event with its call stack, which increases times")
  }

  /// Sets or prints the output mode for rows.
  func setMode(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let chosen = try ShellArguments.choice(
        word, of: ShellMode.allCases.map(\.rawValue), command: .mode)
      mode = ShellMode(rawValue: chosen) ?? mode
    }
    return ShellAnswer("  mode: \(mode.rawValue)")
  }

  /// Sets or prints whether long results are paged.
  func setPager(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      pages = try ShellArguments.choice(word, of: ["on", "off"], command: .pager) == "on"
    }
    return ShellAnswer("  pager: \(pages ? "on" : "off")")
  }

  /// Sets the file to which results are appended, or prints where results go.
  func setOutput(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else {
      return ShellAnswer("  results go to \(output?.path ?? "standard output")")
    }
    if word.text == "off", !word.isQuoted {
      output = nil
      return ShellAnswer("  results go to standard output")
    }
    var force = false
    if let last = arguments.words.dropFirst().first {
      force = try ShellArguments.choice(last, of: ["force"], command: .output) == "force"
    }
    let path = URL(fileURLWithPath: word.text).standardizedFileURL.path
    let isNew = FileKind.mode(of: path, followingLinks: false) == nil
    let isOwn = written.contains(path)
    output = try ShellOutput(
      path: word.text, force: force || isOwn || appended.contains(path))
    // A file that another program wrote isn't replaced by a report.
    if isNew || isOwn { written.insert(path) } else { appended.insert(path) }
    return ShellAnswer("  results are appended to \(word.text) until `output off`")
  }
}

extension CommandFailure {
  /// Creates a failure from any error.
  ///
  /// - Parameters:
  ///   - error: The error that was thrown.
  ///   - line: The line of the shell, for the excerpt.
  init(_ error: any Error, in line: String) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let problem as LanguageProblem: self.init(problem, in: line)
    case let error as LineError: self.init(error.problem, in: line)
    case let refusal as InvalidInputError:
      self.init(
        PrintableText.line(refusal.message), nextStep: PrintableText.line(refusal.nextStep))
    case let failure as StepFailure:
      let details = ErrorText.details(of: failure.error).map { "  \(PrintableText.line($0))" }
      self.init(
        "`\(failure.step)` failed: \(ErrorText.of(failure.error)) (\(failure.error.code))",
        nextStep: details.isEmpty ? nil : details.joined(separator: "\n"))
    default:
      self.init("\(ErrorText.of(error))")
    }
  }
}

extension ShellEngine {
  /// Returns a line without the semicolon at its end, which ends a statement in SQL's shells.
  static func withoutSemicolon(_ line: String) -> String {
    var rest = Substring(line)
    while let last = rest.last, last.isWhitespace || last == ";" { rest.removeLast() }
    return String(rest)
  }

  /// Returns the line after `time`, or `nil` for any other line.
  static func timedLine(in line: String) -> String? {
    let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    guard parts.count == 2, parts[0] == ShellCommand.time.rawValue else { return nil }
    return String(parts[1])
  }

  /// Runs a line, and adds the elapsed time.
  func time(_ line: String, at callSite: CallSite) -> ShellAnswer {
    let begin = MonotonicClock.now()
    var answer = plainAnswer(to: line, at: callSite)
    answer.lines.append("  elapsed: \(NumberText.milliseconds(MonotonicClock.now() - begin)) ms")
    return answer
  }

  /// Prints the statements that created the file's tables and indexes, or those of one table.
  ///
  /// **Cost:** one SELECT on a separate connection, which the run's counts don't include.
  func schema(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let connection = try StoreConnection.open(
      path: session.storeURL.path, access: session.isReadOnly ? .inspecting : .reading)
    defer { connection.close() }
    var statements = try connection.values(
      "SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, rowid")
    if let word = arguments.words.first {
      let mapping = try session.mapping(on: connection)
      let table = mapping.entity(named: word.text)?.table ?? word.text
      statements = statements.filter { row in
        if case .text(let name) = row[0] { name.lowercased() == table.lowercased() } else { false }
      }
      guard !statements.isEmpty else {
        let known = ModelNames(session.model, configuration: session.configuration).entities
        throw LanguageProblem(
          "there's no entity or table `\(word.text)`", at: word.range,
          didYouMean: NearestName.of(word.text, among: known),
          nextStep: "the entities are: \(ModelNames.list(known))")
      }
    }
    let cells = statements.map { $0.map(ShellEngine.cell) }
    let lines = statements.flatMap { row -> [String] in
      guard case .text(let sql) = row[1] else { return [] }
      return "\(sql);".split(separator: "\n").map { "  \($0)" }
    }
    return ShellAnswer(lines, table: ShellTable(["table", "sql"], cells))
  }
}
