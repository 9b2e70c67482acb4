import OpenCoreData
import Profiling
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// Returns the query of a line that starts with `.sqlite`, and its offset in characters.
  ///
  /// Returns `nil` for any other line. The line isn't split into words.
  static func query(in line: String) -> (text: String, start: Int)? {
    let rest = line.drop { $0.isWhitespace }
    let word = ShellCommand.sqlite.rawValue
    guard rest.hasPrefix(word), rest.dropFirst(word.count).first?.isWhitespace == true else {
      return nil
    }
    let query = rest.dropFirst(word.count).drop { $0.isWhitespace }
    guard !query.isEmpty else { return nil }
    return (String(query), line.count - query.count)
  }

  /// Runs a query with SQLite directly, on a separate read-only connection.
  ///
  /// The query adds nothing to the costs of the run. Ctrl-C interrupts it.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - start: The offset of the query in the line, in characters.
  ///   - line: The line.
  func run(query: String, at start: Int, in line: String) throws -> ShellAnswer {
    let session = try openSession()
    let connection = try StoreConnection.open(
      path: session.storeURL.path, access: session.isReadOnly ? .inspecting : .reading)
    defer { connection.close() }
    do {
      let table = try interruption.run(interruptedBy: { connection.interrupt() }) {
        try ShellEngine.rows(of: query, on: connection, interruption)
      }
      return ShellAnswer(table: table)
    } catch let error as SQLiteError {
      if error.code == .interrupt { throw CommandFailure("the query was interrupted") }
      let offset = error.offset.map { bytes in
        String(decoding: query.utf8.prefix(bytes), as: UTF8.self).count
      }
      guard let offset else { throw CommandFailure("SQLite: \(error.message)") }
      let end = query.dropFirst(offset).prefix { !$0.isWhitespace && !",()".contains($0) }
      throw LanguageProblem(
        "SQLite: \(error.message)",
        at: SourceRange(line: 1, column: start + offset + 1, length: end.count),
        nextStep: "`.sqlite SELECT name FROM sqlite_master` lists the tables")
    }
  }

  private static func rows(
    of query: String, on connection: Connection, _ interruption: StepInterruption
  ) throws -> ShellTable {
    let statement = try connection.statement(query)
    defer { statement.reset() }
    // SQLite reports `ATTACH` and `VACUUM INTO` as read-only, but they create files.
    let first = query.prefix { $0.isLetter }.uppercased()
    guard statement.isReadOnly, ["SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA"].contains(first)
    else {
      throw CommandFailure(
        "`.sqlite` runs only statements that read",
        nextStep: "start with SELECT, WITH, VALUES, EXPLAIN, or PRAGMA")
    }
    var rows: [[ShellTable.Cell]] = []
    var bytes = 0
    while try statement.step() {
      let values = (0..<statement.columnCount).map { statement.value($0) }
      bytes += values.reduce(0) { $0 + size($1) }
      guard rows.count < InputLimits.printedRows, bytes <= InputLimits.printedSize else {
        throw CommandFailure(
          "the result is too large; the limit is \(NumberText.grouped(InputLimits.printedRows)) rows "
            + "or \(InputLimits.printedSize >> 20) MB",
          nextStep: "add a LIMIT, or use `substr()` for long values")
      }
      rows.append(values.map(cell))
      try interruption.check()
    }
    return ShellTable((0..<statement.columnCount).map(statement.columnName), rows)
  }

  /// Returns the size of a string or blob in bytes; 0 for other values.
  private static func size(_ value: SQLiteValue) -> Int {
    switch value {
    case .null, .integer, .real: 0
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    }
  }

  static func cell(_ value: SQLiteValue) -> ShellTable.Cell {
    switch value {
    case .null: .null
    case .integer(let number): .literal(Int(number))
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}
