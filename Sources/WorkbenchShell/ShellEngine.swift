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
  var desks: [ShellTarget] = []
  /// What is worked on.
  var desk: ShellTarget?
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
  /// Whether long answers stop at the end of the screen, on a terminal.
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

  /// The prompt: with several stores open, the current one.
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
  /// Cost: the step's own, however long the run is; an invalid line runs nothing. An empty line or a
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

  /// Runs one line from a source location, and reports rows that couldn't be shown.
  func answer(to line: String, at place: CallSite) -> ShellAnswer {
    let damagedRows = session?.damagedRows
    var answer = plainAnswer(to: line, at: place)
    let errors = damagedRows?.take() ?? []
    if !errors.isEmpty, answer.failure == nil {
      answer.failure = CommandFailure(
        "not all could be read: \(DamagedRowsText.list(errors))",
        nextStep: "`cdprof doctor` describes what is wrong with the store")
    }
    return answer
  }

  private func plainAnswer(to line: String, at place: CallSite) -> ShellAnswer {
    do {
      if let query = ShellEngine.query(in: line) {
        return try ask(query.text, at: query.start, in: line).printed(in: mode)
      }
      let start = SourceRange(line: place.line, column: 1)
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

  /// The current run.
  var current: ShellRun { desk?.current ?? ShellRun(number: 1) }
}

extension LineWords.Token {
  /// The word's text; empty for a mark or a quoted word, which is never a command.
  fileprivate var text: String {
    if case .word(let word) = self, !word.isQuoted { word.text } else { "" }
  }
}

extension ShellEngine {
  /// Sets or prints how much SQL is logged.
  func setSQLLevel(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let level = try ShellArguments.number(
        word, in: 0...4, of: "levels",
        nextStep: "use `sql 1`, for example, or `sql 0` to turn it off"
      )
      if let sqlLog { for desk in desks { desk.session.remove(sqlLog.sink) } }
      sqlLog = nil
      if level > 0 {
        let sink = SQLDebugLog(level: level, showsBinds: showsBinds, write: log)
        sqlLog = (level, sink)
        for desk in desks { desk.session.add(sink) }
      }
    }
    let level = sqlLog?.level ?? 0
    return ShellAnswer(
      "  SQL log: level \(level)" + (level == 0 ? ", nothing" : ", on standard error")
        + (level >= 2 && !showsBinds ? ", bound values kept back (start with --show-binds)" : ""))
  }

  /// Sets or prints what events record in addition to the counts.
  func setRecording(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let wanted = try ShellArguments.choice(word, of: ["stacks", "off"], command: .record)
      if let stackRequest { for desk in desks { desk.session.remove(stackRequest) } }
      stackRequest = nil
      if wanted == "stacks" {
        let request = StackRequest()
        stackRequest = request
        for desk in desks { desk.session.add(request) }
      }
    }
    return ShellAnswer(
      stackRequest == nil
        ? "  recorded: every event, without call stacks; `record stacks` adds them"
        : "  recorded: every event with its call stack; times are longer for it")
  }

  /// Sets or prints how rows are printed.
  func setMode(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      let chosen = try ShellArguments.choice(
        word, of: ShellMode.allCases.map(\.rawValue), command: .mode)
      mode = ShellMode(rawValue: chosen) ?? mode
    }
    return ShellAnswer("  mode: \(mode.rawValue)")
  }

  /// Sets or prints whether long answers are paged.
  func setPager(_ arguments: ShellArguments) throws -> ShellAnswer {
    if let word = arguments.words.first {
      pages = try ShellArguments.choice(word, of: ["on", "off"], command: .pager) == "on"
    }
    return ShellAnswer("  pager: \(pages ? "on" : "off")")
  }

  /// Sends answers to a file, or back to the terminal.
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
    output = try ShellOutput(path: word.text, force: force || written.contains(path))
    written.insert(path)
    return ShellAnswer("  results are added to \(word.text) until `output off`")
  }
}

extension ShellEngine {
  /// All commands and verbs, or one of them in full.
  func help(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else { return ShellAnswer(overview) }
    // `reset` and `sql` are commands here, whatever they are in a scenario; `sql` is a step, too.
    if let command = ShellCommand.allCases.first(where: { $0.firstWord == word.text }),
      !command.rawValue.contains(" ")
    {
      let step = command == .sql ? [""] + lines(of: Verb.sql) : []
      return ShellAnswer(lines(of: command) + step)
    }
    if let verb = Verb(rawValue: word.text) {
      let more =
        verb == .save
        ? [""] + lines(of: .saveScenario) + [""] + lines(of: .saveStore) : []
      return ShellAnswer(lines(of: verb) + more)
    }
    if let option = OptionWord(rawValue: word.text) {
      return ShellAnswer(lines(of: option))
    }
    if let rule = RuleName(rawValue: word.text).flatMap(Rule.named) {
      return ShellAnswer(lines(of: rule))
    }
    let known =
      ShellEngine.verbs.map(\.rawValue) + ShellCommand.allCases.map(\.firstWord)
      + RuleName.allCases.map(\.rawValue)
    throw LanguageProblem(
      "there's no command, verb, or finding `\(word.text)`", at: word.place,
      didYouMean: NearestName.of(word.text, among: known), nextStep: "`help` lists them all")
  }

  /// The verbs that can be typed: those that run and aren't the name of a command.
  static let verbs = Verb.allCases.filter { verb in
    ShellCommand(rawValue: verb.rawValue) == nil
  }

  private var overview: [String] {
    let verbs = ShellEngine.verbs.map { ($0.rawValue, $0.summary) }
    let commands = ShellCommand.allCases.map { ($0.usage, $0.summary) }
    let width = (verbs + commands).map(\.0.count).max() ?? 0
    func table(_ rows: [(String, String)]) -> [String] {
      rows.map { "    \(NumberText.left($0.0, width))   \($0.1)" }
    }
    return ["  Steps, each followed by its cost:"] + table(verbs)
      + ["", "  Commands, which don't add to the costs:"] + table(commands)
      + [
        "",
        "  `help fetch` describes one, and so does the name of a finding. A run is everything since the last `reset`.",
      ]
  }

  private func lines(of command: ShellCommand) -> [String] {
    ["  \(command.usage)", "    \(command.summary)"] + command.details.map { "    \($0)" }
  }

  private func lines(of verb: Verb) -> [String] {
    let options = verb.allOptions
    let width = options.map { $0.example(of: verb).count }.max() ?? 0
    return ["  \(verb.usage)", "    \(verb.summary)"]
      + options.map { option in
        let property = verb.makesRequest ? option.requestProperty.map { " (\($0))" } ?? "" : ""
        return "      \(NumberText.left(option.example(of: verb), width))   "
          + option.summary(of: verb) + property
      }
  }

  private func lines(of rule: Rule) -> [String] {
    [
      "  \(rule.name.rawValue)", "    \(rule.meaning)", "    fires: \(rule.condition)",
      "    fix: \(rule.remedy)", "    the book: chapter \(rule.chapter)",
    ]
  }

  private func lines(of option: OptionWord) -> [String] {
    let verbs = ShellEngine.verbs.filter { $0.options.contains(option) }.map(\.rawValue)
    let property = option.requestProperty.map { " (NSFetchRequest.\($0))" } ?? ""
    return [
      "  \(option.example)", "    \(option.summary)",
      "    an option of \(verbs.joined(separator: ", "))\(property)",
    ]
  }
}

extension Verb {
  /// Whether its options are properties of an `NSFetchRequest`.
  fileprivate var makesRequest: Bool { self == .fetch || self == .count || self == .batchDelete }
}

extension ShellCommand {
  /// What `help` takes for it.
  fileprivate var firstWord: String {
    rawValue.split(separator: " ").first.map(String.init) ?? rawValue
  }
}
