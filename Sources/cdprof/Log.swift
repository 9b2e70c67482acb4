import ArgumentParser
import Foundation
import LogAnalysis
import ScenarioLanguage
import StatementAnalysis
import StoreTools
import WorkbenchText

/// `cdprof log`: analyzes the output of `-com.apple.CoreData.SQLDebug`.
struct Log: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Analyze a Core Data SQL log: statements, times, and fault storms.",
    discussion: """
      Reads the output of -com.apple.CoreData.SQLDebug 1 to 4 from Xcode, Console, `log show`, or \
      a device, and ignores other lines. With --store, shows each statement's query plan and tests \
      indexes in a copy of the store, which isn't modified.
      """)

  @Argument(
    help: ArgumentHelp("The log, or `-` for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  @Option(
    help: ArgumentHelp(
      "The app's store, for query plans and index suggestions.", valueName: "store"),
    completion: .file())
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The app's model in any format, or a store that contains it; maps tables to entities.",
      valueName: "model"), completion: .file())
  var model: String?

  @Option(
    help: ArgumentHelp(
      "The expected counts for the log's sections: a file with `sections`, or a scenario.",
      valueName: "file"), completion: .file())
  var expect: String?

  @Option(
    help: ArgumentHelp(
      "The value of `scale` with which the log's program was exported.",
      valueName: "n"))
  var scale: Int?

  @ArgumentParser.Flag(help: "Print the bound values that the log contains.")
  var showBinds = false

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard let scale else { return }
    if let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    guard expect != nil else { throw ValidationError("--scale requires --expect.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    // Check paths and the budget first: reading the log can take long.
    let storeURL = store.map { URL(fileURLWithPath: $0) }
    if let storeURL { try InvalidInputError.check(storeURL) }
    let found = try (model ?? store).map { path in
      let found = try FoundModel(path: path).model
      console.warn(of: found, path: path)
      return found
    }
    if let expect { try InputFile.check(expect) }
    let budget = try expect.map {
      try LogBudget.read(path: $0, model: found, scale: scale ?? 1)
    }
    var report = try LogReader.read(file)
    if let model = found ?? budget?.model { report.name(by: LogTables(model)) }
    if let storeURL { try report.explain(on: storeURL) }
    let evaluation = try budget.map { try LogBudgetEvaluator(budget: $0).evaluation(of: report) }
    let advice = try storeURL.map { try report.advice(on: $0) }
    if json {
      console.say(
        try LogJSON.data(report, evaluation: evaluation, advice: advice, showsBinds: showBinds))
    } else {
      console.say(evaluation.map { LogEvaluationText.lines($0, of: report) + [""] } ?? [])
      console.say(LogText.lines(report, showsBinds: showBinds))
      console.say(advice.map { [""] + AdviceText.lines($0) } ?? [])
    }
    return evaluation?.passes == false ? .expectationMissed : .success
  }
}
