import ArgumentParser
import Foundation
import LogAnalysis
import ScenarioLanguage
import StatementAnalysis
import StoreTools
import WorkbenchText

/// `cdprof log`: reads what `-com.apple.CoreData.SQLDebug` printed.
struct Log: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Analyze a Core Data SQL log: statements, their times, and fault storms.",
    discussion: """
      Takes the output of -com.apple.CoreData.SQLDebug 1 to 4 from Xcode, Console, `log show` or a \
      device, with other lines in between. With a store, which is not changed, each statement is \
      explained, and indexes are tried on a copy.
      """)

  @Argument(
    help: ArgumentHelp("The log, or `-` for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  @Option(
    help: ArgumentHelp("The app's store: plans, and indexes that would help.", valueName: "store"),
    completion: .file())
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The app's model, in any form, or a store that has it: which table is which entity.",
      valueName: "model"), completion: .file())
  var model: String?

  @Option(
    help: ArgumentHelp(
      "What the sections of the log may cost: a file with `sections`, or a scenario.",
      valueName: "file"), completion: .file())
  var expect: String?

  @Option(
    help: ArgumentHelp(
      "The number that `scale` stood for when the log's program was exported.",
      valueName: "n"))
  var scale: Int?

  @ArgumentParser.Flag(help: "Print the bound values that the log contains.")
  var showBinds = false

  @ArgumentParser.Flag(help: "Print JSON, for other programs.")
  var json = false

  func validate() throws {
    guard let scale else { return }
    if let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    guard expect != nil else { throw ValidationError("--scale requires --expect.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    // A wrong path or budget costs nothing before a long log is read.
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
    let judged = try budget.map { try LogBudgetEvaluator(budget: $0).judgment(of: report) }
    let advice = try storeURL.map { try report.advice(on: $0) }
    if json {
      console.say(
        try LogJSON.data(report, judged: judged, advice: advice, showsBinds: showBinds))
    } else {
      console.say(judged.map { LogJudgementText.lines($0, of: report) + [""] } ?? [])
      console.say(LogText.lines(report, showsBinds: showBinds))
      console.say(advice.map { [""] + AdviceText.lines($0) } ?? [])
    }
    return judged?.holds == false ? .expectationMissed : .success
  }
}
