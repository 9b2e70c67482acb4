import ArgumentParser
import OpenCoreData
import Profiling
import RunReports
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The program's own messages; the modules it depends on format their results.
enum Messages {
  /// The versions that counts and times depend on: cdprof, SQLite, Swift, and the build.
  static var version: String {
    let environment = RunEnvironment.current
    return "cdprof \(environment.cdprof) (SQLite \(environment.sqlite), "
      + "Swift \(environment.swift), \(environment.build) build)"
  }

  static let discussion = """
    Run a scenario:        cdprof run Scenarios/faults.yml --report html
    Run it step by step:   cdprof shell Scenarios/faults.yml
    Inspect a store:       cdprof inspect STORE
    Show a model:          cdprof model MODEL
    """

  static func unknownCommand(
    _ word: String, commands: [String], of program: String = "cdprof"
  ) -> String {
    "unknown command `\(word)`\(NearestName.question(for: word, among: commands))\n"
      + "the commands are: \(commands.joined(separator: ", ")); see `\(program) help`"
  }

  /// The first of two names in `sameName(_:_:_:)`.
  static let indexPage = "the index page"

  static func sameName(_ name: String, _ first: String, _ second: String) -> String {
    "\(first) and \(second) would both write \(name).html; "
      + "run them separately, with different --out folders"
  }

  static func sameStore(_ name: String, _ first: String, _ second: String) -> String {
    "\(first) and \(second) would both write \(name) at the values of --scale; "
      + "run them separately, with different --out folders"
  }

  static func sameReport(_ name: String, _ first: String, _ second: String) -> String {
    "the reports of \(first) and \(second) would both be named \(name); "
      + "render them separately, with different --out folders"
  }

  static func unknownRule(_ word: String, known: [String]) -> String {
    "unknown finding `\(word)`\(NearestName.question(for: word, among: known))\n"
      + "the findings are: \(known.joined(separator: ", "))"
  }

  static func failedByFindings(_ findings: [String], in scenario: String) -> String {
    "\(scenario): failed by --fail-on: \(findings.joined(separator: ", "))"
  }

  static func passed(_ passed: Int, of count: Int) -> String {
    "\(NumberText.counted(passed, of: count, "scenario")) passed"
  }

  static func written(_ paths: [String]) -> String {
    "written: \(paths.joined(separator: ", "))"
  }

  /// Returns the error message for an option's value that isn't between 1 and a limit, or `nil` if
  /// the value is valid.
  static func outOfRange(_ option: String, _ value: Int, upTo limit: Int) -> String? {
    guard value >= 1 else { return "\(option) must be at least 1, not \(value)." }
    return value <= limit
      ? nil : "\(option) must be at most \(NumberText.grouped(limit)), not \(value)."
  }

  /// Returns the error message if several inputs are standard input, or `nil`.
  static func sharedInput(_ paths: [String?]) -> String? {
    paths.filter { $0 == InputFile.standardInput }.count > 1
      ? "Only one input can be standard input." : nil
  }

  static func missing(_ count: Int, from baseline: String, removed: Bool) -> String {
    let scenarios =
      "\(NumberText.counted(count, "scenario")) that no longer \(count == 1 ? "exists" : "exist")"
    return removed
      ? "\(baseline): removed \(scenarios)"
      : "\(baseline): has \(scenarios); --update-baseline removes the counts"
  }

  static func watching(_ count: Int) -> String {
    "watching \(NumberText.counted(count, "scenario")) for changes; Ctrl-C ends"
  }

  static func unwritten(_ code: Int32) -> String {
    "can't write to standard output: \(FileErrorText.words(code))"
  }

  static func next(after scenario: String) -> String {
    "next: cdprof run \(CommandWord.quoted(scenario)) --report html"
  }

  static func progress(_ progress: RunProgress, of scenario: String) -> String {
    switch progress {
    case .data(let rows, let total):
      "\(scenario): generating data, \(NumberText.counted(rows, of: total, "row"))"
    case .variant(let name, let number, let total):
      "\(scenario): \(number) of \(total), \(name)"
    }
  }

  static func notMigrated(_ store: String) -> String {
    "\(store) isn't migrated: the migrated copy has errors that the store doesn't have"
  }

  static func migrated(_ store: String, backup: String?) -> String {
    "migrated: \(store)" + (backup.map { ", with a backup at \($0)" } ?? "")
  }

  static let inferredNames =
    "the store has no readable model; property names are inferred from column names"

  static let stillRunning =
    "still running; press Ctrl-C again to quit the shell"

  static let more = "— space: next page · return: next line · q: quit —"
}
