import OpenCoreData
import ProfileEvents
import Profiling
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// Returns a line without the semicolon at its end, which ends a statement in SQL's shells.
  static func withoutSemicolon(_ line: String) -> String {
    var rest = Substring(line)
    while let last = rest.last, last.isWhitespace || last == ";" { rest.removeLast() }
    return String(rest)
  }

  /// Returns the line after `time`, or nil for any other line.
  static func timedLine(in line: String) -> String? {
    let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    guard parts.count == 2, parts[0] == ShellCommand.time.rawValue else { return nil }
    return String(parts[1])
  }

  /// Runs a line, and adds the elapsed time.
  func time(_ line: String, at callSite: CallSite) -> ShellAnswer {
    let begin = MonotonicClock.now()
    var answer = plainAnswer(to: line, at: callSite)
    answer.lines.append("  elapsed: \(NumberText.milliseconds(MonotonicClock.now() - begin)) ms")
    return answer
  }

  /// Prints the statements that created the file's tables and indexes, or those of one table.
  ///
  /// **Cost:** one SELECT on a separate connection, which the run's counts don't include.
  func schema(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    let connection = try StoreConnection.open(
      path: session.storeURL.path, access: session.isReadOnly ? .inspecting : .reading)
    defer { connection.close() }
    var statements = try connection.values(
      "SELECT tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, rowid")
    if let word = arguments.words.first {
      let mapping = try SQLModel(
        model: session.model, connection: connection, ignoresMissing: true)
      let table = mapping.entity(named: word.text)?.table ?? word.text
      statements = statements.filter { row in
        if case .text(let name) = row[0] { name.lowercased() == table.lowercased() } else { false }
      }
      guard !statements.isEmpty else {
        let known = ModelNames(session.model).entities
        throw LanguageProblem(
          "there's no entity or table `\(word.text)`", at: word.range,
          didYouMean: NearestName.of(word.text, among: known),
          nextStep: "the entities are: \(ModelNames.list(known))")
      }
    }
    let cells = statements.map { $0.map(ShellEngine.cell) }
    let lines = statements.flatMap { row -> [String] in
      guard case .text(let sql) = row[1] else { return [] }
      return "\(sql);".split(separator: "\n").map { "  \($0)" }
    }
    return ShellAnswer(lines, table: ShellTable(["table", "sql"], cells))
  }
}
