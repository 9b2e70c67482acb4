import OpenCoreData
import ScenarioLanguage
import WorkbenchText

/// The shell's commands, in addition to the verbs of the language.
package enum ShellCommand: String, CaseIterable, Sendable {
  case open
  case use
  case stores
  case close
  case last
  case explain
  case advise
  case stack
  case findings
  case stats
  case reset
  case diff
  case saveScenario = "save scenario"
  case saveStore = "save store"
  case report
  case entities
  case show
  case schema = ".schema"
  case sqlite = ".sqlite"
  case sql
  case record
  case mode
  case output
  case pager
  case source
  case repetition = "repeat"
  case time
  case again = "!!"
  case help
  case quit

  /// Returns the command at the start of a line, and the number of words in its name.
  ///
  /// A command takes precedence over a verb with the same name: `reset` and `sql`. `save` without
  /// `scenario` or `store` is the verb, and so is `sql` before a quoted statement, which is an
  /// empty string in `words`.
  static func named(by words: [String]) -> (command: ShellCommand, length: Int)? {
    guard let first = words.first else { return nil }
    if words.count > 1, first == sql.rawValue, words[1].isEmpty { return nil }
    if words.count > 1, let command = ShellCommand(rawValue: "\(first) \(words[1])") {
      return (command, 2)
    }
    if let command = aliases[first] { return (command, 1) }
    if let command = ShellCommand(rawValue: first) { return (command, 1) }
    // `.help` and `.mode csv`, as in SQLite's shell.
    return first.hasPrefix(".")
      ? ShellCommand(rawValue: String(first.dropFirst())).map { ($0, 1) } : nil
  }

  /// Other names of commands: those of SQLite's and PostgreSQL's shells, and LLDB's `po`.
  static let aliases: [String: ShellCommand] = [
    "po": .show, "exit": .quit, ".exit": .quit, "\\q": .quit, "?": .help, "\\?": .help,
    "\\h": .help, ".tables": .entities, "\\d": .entities, "\\dt": .entities, ".read": .source,
    "\\i": .source,
  ]

  /// Returns a line with a space instead of the mark of a number that a command takes, as in
  /// `explain #2`, where `#` doesn't begin a comment.
  static func withoutMarks(_ line: String) -> String {
    let beginning = /\s*\.?(?:explain|advise|stack|(?:show|po)\s+\S+)\s+(#)[0-9]+(?:\s|$)/
    guard let mark = line.prefixMatch(of: beginning)?.1 else { return line }
    var line = line
    line.replaceSubrange(mark.startIndex..<mark.endIndex, with: " ")
    return line
  }

  /// Whether the command reads or writes files that a line names.
  var usesFiles: Bool {
    switch self {
    case .open, .saveScenario, .saveStore, .report, .output, .source: true
    default: false
    }
  }

  /// The names of all commands, for suggestions and completion.
  package static let words = allCases.map(\.rawValue)

  /// The syntax of the command.
  package var usage: String {
    switch self {
    case .open: "open STORE | SCENARIO [as NAME] [write | in-place]"
    case .use: "use NAME"
    case .close: "close [NAME]"
    case .explain: "explain [N]"
    case .advise: "advise [N]"
    case .stack: "stack [N]"
    case .diff: "diff [N M]"
    case .saveScenario: "save scenario FILE.yml"
    case .saveStore: "save store FILE"
    case .report: "report FILE.html | .json | .md | .txt | .xml | .trace.json | .jsonl | .otlp.json"
    case .entities: "entities [ENTITY]"
    case .show: "show [NAME [N] [limit N] [offset N] [columns KEY…] [raw]]"
    case .schema: ".schema [ENTITY | TABLE]"
    case .sqlite: ".sqlite QUERY"
    case .sql: "sql 0…4"
    case .record: "record [stacks | off]"
    case .mode: "mode [table | json | csv | line]"
    case .output: "output [FILE [force] | off]"
    case .pager: "pager [on | off]"
    case .source: "source FILE"
    case .repetition: "repeat N { LINE; LINE }"
    case .time: "time LINE"
    case .help: "help [COMMAND | VERB | FINDING]"
    case .stores, .last, .findings, .stats, .reset, .again, .quit: rawValue
    }
  }

  /// A short description of the command.
  package var summary: String {
    switch self {
    case .open: "open a store read-only, or generate a scenario's data in a scratch store"
    case .use: "make another open store the current one"
    case .stores: "list the open stores with their names"
    case .close: "close a store by name, or the current one"
    case .last: "list what the last step did: fetches, faults, and statements, with repeats counted"
    case .explain:
      "show the query plan of number N of `last`, or of the last statement, with an assessment"
    case .advise: "find indexes for this store's statements by testing them on a copy"
    case .stack: "show the call stack that caused number N of `last`, or those of the whole run"
    case .findings: "list what costs more than it should in this run, with fixes"
    case .stats: "show the counters of this run"
    case .reset: "start a new run, cold: new coordinator, empty row cache"
    case .diff: "compare the last two runs, or runs N and M"
    case .saveScenario: "write the runs as a scenario, with expectations as measured"
    case .saveStore: "copy the store in its current state to a new file"
    case .report: "write the runs as a report, in the format of the file's extension"
    case .entities: "list the entities and their saved rows, or the properties of one"
    case .show: "print the values of a result's objects or dictionaries, without firing faults"
    case .schema: "print the SQL of the file's tables and indexes"
    case .sqlite: "query SQLite directly, read-only; adds nothing to the run's costs"
    case .sql: "log SQL on standard error: 0 for nothing, 1 for statements, up to 4 for everything"
    case .record: "show or set what to record with each event"
    case .mode: "show or set how results with rows are printed"
    case .output: "append results to a file instead of printing them; `off` stops"
    case .pager: "show or set whether long results stop at the end of the screen"
    case .source: "run the lines of a file, up to the first that fails"
    case .repetition: "run lines N times, and add up the cost of each"
    case .time: "run a line, and print how long it took"
    case .again: "run the previous line again"
    case .help: "list all commands and verbs, or describe one of them or a finding"
    case .quit: "quit the shell, as Ctrl-D does"
    }
  }

  /// Additional sentences about the command; empty if the summary is sufficient.
  package var details: [String] {
    switch self {
    case .open:
      [
        "A store is opened read-only. With `write`, changes go to a copy, which is deleted when the shell",
        "quits; with `in-place`, to the store itself.",
      ]
    case .advise:
      [
        "`advise` uses the statements of all runs on the store; `advise N` only those of number N of",
        "`last`. It creates each index in a temporary copy, runs the statements again, and proposes",
        "indexes that save VM steps, with their costs. This adds nothing to the run's costs.",
      ]
    case .reset:
      [
        "A run is everything since the last `reset`. Runs are kept for `diff` and `save scenario`.",
        "Saved changes are undone, except in a store that was opened `in-place`.",
      ]
    case .saveScenario:
      [
        "Each run becomes a variant. Run the file with `cdprof run FILE.yml`; it passes as long as the",
        "counts are the same.",
      ]
    case .sql:
      [
        "Each level includes the lines of the levels below. Level 2 adds bound values and each fetch",
        "with its rows, 3 the objects of the rows, 4 the query plans.",
      ]
    case .output:
      [
        "The file must be new, or one that this shell wrote; with `force`, it can be any text file.",
        "The shell never writes to a database.",
      ]
    case .entities: ["Counting adds nothing to the run's costs."]
    case .show:
      [
        "`show moods` prints the first 20 objects, `show moods 3` all properties of the third, and `show`",
        "the names of results. `po` is the same command. A realized object's values include unsaved",
        "changes; a fault's are read without firing it, which adds nothing to the run's costs. `raw`",
        "prints the values as SQLite stores them.",
      ]
    case .record:
      ["With `stacks`, each event records its call stack, which increases times."]
    case .source:
      ["The file contains shell lines, including commands. Errors include the line number."]
    case .repetition:
      [
        "The lines can also follow on lines of their own, up to `}`. Each step's counts are totals; its",
        "time is the total and that of the fastest run.",
      ]
    case .sqlite:
      [
        "Runs one read-only statement. Tables and columns have their names in the file: ZMOOD, ZDATE."
      ]
    default: []
    }
  }
}

/// The arguments of a shell command.
struct ShellArguments {
  let words: [Word]

  /// - Throws: A problem at a punctuation mark, or at the first argument too many.
  init(_ tokens: [LineWords.Token], of command: ShellCommand) throws(LanguageProblem) {
    var words: [Word] = []
    for token in tokens {
      // `columns date, country` is a list, with or without commas.
      if command == .show, case .comma = token { continue }
      guard case .word(let word) = token, words.count < command.maximumArguments else {
        throw LanguageProblem(
          command.maximumArguments == 0
            ? "`\(command.rawValue)` takes no arguments"
            : "too many arguments for `\(command.rawValue)`",
          at: token.range, nextStep: "write `\(command.usage)`")
      }
      words.append(word)
    }
    self.words = words
  }

  /// Returns the integer in a word, which can have the prefix `#`.
  ///
  /// - Throws: A problem at the word if it isn't an integer or isn't in the range.
  static func number(
    _ word: Word, in range: ClosedRange<Int>, of what: String, nextStep: String
  ) throws(LanguageProblem) -> Int {
    let text = word.text.hasPrefix("#") ? String(word.text.dropFirst()) : word.text
    guard let number = Int(text), range.contains(number) else {
      let known =
        range.count == 1
        ? "there's only \(range.lowerBound)"
        : "they range from \(range.lowerBound) to \(range.upperBound)"
      throw LanguageProblem(
        "`\(word.text)` isn't one of the \(what): \(known)", at: word.range, nextStep: nextStep)
    }
    return number
  }

  /// Returns a word if it's one of the valid choices.
  ///
  /// - Throws: A problem at the word if it isn't.
  static func choice(
    _ word: Word, of known: [String], command: ShellCommand
  ) throws(LanguageProblem) -> String {
    guard known.contains(word.text) else {
      throw LanguageProblem(
        "`\(word.text)` isn't an argument of `\(command.rawValue)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: known), nextStep: "write `\(command.usage)`")
    }
    return word.text
  }

  /// Returns the file argument of a command.
  ///
  /// - Throws: A failure if the argument is missing.
  func file(for command: ShellCommand) throws(CommandFailure) -> Word {
    guard let word = words.first else {
      throw CommandFailure("expected a file", nextStep: "write `\(command.usage)`")
    }
    return word
  }
}

extension ShellCommand {
  /// The maximum number of arguments.
  fileprivate var maximumArguments: Int {
    switch self {
    case .show: .max
    case .open: 4
    case .diff, .output: 2
    case .schema, .use, .close, .explain, .advise, .stack, .saveScenario, .saveStore, .report,
      .entities,
      .sql, .record, .mode, .pager, .source, .help:
      1
    case .stores, .last, .findings, .stats, .reset, .sqlite, .repetition, .time, .again, .quit: 0
    }
  }
}
