import OpenCoreData
import RunResults
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// Lists all commands and verbs, or describes a command, verb, option, or finding.
  func help(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else { return ShellAnswer(overview) }
    // In the shell, `reset` and `sql` are commands; `sql` is a step, too.
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
      "there's no command, verb, or finding `\(word.text)`", at: word.range,
      didYouMean: NearestName.of(word.text, among: known), nextStep: "`help` lists them all")
  }

  /// The verbs that aren't the name of a command.
  static let verbs = Verb.allCases.filter { verb in
    ShellCommand(rawValue: verb.rawValue) == nil
  }

  private var overview: [String] {
    let groups = Verb.helpGroups + ShellCommand.helpGroups
    let column = groups.flatMap(\.rows).map(\.name.count).max() ?? 0
    let lines = groups.flatMap { group in
      ["", "  \(group.title)"]
        + group.rows.map { "    \(NumberText.left($0.name, column))   \($0.summary)" }
    }
    return lines.dropFirst() + [
      "", "  `help fetch` describes a verb and its options, `help show` a command, and",
      "  `help fault-storm` a finding. A run is everything since the last `reset`.",
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
      "    fix: \(rule.remedy)", "    in the book (Core Data, objc.io): chapter \(rule.chapter)",
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
  /// Whether the verb's options are properties of an `NSFetchRequest`.
  fileprivate var makesRequest: Bool {
    [.fetch, .results, .count, .batchDelete].contains(self)
  }
}

extension ShellCommand {
  /// The argument of `help` for the command.
  fileprivate var firstWord: String {
    rawValue.split(separator: " ").first.map(String.init) ?? rawValue
  }
}

/// A group of verbs or commands in the shell's help.
private struct HelpGroup {
  let title: String
  let rows: [(name: String, summary: String)]

  init(_ title: String, _ verbs: [Verb]) {
    self.title = title
    rows = verbs.map { ($0.rawValue, $0.summary) }
  }

  init(_ title: String, _ commands: [ShellCommand]) {
    self.title = title
    rows = commands.map { ($0.rawValue, $0.summary) }
  }
}

extension Verb {
  /// The verbs of the shell in groups.
  fileprivate static var helpGroups: [HelpGroup] {
    let verbs = ShellEngine.verbs
    return [
      HelpGroup(
        "Steps that read, each followed by its cost", verbs.filter { $0.helpPart == .reading }),
      HelpGroup("Steps that change objects or rows", verbs.filter { $0.helpPart == .changing }),
      HelpGroup("Steps for contexts and objects", verbs.filter { $0.helpPart == .contexts }),
      HelpGroup("Steps for the store file", verbs.filter { $0.helpPart == .file }),
    ]
  }

  private enum HelpPart {
    case reading
    case changing
    case contexts
    case file
  }

  private var helpPart: HelpPart {
    switch self {
    case .fetch, .results, .count, .touch, .walk: .reading
    case .insert, .set, .relate, .delete, .save, .rollback, .undo, .batchInsert, .batchUpdate,
      .batchDelete:
      .changing
    case .refresh, .drop, .reset, .context, .merge, .pin: .contexts
    case .index, .sql, .pragma, .analyze, .history, .migrate, .finishMigration: .file
    }
  }
}

extension ShellCommand {
  /// The commands in groups.
  fileprivate static var helpGroups: [HelpGroup] {
    [
      HelpGroup("Costs", [.last, .explain, .advise, .stack, .findings, .stats]),
      HelpGroup("Values", [.show, .entities, .schema, .sqlite]),
      HelpGroup("Runs", [.reset, .diff, .saveScenario, .saveStore, .report]),
      HelpGroup("Stores", [.open, .use, .stores, .close]),
      HelpGroup("Settings", [.mode, .output, .pager, .sql, .record]),
      HelpGroup("Lines", [.source, .repetition, .time, .again, .help, .quit]),
    ]
  }
}
