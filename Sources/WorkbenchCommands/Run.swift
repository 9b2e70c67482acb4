import ArgumentParser
import Foundation
import OpenCoreData
import Profiling
import RunReports
import RunResults
import ScenarioFiles
import ScenarioLanguage
import WorkbenchServer
import WorkbenchText

/// `cdprof run`: runs scenarios, evaluates their expectations, and writes reports.
struct Run: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Run scenarios and check the cost of each variant.",
    discussion: """
      With --watch, scenarios run again when a file that they use is saved, until you press \
      Ctrl-C; the exit status is that of the last run.

      Exit status: 0 if all expectations are met, 1 if a step fails, 2 if an expectation isn't \
      met or a count is above the baseline, 3 if a rule of --fail-on fires, 64 if no scenario or \
      variant matches --only or --variant, 65 if a scenario, the baseline, or the history is \
      invalid (nothing is run), 66 if a file is missing or a folder contains no scenario.
      """)

  @Argument(
    help: ArgumentHelp(
      "Scenario files, or folders that contain them; `-` for standard input.",
      valueName: "file | dir"),
    completion: .scenarios)
  var files: [String]

  @Option(
    help: ArgumentHelp(
      """
      Write reports in these formats, separated by commas: \(ReportFormat.words). With html and a \
      folder, an index page is written, too.
      """,
      valueName: "formats"),
    completion: .words(ReportFormat.allCases.map(\.rawValue)),
    transform: { try ReportFormats($0) })
  var report = ReportFormats([])

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"), completion: .directory)
  var out = "Reports"

  @ArgumentParser.Flag(help: "Replace files that cdprof didn't write.")
  var force = false

  @Option(
    help: ArgumentHelp(
      "The values of `scale` to run with, separated by commas: 1,10,100.",
      valueName: "n,…"))
  var scale = ScaleList(1)

  @Option(
    help: ArgumentHelp("The seed of the generated data; overrides the scenario's.", valueName: "n"))
  var seed: UInt64?

  @Option(
    name: .customLong("repeat"),
    help: ArgumentHelp(
      "Run each variant N times. Counts must not vary; the median time is reported.", valueName: "n"
    ))
  var repeats = 1

  @Option(
    help: ArgumentHelp(
      "Run only scenarios whose path or name contains this text, or that cover this behavior ID.",
      valueName: "text"))
  var only: String?

  @Option(
    help: ArgumentHelp("Run only the variant with this name. Repeatable.", valueName: "name"),
    completion: .variants)
  var variant: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      The number of scenarios to run concurrently; 1 for undisturbed times. By default, the number \
      of cores, or 1 with --repeat or --sql.
      """, valueName: "n"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      """
      Exit with status 3 if any of these rules fires, even if the scenario expects it; `any` \
      selects all rules.
      """,
      valueName: "rules"), completion: .words(FindingFailureCriteria.words),
    transform: { try FindingFailureCriteria($0) })
  var failOn: FindingFailureCriteria?

  @OptionGroup
  var records: RunRecords.Options

  @OptionGroup
  var labels: LabelOptions

  @Option(
    name: .customLong("sql"),
    help: ArgumentHelp(
      """
      Print the SQL log on standard error, as -com.apple.CoreData.SQLDebug 1 to 4 does, with a \
      section for each variant.
      """, valueName: "level"), completion: .list((0...4).map(String.init)))
  var sqlLevel = 0

  @ArgumentParser.Flag(help: "Print bound values in the SQL log, from level 2 on.")
  var showBinds = false

  @ArgumentParser.Flag(help: "Print only expectations that aren't met.")
  var quiet = false

  @ArgumentParser.Flag(help: "Print each statement's query plan, with SQLite's counters.")
  var plans = false

  @ArgumentParser.Flag(
    help: """
      Run again each time a scenario, its model, or its store is saved, until Ctrl-C. An open HTML \
      report reloads by itself.
      """)
  var watch = false

  /// A file with the text to run instead of that of the only scenario, for `serve`.
  ///
  /// The process then limits itself.
  @Option(help: ArgumentHelp(visibility: .hidden))
  var text: String?

  func validate() throws {
    guard scale.scales.count <= InputLimits.scales else {
      throw ValidationError("--scale takes at most \(InputLimits.scales) values.")
    }
    let problems =
      scale.scales.map { Messages.outOfRange("--scale", $0, upTo: InputLimits.scale) } + [
        Messages.outOfRange("--repeat", repeats, upTo: InputLimits.repeats),
        jobs.flatMap { Messages.outOfRange("--jobs", $0, upTo: InputLimits.jobs) },
      ]
    if let problem = problems.compactMap(\.self).first { throw ValidationError(problem) }
    try labels.check(writesLines: report.formats.contains(.jsonl))
    guard (0...4).contains(sqlLevel) else {
      throw ValidationError("--sql must be from 1 to 4, not \(sqlLevel).")
    }
    guard !showBinds || sqlLevel > 1 else {
      throw ValidationError("--show-binds requires --sql 2, 3, or 4.")
    }
    guard sqlLevel == 0 || (jobs ?? 1) == 1 else {
      throw ValidationError(
        "--sql can't be combined with --jobs because the logs would interleave.")
    }
    guard !watch || !files.contains(InputFile.standardInput) else {
      throw ValidationError("--watch can't be combined with standard input; name a file.")
    }
    guard !watch || !records.updateBaseline && records.history == nil else {
      throw ValidationError("--watch can't be combined with --update-baseline or --history.")
    }
    var paths: [String: String] = [:]
    if IndexOutput(self) != nil { paths[RunIndex.name] = Messages.indexPage }
    for file in files {
      // `execute(_:)` reports a missing file when it reads it.
      for found in (try? ScenarioFinder.files(at: file)) ?? [ScenarioFinder.named(file)] {
        if let other = paths.updateValue(found.path, forKey: found.name) {
          throw ValidationError(Messages.sameName(found.name, other, found.path))
        }
      }
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    if text != nil { ProcessLimits.apply(processorTime: InputLimits.browserRunTime) }
    return try execute(on: SQLiteEngine(), console)
  }

  /// Runs the command on an engine.
  func execute(on engine: any StoreEngine, _ console: Console) throws -> ExitStatus {
    if watch { return try RunWatcher(self, on: engine, console).watch() }
    // All files are read, and all outputs are checked, before anything runs, so that an error in
    // the last file is reported immediately.
    var status = ExitStatus.success
    var scenarios: [Scenario] = []
    var names: [String: String] = [:]
    for file in files {
      do {
        for found in try ScenarioFinder.files(at: file) {
          names[found.path] = found.name
          do {
            scenarios.append(
              try ScenarioReader.read(
                URL(fileURLWithPath: found.path), path: found.path, textFrom: text))
          } catch {
            status = status.worse(report(error, console))
          }
        }
      } catch {
        status = status.worse(report(error, console))
      }
    }
    guard status == .success else { return status }
    do {
      scenarios = try ScenarioChoice(only: only, variants: variant).scenarios(of: scenarios)
    } catch {
      console.writeError(error.description)
      return .usage
    }
    for scenario in scenarios {
      console.warn(of: scenario.model, path: scenario.modelURL?.relativePath ?? scenario.path)
    }
    let runs = scenarios.map {
      ScenarioRuns($0, named: names[$0.path] ?? $0.fileName, self, on: engine)
    }
    let index = IndexOutput(self)
    status = checkOutput(of: runs, index, console)
    guard status == .success else { return status }
    var records = try RunRecords(self)
    try records?.check(scenarios)
    var entries: [RunIndex.Entry] = []
    return try ScenarioRuns.run(
      of: runs, index: index, entries: &entries, records: &records, self, console)
  }

  /// Returns the number of scenarios to run concurrently.
  ///
  /// By default, scenarios run one after another if they affect each other, or if the user asks for
  /// what others would disturb: the times of repeated runs, or logs.
  ///
  /// - Parameters:
  ///   - scenarios: The number of scenarios.
  ///   - areIndependent: Whether none of them affects another one.
  ///   - cores: The number of cores.
  func concurrency(
    of scenarios: Int, areIndependent: Bool,
    cores: Int = ProcessInfo.processInfo.activeProcessorCount
  ) -> Int {
    let isSequential = repeats > 1 || sqlLevel > 0 || !areIndependent
    return max(1, min(jobs ?? (isSequential ? 1 : cores), scenarios, InputLimits.jobs))
  }

  /// Checks that all files can be written, prints errors, and returns their status.
  func checkOutput(
    of runs: [ScenarioRuns], _ index: IndexOutput?, _ console: Console
  ) -> ExitStatus {
    if let clash = ScenarioRuns.clash(of: runs) {
      console.writeError(clash)
      return .usage
    }
    // All files are in this folder, so a wrong one is reported once.
    do { try OutputFile.checkFolder(out) } catch { return report(error, console) }
    var status = ExitStatus.success
    for run in runs {
      do { try run.checkOutput() } catch { status = status.worse(report(error, console)) }
    }
    do { try index?.check() } catch { status = status.worse(report(error, console)) }
    return status
  }

  /// Prints an error and returns its exit status.
  func report(_ error: any Error, _ console: Console) -> ExitStatus {
    console.endProgress()
    let failure = Failure(error)
    console.writeError(Secrets.hidden(in: failure.text))
    GitHubActions.current?.annotate(error, console)
    return failure.status
  }
}

/// The value of `--scale`: one or more integers, separated by commas.
struct ScaleList: ExpressibleByArgument {
  let scales: [Int]

  /// Returns `nil` if the argument isn't a list of integers.
  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
      .map { Int($0.trimmingCharacters(in: .whitespaces)) }
    let numbers = parts.compactMap(\.self)
    guard numbers.count == parts.count, !numbers.isEmpty else { return nil }
    scales = numbers.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  init(_ scale: Int) {
    scales = [scale]
  }

  var defaultValueDescription: String { scales.map(String.init).joined(separator: ",") }
}

/// The value of `run --fail-on`: finding rules, separated by commas, or `any`.
struct FindingFailureCriteria {
  static let any = "any"
  /// The valid values: the name of every rule, and `any`.
  static let words = RuleName.allCases.map(\.rawValue) + [any]
  private let rules: Set<String>

  /// - Throws: A `ValidationError` for an unknown rule.
  init(_ text: String) throws {
    let known = FindingFailureCriteria.words
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    for word in words where !known.contains(word) {
      throw ValidationError(Messages.unknownRule(word, known: known))
    }
    rules = Set(words)
  }

  /// Returns the names of a run's findings that fail it, without duplicates.
  func failures(of result: RunResult) -> [String] {
    result.variants.flatMap(\.findings).filter(isFailure).map(\.name)
      .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Returns whether a finding fails the run.
  func isFailure(_ finding: Finding) -> Bool {
    rules.contains(FindingFailureCriteria.any) || rules.contains(finding.rule.rawValue)
  }
}
