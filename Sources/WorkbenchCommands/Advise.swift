import ArgumentParser
import Foundation
import OpenCoreData
import Profiling
import ScenarioFiles
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// `cdprof advise`: finds indexes for the statements of a workload.
struct Advise: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Find indexes for the statements of a scenario, or of steps on a store.",
    discussion: """
      Each index is created in a temporary copy of the store. An index that SQLite uses and that \
      saves VM steps is proposed with its cost, for the model and as SQL. The store isn't \
      modified: steps that change data run on another copy.
      """)

  @Argument(
    help: ArgumentHelp("A scenario (.yml, .yaml) or a store.", valueName: "file"),
    completion: .scenariosAndStores)
  var file: String

  @Argument(
    help: ArgumentHelp(
      "Steps to run on the store, each written as a line of the shell.", valueName: "step"))
  var steps: [String] = []

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp("A captured SELECT statement. Repeatable.", valueName: "select"))
  var sql: [String] = []

  @Option(help: ArgumentHelp("The value of `scale` in a scenario; 1 by default.", valueName: "n"))
  var scale: Int?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  var isScenario: Bool {
    file == InputFile.standardInput
      || ["yml", "yaml"].contains(URL(fileURLWithPath: file).pathExtension.lowercased())
  }

  func validate() throws {
    if let scale, let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    if isScenario, !steps.isEmpty || !sql.isEmpty {
      throw ValidationError(
        "A scenario contains its steps; use step arguments and --sql only with a store.")
    }
    if !isScenario, scale != nil { throw ValidationError("--scale requires a scenario.") }
    if !isScenario, steps.isEmpty, sql.isEmpty {
      throw ValidationError(
        "expected a step to find indexes for\n"
          + "add one or more after the store: cdprof advise \(CommandWord.quoted(file)) "
          + "\"fetch ENTITY sort KEY\"")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let url = URL(fileURLWithPath: file)
    let advice: IndexAdvice
    if isScenario {
      try InputFile.check(file)
      advice = try IndexAdviceSource.advice(
        for: ScenarioReader.read(url, path: file), scale: scale ?? 1)
    } else {
      try InvalidInputError.checkRegularFile(file)
      try InvalidInputError.check(url)
      let model = try StoreModel.ofStore(at: url)
      if model.isInferred { console.writeError(Messages.inferredNames) }
      advice = try IndexAdviceSource.advice(
        forStore: url, lines: steps, sql: sql, model: model)
    }
    try Advise.write(advice, asJSON: json, console)
    return .success
  }

  /// Writes index advice.
  static func write(_ advice: IndexAdvice, asJSON: Bool, _ console: Console) throws {
    if asJSON {
      console.write(try AdviceJSON.data(advice))
    } else {
      console.write(AdviceText.lines(advice))
    }
  }
}
