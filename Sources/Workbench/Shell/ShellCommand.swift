/// What the shell understands beside the verbs of the language.
package enum ShellCommand: String, CaseIterable, Sendable {
  case open
  case last
  case explain
  case findings
  case stats
  case reset
  case diff
  case saveScenario = "save scenario"
  case entities
  case sql
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
    case .open: "open STORE | SCENARIO"
    case .explain: "explain [N]"
    case .diff: "diff [N M]"
    case .saveScenario: "save scenario FILE.yml"
    case .entities: "entities [ENTITY]"
    case .sql: "sql 0…4"
    case .help: "help [COMMAND | VERB]"
    case .last, .findings, .stats, .reset, .quit: rawValue
    }
  }

  /// What it does, in a few words.
  package var summary: String {
    switch self {
    case .open: "look at a store, or make a scenario's data in a scratch store"
    case .last: "what the last step did: fetches, faults and statements, repeats counted"
    case .explain: "the plan of number N of `last`, or of the last statement, with a verdict"
    case .findings: "what costs more than it should in this try, with its cure"
    case .stats: "the counters of this try"
    case .reset: "begin a new try, cold: new coordinator, empty row cache"
    case .diff: "the last two tries side by side, or tries N and M"
    case .saveScenario: "write the tries as a scenario, expectations as measured"
    case .entities: "entities and their saved rows, or the properties of one"
    case .sql: "log SQL on standard error: 0 nothing, 1 statements, 2 bound values as well"
    case .help: "all commands and verbs, or one of them"
    case .quit: "leave the shell; Ctrl-D does the same"
    }
  }

  /// More about it, in sentences; empty where the summary says all.
  package var details: [String] {
    switch self {
    case .reset:
      [
        "A try is everything since the last `reset`. It is kept for `diff` and `save scenario`.",
        "What it saved is undone: every try begins with the same data.",
      ]
    case .saveScenario:
      [
        "Tries become variants. Run the file with `cdprof run FILE.yml`; it holds until the work",
        "costs something else.",
      ]
    case .sql: ["Levels 3 and 4 print what level 2 prints."]
    case .entities: ["Counting costs the try nothing: it is done beside it."]
    default: []
    }
  }
}
