import Foundation
import OpenCoreData
import Profiling
import RunReports
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The runs of one scenario, one for each scale, with the options of `cdprof run`.
struct ScenarioRuns: Sendable {
  private let scenario: Scenario
  private let folder: URL
  private let name: String
  /// The path of the reports in the folder of all reports, without an extension.
  private let path: String
  private let scales: [Int]
  private let seed: UInt64?
  private let repeats: Int
  private let formats: [ReportFormat]
  private let sqlLevel: Int
  private let showsBinds: Bool
  private let force: Bool
  private let labels: [ReportLabel]
  private let reloads: Bool
  private let engine: any StoreEngine

  /// The result of the runs, the files they wrote, and the error that ended them.
  private struct Outcome: Sendable {
    let scenario: Scenario
    var result: RunResult?
    /// The scenario on the index page.
    var entry: RunIndex.Entry?
    var written: [String] = []
    var error: (any Error)?
  }

  /// - Parameters:
  ///   - scenario: The scenario to run.
  ///   - name: The path of the reports in the output folder, without an extension.
  ///   - command: The command, whose options apply.
  ///   - engine: The engine of the stores.
  init(
    _ scenario: Scenario, named name: String, _ command: Run, on engine: any StoreEngine
  ) {
    self.scenario = scenario
    path = name
    let url = URL(fileURLWithPath: command.out, isDirectory: true)
    folder = url.appendingPathComponent(name).deletingLastPathComponent()
    self.name = (name as NSString).lastPathComponent
    scales = command.scale.scales
    seed = command.seed
    repeats = command.repeats
    formats = command.report.formats
    sqlLevel = command.sqlLevel
    showsBinds = command.showBinds
    force = command.force
    labels = command.labels.all
    reloads = command.watch
    self.engine = engine
  }

  /// Checks that every output file can be written, and that the engine can run each step.
  ///
  /// - Throws: An `InvalidInputError` if a file exists that `cdprof` didn't write, unless --force
  ///   is given; `ScenarioDiagnostics` with the steps that the engine can't run.
  func checkOutput() throws {
    try EngineCheck(scenario, on: engine).check()
    for scale in scales { try runner(at: scale).checkOutput() }
    for format in formats {
      try OutputFile.check(format.url(named: name, in: folder), force: force)
    }
    if let script { try OutputFile.check(script, force: force) }
  }

  /// Returns a message that names two scenarios that would write the same store, such as `a.yml` at
  /// a second scale of 10 and `a-scale10.yml`; `nil` if there are none.
  static func clash(of runs: [ScenarioRuns]) -> String? {
    var paths: [String: String] = [:]
    for run in runs {
      for scale in run.scales {
        let runner = run.runner(at: scale)
        guard runner.keepsData else { continue }
        let store = runner.storeURL
        if let other = paths.updateValue(run.scenario.path, forKey: resolvedPath(of: store)) {
          return Messages.sameStore(store.lastPathComponent, other, run.scenario.path)
        }
      }
    }
    return nil
  }

  /// The script that reloads the page of the scenario; `nil` if nothing does.
  var script: URL? {
    reloads && formats.contains(.html) ? PageReload.url(of: name, in: folder) : nil
  }

  private func runner(at scale: Int, log: RunLog? = nil) -> ScenarioRunner {
    ScenarioRunner(
      scenario: scenario, scale: scale, of: scales, seed: seed, repeats: repeats,
      outputDirectory: folder, name: scale == scales[0] ? name : "\(name)-scale\(scale)",
      force: force, log: log, engine: engine)
  }

  /// Runs scenarios, prints the results in order, and returns the most severe status.
  ///
  /// - Parameters:
  ///   - runs: The scenarios.
  ///   - index: The index page to write at the end; `nil` for none.
  ///   - entries: The entries of the index page, of which those of the scenarios are replaced.
  ///   - records: The baseline and the history, which get the results; `nil` without them.
  ///   - command: The command, whose options apply.
  ///   - console: The console.
  /// - Throws: The error of writing the index page, the baseline, or the history.
  static func run(
    of runs: [ScenarioRuns], index: IndexOutput?, entries: inout [RunIndex.Entry],
    records: inout RunRecords?, _ command: Run, _ console: Console
  ) throws -> ExitStatus {
    let jobs = command.concurrency(of: runs.count, areIndependent: areIndependent(runs))
    let isSequential = jobs == 1
    // Progress of a single job is shown unless the SQL log goes to standard error, too.
    let showsProgress = isSequential && command.sqlLevel == 0
    var status = ExitStatus.success
    var reported = 0
    var passed = 0
    var current: [RunIndex.Entry] = []
    var summaries: [GitHubActions.Report] = []
    OrderedRuns.run(runs, jobs: jobs) { run in
      run.outcome(jobs: jobs) { progress in
        if showsProgress, !command.quiet {
          console.progress(Messages.progress(progress, of: run.scenario.name))
        }
      }
    } done: { outcome in
      console.endProgress()
      if reported > 0, !command.quiet { console.write("") }
      reported += 1
      if !isSequential, !command.quiet {
        console.progress(NumberText.counted(reported, of: runs.count, "scenario"))
      }
      if let entry = outcome.entry { current.append(entry) }
      let one = report(outcome, &records, &summaries, command, console)
      if one == .success { passed += 1 }
      status = status.worse(one)
    }
    console.endProgress()
    if runs.count > 1, !command.quiet {
      console.write("")
      console.write([Messages.passed(passed, of: runs.count)])
    }
    let names = Set(current.map(\.name))
    // The order of the pages is that of the paths, as `ScenarioFinder` returns them.
    entries =
      entries.isEmpty
      ? current
      : (entries.filter { !names.contains($0.name) } + current).sorted { $0.name < $1.name }
    let missing = command.quiet ? [] : records?.missingLines ?? []
    if !missing.isEmpty { console.write([""] + missing) }
    var written = try index.map { [try $0.write(entries)] } ?? []
    written += try records?.write() ?? []
    try GitHubActions.current?.summarize(summaries)
    if !command.quiet, !written.isEmpty { console.write([Messages.written(written)]) }
    return status
  }

  /// Returns whether scenarios don't affect each other: none copies a store that a run writes, or
  /// runs on a database server, whose connections and cache they would share.
  private static func areIndependent(_ runs: [ScenarioRuns]) -> Bool {
    let written = Set(
      runs.flatMap { run in run.scales.map { resolvedPath(of: run.runner(at: $0).storeURL) } })
    return runs.allSatisfy { run in
      guard run.engine is SQLiteEngine else { return false }
      guard case .copied(let store) = run.scenario.data.source else { return true }
      return !written.contains(resolvedPath(of: store))
    }
  }

  private static func resolvedPath(of store: URL) -> String {
    store.resolvingSymlinksInPath().standardizedFileURL.path
  }

  private static func report(
    _ outcome: Outcome, _ records: inout RunRecords?, _ summaries: inout [GitHubActions.Report],
    _ command: Run, _ console: Console
  ) -> ExitStatus {
    var status = ExitStatus.success
    console.endProgress()
    if let result = outcome.result {
      console.write(
        command.quiet ? Array(RunText.unmet(result).dropFirst()) : RunText.lines(result))
      if command.plans, !command.quiet { console.write(RunText.plans(result)) }
      if !result.passes { status = status.worse(.expectationNotMet) }
      GitHubActions.current?.annotate(result, console)
      let comparison = records?.add(result, of: outcome.scenario)
      if let comparison {
        status = status.worse(report(comparison, of: outcome.scenario, records, command, console))
      }
      let stopped = command.failOn?.failures(of: result) ?? []
      summaries.append(
        GitHubActions.Report(
          result, records?.failsRun == true ? comparison : nil, hasFailures: !stopped.isEmpty))
      if let criteria = command.failOn, !stopped.isEmpty {
        console.writeMessage(Messages.failedByFindings(stopped, in: result.scenario))
        GitHubActions.current?.annotate(result, criteria, console)
        status = status.worse(.findings)
      }
    }
    if !command.quiet {
      let scales = outcome.result.map(ScaleText.lines) ?? []
      if !scales.isEmpty { console.write([""] + scales) }
      if !outcome.written.isEmpty {
        console.write("")
        console.write([Messages.written(outcome.written)])
      }
    }
    if let error = outcome.error { status = status.worse(command.report(error, console)) }
    return status
  }

  /// Prints a comparison with the baseline, and returns its status.
  private static func report(
    _ comparison: BaselineComparison, of scenario: Scenario, _ records: RunRecords?,
    _ command: Run, _ console: Console
  ) -> ExitStatus {
    if !command.quiet { console.write([""] + comparison.lines(records?.baselineName ?? "")) }
    guard records?.failsRun == true, !comparison.increases.isEmpty else { return .success }
    console.write(
      comparison.increases.map { increase in
        "✗ \(increase.text)   \(scenario.path):\(scenario.line(ofVariant: increase.variant))"
      })
    GitHubActions.current?.annotate(comparison.increases, of: scenario, console)
    return .expectationNotMet
  }

  /// Runs the scenario at each scale, and writes its reports.
  ///
  /// - Parameters:
  ///   - jobs: The number of scenarios that run concurrently.
  ///   - progress: A closure that's called with the progress of the run.
  private func outcome(jobs: Int, progress: (RunProgress) -> Void) -> Outcome {
    var outcome = Outcome(scenario: scenario)
    var stores: [String] = []
    do {
      var results: [RunResult] = []
      let log =
        sqlLevel == 0
        ? nil
        : RunLog(level: sqlLevel, showsBinds: showsBinds) {
          Console().writeMessage($0)
        }
      for scale in scales {
        let runner = runner(at: scale, log: log)
        results.append(try runner.run(progress: progress))
        if runner.hasFile { stores.append(runner.storeURL.relativePath) }
      }
      var result = RunResult(joining: results)
      if jobs > 1 { result.environment.jobs = jobs }
      outcome.result = result
      outcome.entry = RunIndex.Entry(result, named: path)
      for format in formats {
        outcome.written.append(
          try format.write(
            result, named: name, in: folder, force: force, reloads: reloads, labels: labels
          )
          .relativePath)
      }
    } catch {
      outcome.error = error
      if outcome.result == nil {
        outcome.entry = RunIndex.Entry(
          failed: scenario.name, chapter: scenario.chapter, named: path,
          message: Secrets.hidden(in: Failure(error).text))
      }
    }
    outcome.written += stores
    return outcome
  }
}

extension Scenario {
  /// Returns the line of a variant; 1 if none has the name.
  func line(ofVariant name: String) -> Int {
    variants.first { $0.name == name }?.line ?? 1
  }
}
