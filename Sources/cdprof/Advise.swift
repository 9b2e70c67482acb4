import ArgumentParser
import Foundation
import Profiling
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// `cdprof advise`: tries indexes for the statements of a piece of work.
struct Advise: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Try indexes for the statements of a scenario, or of steps on a store.",
    discussion: """
      Each index is made on a scratch copy; what SQLite uses there and what saves VM steps is \
      proposed, with its cost, for the model and as SQL. The store is not changed.
      """)

  @Argument(
    help: ArgumentHelp("A scenario (.yml, .yaml) or a store.", valueName: "file"),
    completion: .file())
  var file: String

  @Argument(
    help: ArgumentHelp(
      "Steps to run on the store, each as one line of the shell.", valueName: "step"))
  var steps: [String] = []

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp("A captured SELECT statement. Repeatable.", valueName: "select"))
  var sql: [String] = []

  @Option(help: ArgumentHelp("The value of `scale` in a scenario.", valueName: "n"))
  var scale = 1

  @ArgumentParser.Flag(help: "Print JSON, for other programs.")
  var json = false

  private var isScenario: Bool {
    file == InputFile.standardInput
      || ["yml", "yaml"].contains(URL(fileURLWithPath: file).pathExtension.lowercased())
  }

  func validate() throws {
    if let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    if isScenario, !steps.isEmpty || !sql.isEmpty {
      throw ValidationError("a scenario has its own steps; give steps and --sql with a store")
    }
    if !isScenario, steps.isEmpty, sql.isEmpty {
      throw ValidationError(
        "expected a step to try indexes for\n"
          + "write one or more after the store: cdprof advise \(LineWords.plain(file)) "
          + "\"fetch ENTITY sort KEY\"")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let url = URL(fileURLWithPath: file)
    if isScenario {
      try InputFile.check(file)
    } else {
      try InvalidInputError.checkRegularFile(file)
    }
    let advice =
      isScenario
      ? try WorkToAdvise.advice(for: ScenarioReader.read(url, path: file), scale: scale)
      : try WorkToAdvise.advice(forStore: url, lines: steps, sql: sql)
    if json {
      console.say(try AdviceJSON.data(advice))
    } else {
      console.say(AdviceText.lines(advice))
    }
    return .success
  }
}
