import OpenCoreData
import ScenarioLanguage
import WorkbenchText

/// The arguments of a shell command.
struct ShellArguments {
  let words: [Word]

  /// - Throws: A problem at a punctuation mark, or at the first argument too many.
  init(_ tokens: [LineWords.Token], of command: ShellCommand) throws(LanguageProblem) {
    var words: [Word] = []
    for token in tokens {
      guard case .word(let word) = token, words.count < command.maximumArguments else {
        throw LanguageProblem(
          command.maximumArguments == 0
            ? "`\(command.rawValue)` takes no arguments"
            : "too many arguments for `\(command.rawValue)`",
          at: token.place, nextStep: "write `\(command.usage)`")
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
        "`\(word.text)` isn't one of the \(what): \(known)", at: word.place, nextStep: nextStep)
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
        "`\(word.text)` isn't an argument of `\(command.rawValue)`", at: word.place,
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
    case .open: 4
    case .diff, .output: 2
    case .use, .close, .explain, .advise, .stack, .saveScenario, .saveStore, .report, .entities,
      .sql,
      .record, .mode, .pager, .source, .help:
      1
    case .stores, .last, .findings, .stats, .reset, .sqlite, .quit: 0
    }
  }
}
