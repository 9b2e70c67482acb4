import ArgumentParser
import OpenCoreData
import Profiling
import RunReports
import ScenarioLanguage
import WorkbenchText

/// What the program says of itself; what it found out is put into words by the modules below.
enum Messages {
  /// Versions of everything that counts and times depend on.
  static var version: String {
    let environment = RunEnvironment.current
    return "cdprof \(environment.cdprof) (SQLite \(environment.sqlite), "
      + "Swift \(environment.swift), \(environment.build) build)"
  }

  static let discussion = """
    Begin with a scenario:   cdprof run Scenarios/faults.yml --report html
    Then type it yourself:   cdprof shell Scenarios/faults.yml
    Or look into a store:    cdprof inspect STORE
    Or at a model:           cdprof model MODEL
    """

  static func unknownCommand(_ word: String, commands: [String]) -> String {
    let near = NearestName.of(word, among: commands).map { "; did you mean `\($0)`?" } ?? ""
    return "unknown command `\(word)`\(near)\n"
      + "the commands are: \(commands.joined(separator: ", ")); see `cdprof help`"
  }

  static func sameName(_ name: String, _ first: String, _ second: String) -> String {
    "\(first) and \(second) would both write \(name).html; run them into two folders with --out"
  }

  static func unknownRule(_ word: String, known: [String]) -> String {
    let near = NearestName.of(word, among: known).map { "; did you mean `\($0)`?" } ?? ""
    return "unknown finding `\(word)`\(near)\nthe findings are: \(known.joined(separator: ", "))"
  }

  static func stopped(_ findings: [String], in scenario: String) -> String {
    "\(scenario): --fail-on stops at \(findings.joined(separator: ", "))"
  }

  static func held(_ held: Int, of count: Int) -> String {
    "\(NumberText.counted(held, of: count, "scenario")) passed"
  }

  static func written(_ paths: [String]) -> String {
    "written: \(paths.joined(separator: ", "))"
  }

  /// What is wrong with the value of an option that's 1 or more; nil if nothing is.
  static func outOfRange(_ option: String, _ value: Int, upTo limit: Int) -> String? {
    guard value >= 1 else { return "\(option) is 1 or more, not \(value)." }
    return value <= limit
      ? nil : "\(option) is at most \(NumberText.grouped(limit)), not \(value)."
  }

  static func unwritten(_ code: Int32) -> String {
    "standard output can't be written: \(FileErrorText.words(code))"
  }

  static func next(after scenario: String) -> String {
    "next: cdprof run \(LineWords.plain(scenario)) --report html"
  }

  static func progress(_ progress: RunProgress, of scenario: String) -> String {
    switch progress {
    case .data(let rows, let total):
      "\(scenario): making data, \(NumberText.counted(rows, of: total, "row"))"
    case .variant(let name, let number, let total):
      "\(scenario): \(number) of \(total), \(name)"
    }
  }

  static let guessedNames =
    "the store has no readable model; property names are inferred from column names"

  static let stillRunning =
    "still running; press Ctrl-C again to quit the shell"

  static let more = "— space: next page · enter: next line · q: enough —"
}
