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
  case sqlite = ".sqlite"
  case sql
  case record
  case mode
  case output
  case pager
  case source
  case help
  case quit

  /// The command a line's words begin with, and how many of the words name it.
  ///
  /// A command goes before a verb of the same name: `reset` and `sql`. `save` alone is the verb, and
  /// so is `sql` before a statement in quotes, which is an empty word here.
  static func named(by words: [String]) -> (command: ShellCommand, length: Int)? {
    guard let first = words.first else { return nil }
    if words.count > 1, first == sql.rawValue, words[1].isEmpty { return nil }
    if words.count > 1, let command = ShellCommand(rawValue: "\(first) \(words[1])") {
      return (command, 2)
    }
    if first == "exit" { return (.quit, 1) }
    return ShellCommand(rawValue: first).map { ($0, 1) }
  }

  /// The words that a line may begin with, for "did you mean" and completion.
  package static let words = allCases.map(\.rawValue)

  /// How it is written.
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
    case .report: "report FILE.html | .json | .md | .txt | .xml | .trace.json | .jsonl"
    case .entities: "entities [ENTITY]"
    case .sqlite: ".sqlite QUERY"
    case .sql: "sql 0…4"
    case .record: "record [stacks | off]"
    case .mode: "mode [table | json | csv | line]"
    case .output: "output [FILE [force] | off]"
    case .pager: "pager [on | off]"
    case .source: "source FILE"
    case .help: "help [COMMAND | VERB | FINDING]"
    case .stores, .last, .findings, .stats, .reset, .quit: rawValue
    }
  }

  /// What it does, in a few words.
  package var summary: String {
    switch self {
    case .open: "open a store read-only, or create a scenario's data in a scratch store"
    case .use: "work on what is open under that name"
    case .stores: "what is open, with names"
    case .close: "close what is open under a name, or what is worked on"
    case .last: "what the last step did: fetches, faults and statements, repeats counted"
    case .explain:
      "the query plan of number N of `last`, or of the last statement, with an assessment"
    case .advise: "indexes that help what was done here, tried on a copy of the store"
    case .stack: "the recorded call stacks of number N of `last`, or of the whole run"
    case .findings: "what costs more than it should in this run, with its fix"
    case .stats: "the counters of this run"
    case .reset: "start a new run, cold: new coordinator, empty row cache"
    case .diff: "the last two runs side by side, or runs N and M"
    case .saveScenario: "write the runs as a scenario, with expectations as measured"
    case .saveStore: "copy the store as it is in this run to a new file"
    case .report: "write the runs as a report, in the format of the file's extension"
    case .entities: "entities and their saved rows, or the properties of one"
    case .sqlite: "query SQLite directly, read-only; adds nothing to the run's costs"
    case .sql: "log SQL on standard error: 0 nothing, 1 statements, up to 4 everything"
    case .record: "show what events record in addition to counts, or change it"
    case .mode: "how answers with rows are printed"
    case .output: "append results to a file instead of printing them; `off` stops"
    case .pager: "stop long answers at the end of the screen"
    case .source: "read lines from a file, to the first that fails"
    case .help: "all commands and verbs, or one of them, or a finding"
    case .quit: "leave the shell; Ctrl-D does the same"
    }
  }

  /// More about it, in sentences; empty where the summary says all.
  package var details: [String] {
    switch self {
    case .open:
      [
        "A store is opened read-only. With `write`, changes go to a copy, which is deleted when the shell",
        "ends; with `in-place`, the store itself is changed.",
      ]
    case .advise:
      [
        "All runs on the store count; `advise N` is only about number N of `last`. Each index is created",
        "on a scratch copy, the statements run there again, and what saves VM steps is proposed with",
        "what it costs. This adds nothing to the run's costs.",
      ]
    case .reset:
      [
        "A run is everything since the last `reset`. Runs are kept for `diff` and `save scenario`.",
        "Saved changes are undone, except in a store that was opened `in-place`.",
      ]
    case .saveScenario:
      [
        "Runs become variants. Run the file with `cdprof run FILE.yml`; it passes until the work",
        "costs something else.",
      ]
    case .sql:
      [
        "Each level has the lines of those below it. Level 2 adds bound values and each fetch with its",
        "rows, 3 the objects of the rows, 4 the query plans.",
      ]
    case .output:
      [
        "The file must be new, or one that this shell wrote; with `force` it may be any text file.",
        "A database is never written to.",
      ]
    case .entities: ["Counting adds nothing to the run's costs."]
    case .record:
      ["With `stacks` each event keeps the functions it was called from, which costs time."]
    case .source: ["The file has the shell's lines, commands too. Errors name the file's line."]
    case .sqlite:
      ["Takes one statement that reads. Tables and columns are those of the file: ZMOOD, ZDATE."]
    default: []
    }
  }
}
