import ArgumentParser
import Foundation
import LogAnalysis
import Profiling
import RunReports
import ScenarioFiles
import ScenarioLanguage
import StatementAnalysis
import StoreTools
import WorkbenchText

/// `cdprof log`: analyzes the output of `-com.apple.CoreData.SQLDebug`.
struct Log: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Analyze a Core Data SQL log: statements, times, and fault storms.",
    discussion: """
      Reads the output of -com.apple.CoreData.SQLDebug 1 to 4 from Xcode, Console, `log show`, \
      or a device, and ignores other lines. With --store, shows each statement's query plan and \
      tests indexes in a copy of the store, which isn't modified. With --follow, a log that's \
      being written is read until Ctrl-C, even if it's rotated or truncated.

      Exit status: 2 if an expectation isn't met; 65 for an empty file, binary data, text \
      without a line from Core Data, a compressed file that can't be read, or a .logarchive, with \
      the command that converts it.
      """)

  @Argument(
    help: ArgumentHelp("The log, or `-` for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  @Option(
    help: ArgumentHelp(
      "The app's store, for query plans and index suggestions.", valueName: "store"),
    completion: .stores)
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The app's model in any format, or a store that contains it; maps tables to entities.",
      valueName: "model"), completion: .models)
  var model: String?

  @Option(
    help: ArgumentHelp(
      "The expected counts for the log's sections: a file with `sections`, or a scenario.",
      valueName: "file"), completion: .scenarios)
  var expect: String?

  @Option(
    help: ArgumentHelp(
      "The --scale that the program was exported with.",
      valueName: "n"))
  var scale: Int?

  @ArgumentParser.Flag(
    help: "Follow a growing log until Ctrl-C, then print the summary.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "Follow the log, and show its totals every N seconds; 1 by default.", valueName: "n"))
  var every: Int?

  @ArgumentParser.Flag(help: "Print the bound values that the log contains.")
  var showBinds = false

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  @Option(
    help: ArgumentHelp(
      """
      Print a report instead: html, md for a comment on a pull request, trace for Perfetto, jsonl \
      for a database, or, with --expect, junit.
      """,
      valueName: "format"))
  var report: LogReportFormat?

  @Option(
    help: ArgumentHelp(
      "An earlier log to compare this one with in the report.", valueName: "log"),
    completion: .file())
  var before: String?

  @OptionGroup
  var labels: LabelOptions

  @Option(
    help: ArgumentHelp("The file to write the report to.", valueName: "file"), completion: .file())
  var out: String?

  @ArgumentParser.Flag(help: "Replace a file that cdprof didn't write.")
  var force = false

  func validate() throws {
    try labels.check(writesLines: report == .jsonl)
    if let problem = Messages.sharedInput([file, expect, before]) {
      throw ValidationError(problem)
    }
    if report == nil {
      if before != nil { throw ValidationError("--before requires --report.") }
      if out != nil { throw ValidationError("--out requires --report.") }
    } else if json {
      throw ValidationError("--json can't be combined with --report.")
    } else if report == .junit, expect == nil {
      throw ValidationError("--report junit requires --expect.")
    } else if report == .trace, follow || every != nil {
      throw ValidationError("A log that's followed can't be written as a trace.")
    }
    if let every,
      let problem = Messages.outOfRange("--every", every, upTo: InputLimits.followInterval)
    {
      throw ValidationError(problem)
    }
    guard let scale else { return }
    if let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    guard expect != nil else { throw ValidationError("--scale requires --expect.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    // Check paths and the budget first: reading the log can take a long time.
    let storeURL = store.map { URL(fileURLWithPath: $0) }
    if let storeURL { try InvalidInputError.check(storeURL) }
    let found = try (model ?? store).map { path in
      let found = try FoundModel(path: path)
      console.warn(of: found.model, path: path)
      console.warnOfGuesses(in: found)
      return found.model
    }
    if let expect { try InputFile.check(expect) }
    if let before { try InputFile.check(before) }
    let page = out.map { URL(fileURLWithPath: $0) }
    if let page { try OutputFile.check(page, force: force) }
    let budget = try expect.map {
      try LogBudgetReader.read(path: $0, model: found, scale: scale ?? 1) { budget in
        LogBudgetEvaluator(budget: budget).problems
      }
    }
    var log = try read(console)
    var earlier = try before.map { try LogReader.read($0) }
    if let model = found ?? budget?.model {
      let tables = LogTables(model)
      log.resolveEntities(with: tables)
      earlier?.resolveEntities(with: tables)
    }
    if let storeURL { log.explain(with: try PlanReader(storeURL: storeURL)) }
    let evaluation = try budget.map { try LogBudgetEvaluator(budget: $0).evaluation(of: log) }
    let advice = try storeURL.map { url in
      try IndexAdvisor(storeURL: url).advice(on: log.advisedStatements)
    }
    if let report {
      let data = try report.data(
        LogReportInput(
          report: log, before: earlier, evaluation: evaluation, advice: advice,
          showsBinds: showBinds, labels: labels.all))
      if let page {
        try OutputFile.makeFolder(page.deletingLastPathComponent())
        try OutputFile.write(data, to: page, force: force)
        console.write([Messages.written([page.relativePath])])
      } else {
        console.write(data)
      }
      if report == .trace, let rest = log.untraced { console.writeMessage(rest) }
    } else if json {
      console.write(
        try LogJSON.data(log, evaluation: evaluation, advice: advice, showsBinds: showBinds))
    } else {
      console.write(evaluation.map { LogEvaluationText.lines($0, of: log) + [""] } ?? [])
      console.write(LogText.lines(log, showsBinds: showBinds))
      console.write(advice.map { [""] + AdviceText.lines($0) } ?? [])
    }
    return evaluation?.passes == false ? .expectationNotMet : .success
  }

  /// Reads the log, or follows it while it's being written.
  ///
  /// A pipe is also followed if the result is printed on a terminal.
  private func read(_ console: Console) throws -> LogReport {
    var input = stat()
    let isPipe =
      file == InputFile.standardInput && fstat(STDIN_FILENO, &input) == 0
      && input.st_mode & S_IFMT == S_IFIFO
    let isPrinted = report == nil && !json
    guard follow || every != nil || isPipe && isPrinted && Pager.screen != nil else {
      return try LogReader.read(file, tracing: report == .trace)
    }
    return try LiveLogView(console).follow(file, every: Double(every ?? 1), isShown: isPrinted)
  }
}

extension LogReportFormat: ExpressibleByArgument {}
