import Foundation
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import WorkbenchText

/// A copy of a store on which indexes are tried; nothing of it reaches the original.
final class ScratchStore {
  /// What one run of a statement cost.
  struct Measure: Equatable {
    var vmSteps: Int
    var plan: QueryPlan
  }

  let connection: Connection
  private let folder: URL

  /// Copies the store and opens the copy.
  ///
  /// - Throws: the file system's `NSError`; `SQLiteError` when the copy cannot be opened.
  init(copying url: URL) throws {
    folder = try ScratchFolders.make()
    do {
      let copy = folder.appendingPathComponent("advice.sqlite")
      try StoreFile.copy(from: url, to: copy)
      connection = try StoreConnection.open(path: copy.path, access: .writing)
      connection.refuseViews()
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
  }

  deinit {
    connection.close()
    ScratchFolders.remove(folder)
  }

  /// Runs a statement to its end and reads what SQLite counted.
  ///
  /// Nil when it cannot be run here: another schema, other placeholders.
  func measure(_ statement: AdvisedStatement) -> Measure? {
    do {
      let sampler = BindSampler(connection: connection)
      try sampler.bindArrays(of: statement.sql)
      let prepared = try connection.statement(statement.sql)
      defer { prepared.reset() }
      let binds = statement.binds ?? sampler.binds(of: statement.sql)
      let plan = try connection.explainQueryPlan(statement.sql, binds: binds)
      for (index, value) in binds.enumerated() {
        try prepared.bind(value, at: Int32(index + 1))
      }
      let before = prepared.work
      while try prepared.step() {}
      return Measure(vmSteps: (prepared.work - before).vmSteps, plan: plan)
    } catch {
      return nil
    }
  }

  /// Makes an index; false when the table does not have its columns.
  func make(_ candidate: IndexCandidate, named name: String) -> Bool {
    (try? connection.execute(candidate.sql(named: name))) != nil
  }

  func drop(_ name: String) {
    try? connection.execute("DROP INDEX IF EXISTS \(SQLNames.quoted(name))")
  }

  /// VM steps of inserting a copy of the table's last row, which is taken back.
  ///
  /// Nil for an empty table, for one without primary key, and where a constraint refuses the copy.
  func insertSteps(into table: String) -> Int? {
    // The store's triggers run, and can be endless.
    connection.withStepLimit(ScratchStore.insertLimit) { stepsOfInsert(into: table) }
  }

  /// VM steps of an INSERT at most, what goes with it included.
  private static let insertLimit = 10_000_000

  private func stepsOfInsert(into table: String) -> Int? {
    do {
      let names = try connection.values("SELECT name FROM pragma_table_info('\(table)')")
        .compactMap { row in if case .text(let name)? = row.first { name } else { nil } }
      guard let key = names.firstIndex(of: "Z_PK") else { return nil }
      guard
        var row = try connection.values(
          "SELECT * FROM \(SQLNames.quoted(table)) ORDER BY Z_PK DESC LIMIT 1"
        ).first, case .integer(let last) = row[key]
      else { return nil }
      row[key] = .integer(last + 1)
      let list = names.map(SQLNames.quoted).joined(separator: ", ")
      let marks = names.map { _ in "?" }.joined(separator: ", ")
      try connection.execute("SAVEPOINT advice")
      defer { try? connection.execute("ROLLBACK TO advice; RELEASE advice") }
      let insert = try connection.statement(
        "INSERT INTO \(SQLNames.quoted(table))(\(list)) VALUES(\(marks))")
      defer { insert.reset() }
      for (index, value) in row.enumerated() { try insert.bind(value, at: Int32(index + 1)) }
      let before = insert.work
      while try insert.step() {}
      return (insert.work - before).vmSteps
    } catch {
      return nil
    }
  }

  /// Pages and bytes of an index; nil where SQLite was built without `dbstat`.
  func size(of index: String) -> (pages: Int, bytes: Int)? {
    let rows = try? connection.values(
      "SELECT COUNT(*), SUM(pgsize) FROM dbstat WHERE name = ?", [.text(index)])
    guard let row = rows?.first, case .integer(let pages) = row[0],
      case .integer(let bytes) = row[1]
    else { return nil }
    return (Int(pages), Int(bytes))
  }

  /// The columns of a table that are NULL in more than half of its rows.
  func sparseColumns(of table: String, among columns: [String]) -> Set<String> {
    guard !columns.isEmpty,
      let row = try? connection.values(
        "SELECT COUNT(*), "
          + columns.map { "COUNT(\(SQLNames.quoted($0)))" }.joined(separator: ", ")
          + " FROM \(SQLNames.quoted(table))"
      ).first, case .integer(let all) = row[0]
    else { return [] }
    return Set(
      zip(columns, row.dropFirst()).compactMap { column, count in
        if case .integer(let count) = count, count * 2 < all { column } else { nil }
      })
  }
}
