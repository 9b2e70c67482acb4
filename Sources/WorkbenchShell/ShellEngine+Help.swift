import OpenCoreData
import ScenarioLanguage
import WorkbenchText

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
    let known = ShellEngine.verbs.map(\.rawValue) + ShellCommand.allCases.map(\.firstWord)
    throw LanguageProblem(
      "there is no command or verb `\(word.text)`", at: word.place,
      didYouMean: NearestName.of(word.text, among: known), nextStep: "`help` lists them all")
  }

  /// The verbs that can be typed: those that run and are no command of the same name.
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
    return ["  Steps, each answered with its cost:"] + table(verbs)
      + ["", "  Commands, which cost nothing:"] + table(commands)
      + ["", "  `help fetch` says more about one. A try is everything since the last `reset`."]
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
