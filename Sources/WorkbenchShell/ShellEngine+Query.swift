import OpenCoreData
import Profiling
import SQLiteDriver
import WorkbenchText

extension ShellEngine {
  /// The query of a line that begins with `.sqlite`, which is not cut into words.
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

  /// Asks SQLite itself, on a connection of its own that reads only.
  ///
  /// Cost: nothing for the try. Ctrl-C stops it.
  /// - Parameter start: where the query begins in the line, in characters.
  func ask(_ query: String, at start: Int, in line: String) throws -> ShellAnswer {
    let session = try openSession()
    let connection = try StoreConnection.open(
      path: session.storeURL.path, access: session.isReadOnly ? .looking : .reading)
    defer { connection.close() }
    do {
      let table = try interruption.cutting({ connection.interrupt() }) {
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
        at: SourcePlace(line: 1, column: start + offset + 1, length: end.count),
        nextStep: "`.sqlite SELECT name FROM sqlite_master` lists the tables")
    }
  }

  private static func rows(
    of query: String, on connection: Connection, _ interruption: StepInterruption
  ) throws -> ShellTable {
    let statement = try connection.statement(query)
    defer { statement.reset() }
    // `ATTACH` and `VACUUM INTO` make files and still call themselves reading.
    let first = query.prefix { $0.isLetter }.uppercased()
    guard statement.isReadOnly, ["SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA"].contains(first)
    else {
      throw CommandFailure(
        "this would change something, and `.sqlite` only looks",
        nextStep: "begin with SELECT, WITH, VALUES, EXPLAIN or PRAGMA")
    }
    var rows: [[ShellTable.Cell]] = []
    var bytes = 0
    while try statement.step() {
      let values = (0..<statement.columnCount).map { statement.value($0) }
      bytes += values.reduce(0) { $0 + size($1) }
      guard rows.count < mostRows, bytes <= mostBytes else {
        throw CommandFailure(
          "the answer has more than \(NumberText.grouped(mostRows)) rows or "
            + "\(mostBytes >> 20) MB, the limit",
          nextStep: "add a LIMIT, or take `substr()` of long values")
      }
      rows.append(values.map(cell))
      try interruption.check()
    }
    return ShellTable((0..<statement.columnCount).map(statement.columnName), rows)
  }

  /// What is kept of an answer at most.
  private static let mostRows = 100_000
  private static let mostBytes = 16 << 20

  /// Bytes of a value that takes more room than a number.
  private static func size(_ value: SQLiteValue) -> Int {
    switch value {
    case .null, .integer, .real: 0
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    }
  }

  private static func cell(_ value: SQLiteValue) -> ShellTable.Cell {
    switch value {
    case .null: .null
    case .integer(let number): .literal(Int(number))
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}
