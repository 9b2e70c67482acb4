import ArgumentParser
import Foundation
import OpenCoreData
import RunReports
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The baseline that `cdprof run` compares with or updates, and the history that it continues.
struct RunRecords {
  /// The options for a baseline and a history.
  struct Options: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        """
        Compare the counts with those in this file, and exit with status 2 if a cost is \
        above its count there.
        """, valueName: "file"), completion: .json)
    var baseline: String?

    @ArgumentParser.Flag(
      help: """
        Write the counts of this run to the file of --baseline, instead of failing; creates the \
        file if necessary.
        """)
    var updateBaseline = false

    @Option(
      help: ArgumentHelp(
        "Add the counts of this run to this file; `cdprof report --history` draws them.",
        valueName: "file"), completion: .file(extensions: ["jsonl"]))
    var history: String?

    @Option(
      help: ArgumentHelp(
        "The commit for --history; by default, the value of the environment variable GITHUB_SHA.",
        valueName: "name"))
    var commit: String?

    func validate() throws {
      if updateBaseline, baseline == nil {
        throw ValidationError("--update-baseline requires --baseline.")
      }
      guard history != InputFile.standardInput,
        !updateBaseline || baseline != InputFile.standardInput
      else { throw ValidationError("A file that's written can't be standard input.") }
      guard let commit else { return }
      if history == nil { throw ValidationError("--commit requires --history.") }
      guard (1...InputLimits.commitName).contains(commit.utf8.count) else {
        throw ValidationError(
          "--commit must have 1 to \(InputLimits.commitName) bytes, not \(commit.utf8.count).")
      }
    }
  }

  private let options: Options
  private let isPartial: Bool
  /// Whether the command runs all scenarios of folders.
  private let isWhole: Bool
  /// The names of the scenarios by their paths, relative to the folder of the baseline.
  private var names: [String: String] = [:]
  private let run: RunHistory.Run
  private var baseline = Baseline()
  /// The baseline with the counts of the run so far.
  private var updated: Baseline
  /// The counts of the run so far, if the baseline is updated.
  private var changes: [Baseline.Change] = []
  /// The lines of the run so far, for the history.
  private var lines: [String] = []

  /// Reads the baseline and checks both files, before anything runs.
  ///
  /// - Returns: `nil` without a baseline and a history.
  /// - Throws: An `InvalidInputError` if a file can't be read or replaced; `ScenarioDiagnostics` if
  ///   one is invalid.
  init?(_ command: Run) throws {
    options = command.records
    isPartial = !command.variant.isEmpty
    isWhole =
      !isPartial && command.only == nil && !command.watch
      && command.files.allSatisfy(IndexOutput.isFolder)
    run = RunHistory.Run(commit: options.commit ?? RunRecords.triggeringCommit, date: Date())
    guard options.baseline != nil || options.history != nil else { return nil }
    if let path = options.baseline {
      if !options.updateBaseline || RunRecords.exists(path) {
        baseline = try RunRecords.baseline(at: path)
      }
      if options.updateBaseline { try OutputFile.check(URL(fileURLWithPath: path), force: true) }
    }
    updated = baseline
    if let path = options.history { try RunHistory.check(URL(fileURLWithPath: path)) }
  }

  private static func exists(_ path: String) -> Bool {
    FileKind.exists(path, followingLinks: true)
  }

  /// Reads a baseline; the error for a missing file names the option that creates one.
  private static func baseline(at path: String) throws -> Baseline {
    guard path == InputFile.standardInput || exists(path) else {
      throw InvalidInputError(
        kind: .missing, message: "there's no file \(path)",
        nextStep: "create the baseline with --update-baseline")
    }
    return try BaselineFile.read(at: path)
  }

  /// Checks that the names of scenarios, by which counts are identified, are unique, and keeps them
  /// to find those that no longer exist.
  ///
  /// - Throws: An `InvalidInputError` that names two scenarios with the same name.
  mutating func check(_ scenarios: [Scenario]) throws(InvalidInputError) {
    var paths: [String: String] = [:]
    for scenario in scenarios {
      if let file = file(of: scenario) { names[file] = scenario.name }
      guard let other = paths.updateValue(scenario.path, forKey: scenario.name) else { continue }
      throw InvalidInputError(
        kind: .unusable,
        message: "\(other) and \(scenario.path) have the same name, `\(scenario.name)`, by which "
          + "a baseline and a history identify counts",
        nextStep: "change the `name` of one of them")
    }
  }

  /// The folder of the baseline; `nil` if it's read from standard input.
  private var folder: URL? {
    options.baseline.flatMap { path in
      path == InputFile.standardInput
        ? nil : URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent()
    }
  }

  /// Returns the path of a scenario relative to the folder of the baseline, or `nil` if one of them
  /// is read from standard input.
  private func file(of scenario: Scenario) -> String? {
    guard scenario.path != InputFile.standardInput, let folder else { return nil }
    let base = folder.pathComponents
    let path = URL(fileURLWithPath: scenario.path).standardizedFileURL.pathComponents
    let common = zip(base, path).prefix { $0 == $1 }.count
    return (Array(repeating: "..", count: base.count - common) + path.dropFirst(common))
      .joined(separator: "/")
  }

  /// Returns the scenarios of a baseline that no longer exist.
  private func missing(in baseline: Baseline) -> [String] {
    guard let folder else { return [] }
    return baseline.missingScenarios(besides: names, isWhole: isWhole) { file in
      RunRecords.exists(folder.appendingPathComponent(file).path)
    }
  }

  /// Lines about the scenarios of the baseline that no longer exist; none if all do.
  var missingLines: [String] {
    let names = missing(in: baseline)
    guard !names.isEmpty, !options.updateBaseline || !lines.isEmpty else { return [] }
    return [Messages.missing(names.count, from: baselineName, removed: options.updateBaseline)]
      + names.map { "  \($0)" }
  }

  /// Adds a result, and returns its comparison with the baseline, or `nil` without one.
  mutating func add(_ result: RunResult, of scenario: Scenario) -> BaselineComparison? {
    let change = Baseline.Change(result, at: file(of: scenario), isPartial: isPartial)
    updated.apply(change)
    if options.updateBaseline { changes.append(change) }
    lines += RunHistory.lines(of: result, in: run)
    return options.baseline.map { _ in
      BaselineComparison(result, with: baseline, isPartial: isPartial)
    }
  }

  /// Whether counts above the baseline fail the run.
  var failsRun: Bool { !options.updateBaseline }

  /// The name of the baseline's file, for messages.
  var baselineName: String { options.baseline.map(InputFile.name) ?? "" }

  /// The commit that triggered a job of GitHub Actions.
  private static var triggeringCommit: String? {
    ProcessInfo.processInfo.environment["GITHUB_SHA"].flatMap { commit in
      (1...InputLimits.commitName).contains(commit.utf8.count) ? commit : nil
    }
  }

  /// Updates the baseline if that was requested, without scenarios that no longer exist, and
  /// continues the history.
  ///
  /// - Returns: The paths of the written files.
  /// - Throws: An `InvalidInputError` or an `NSError` of the file system.
  func write() throws -> [String] {
    guard !lines.isEmpty else { return [] }
    var written: [String] = []
    if let path = options.baseline, options.updateBaseline {
      let url = URL(fileURLWithPath: path)
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      let removed = missing(in: updated)
      // Another run can have changed the file meanwhile.
      try BaselineFile.update(url) { baseline in
        for change in changes { baseline.apply(change) }
        baseline.removeScenarios(removed)
      }
      written.append(path)
    }
    if let path = options.history {
      let url = URL(fileURLWithPath: path)
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      try RunHistory.append(lines, to: url)
      written.append(path)
    }
    return written
  }
}
