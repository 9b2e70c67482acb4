package import Foundation
import OpenCoreData
import ProfileEvents
import SQLiteDriver
package import StatementAnalysis
import WorkbenchText

/// A copy of a store to try indexes on; the original isn't modified.
final class ScratchStore: IndexTrialStore {
  let connection: Connection
  let unit = AdviceUnit.vmSteps
  let present: [FileIndex]
  let measuresChanges = true
  private let names: PropertyNames
  private let folder: URL

  /// Copies a store and opens the copy.
  ///
  /// - Throws: An `NSError` of the file system, or a `SQLiteError` if the copy can't be opened.
  init(copying url: URL) throws {
    folder = try ScratchFolders.make()
    do {
      let copy = folder.appendingPathComponent("advice.sqlite")
      try StoreFile.copy(from: url, to: copy, isSynced: false)
      let opened = try StoreConnection.open(path: copy.path, access: .writing)
      opened.refuseViews()
      do {
        present = try FileIndex.all(on: opened)
      } catch {
        opened.close()
        throw error
      }
      names = PropertyNames(opened)
      connection = opened
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
  }

  deinit {
    connection.close()
    ScratchFolders.remove(folder)
  }

  /// Runs a statement to completion and returns what SQLite counted; changes are rolled back.
  ///
  /// Returns `nil` if the statement can't be run on the copy, such as one for another schema, or if
  /// it changes rows and takes more than `StoreLimits.trialSteps`.
  func measure(_ statement: AdvisedStatement) -> IndexMeasure? {
    do {
      let binds = try values(for: statement)
      guard !statement.reads else { return try run(statement.sql, binds) }
      // The store's triggers run, and they might not terminate.
      return try connection.withStepLimit(StoreLimits.trialSteps) {
        try undoing {
          var measure = try run(statement.sql, binds)
          measure.changes = connection.changes
          return measure
        }
      }
    } catch {
      return nil
    }
  }

  private func run(_ sql: String, _ binds: [SQLiteValue]) throws -> IndexMeasure {
    let prepared = try connection.statement(sql)
    defer { prepared.reset() }
    let plan = try connection.explainQueryPlan(sql, binds: binds)
    for (index, value) in binds.enumerated() {
      try prepared.bind(value, at: Int32(index + 1))
    }
    let before = prepared.work
    while try prepared.step() {}
    return IndexMeasure(
      cost: (prepared.work - before).vmSteps, lines: plan.lines, indexes: Set(plan.indexes))
  }

  /// Runs a closure, and rolls back what its statements change.
  private func undoing<Result>(_ body: () throws -> Result) throws -> Result {
    try connection.execute("SAVEPOINT advice")
    defer { try? connection.execute("ROLLBACK TO advice; RELEASE advice") }
    return try body()
  }

  /// Returns the names of the indexes that a statement would use, without running it.
  ///
  /// Returns `nil` if the statement can't be prepared on the copy.
  func indexes(usedBy statement: AdvisedStatement) -> [String]? {
    do {
      return try connection.explainQueryPlan(statement.sql, binds: values(for: statement)).indexes
    } catch {
      return nil
    }
  }

  /// Binds a statement's arrays, and returns the values of its placeholders; values that aren't
  /// known are sampled.
  private func values(for statement: AdvisedStatement) throws -> [SQLiteValue] {
    let sampler = BindSampler(connection)
    if let arrays = statement.arrays {
      for (index, array) in arrays.enumerated() { try connection.bindIntArray(index, array) }
    } else {
      try sampler.bindArrays(of: statement.sql)
    }
    return statement.binds ?? sampler.binds(of: statement.sql)
  }

  /// Creates an index, and returns whether that succeeded.
  ///
  /// It fails if the table doesn't have the columns.
  func make(_ candidate: IndexCandidate, named name: String) -> Bool {
    (try? connection.execute(candidate.sql(named: name))) != nil
  }

  func sql(of candidate: IndexCandidate, named name: String) -> String {
    candidate.sql(named: name)
  }

  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])? {
    names.names(of: columns, in: table, preferring: preferred)
  }

  func canDescribe(_ index: IndexCandidate) -> Bool { names.canDescribe(index) }

  func unusedIndexName(_ name: String, in entity: String?) -> String {
    names.unusedIndexName(name, in: entity)
  }

  func isAutomatic(_ index: FileIndex) -> Bool { names.isAutomatic(index) }

  func drop(_ name: String) {
    try? connection.execute("DROP INDEX IF EXISTS \(SQLSyntax.quoted(name))")
  }

  /// Returns the VM steps of inserting a copy of the table's last row, with other values where a
  /// unique index requires them, which is rolled back.
  ///
  /// Returns `nil` if the table is empty, has no primary key or no greater one is left, or has a
  /// constraint that rejects the copy.
  func insertCost(into table: String) -> Int? {
    // The store's triggers run, and they might not terminate.
    connection.withStepLimit(StoreLimits.trialSteps) { stepsOfInsert(into: table) }
  }

  private func stepsOfInsert(into table: String) -> Int? {
    do {
      let names = try connection.values(
        "SELECT name FROM pragma_table_info(?)", [.text(table)]
      )
      .compactMap { row in if case .text(let name)? = row.first { name } else { nil } }
      guard let key = names.firstIndex(of: "Z_PK") else { return nil }
      guard
        var row = try connection.values(
          "SELECT * FROM \(SQLSyntax.quoted(table)) ORDER BY Z_PK DESC LIMIT 1"
        ).first, case .integer(let last) = row[key], last < .max
      else { return nil }
      row[key] = .integer(last + 1)
      for index in present where index.isUnique && index.table == table.uppercased() {
        let column = names.firstIndex { $0.uppercased() == index.parts.first?.column }
        if let column, column != key { row[column] = ScratchStore.unusual(row[column]) }
      }
      let list = names.map(SQLSyntax.quoted).joined(separator: ", ")
      let marks = names.map { _ in "?" }.joined(separator: ", ")
      let sql = "INSERT INTO \(SQLSyntax.quoted(table))(\(list)) VALUES(\(marks))"
      return try undoing { try run(sql, row).cost }
    } catch {
      return nil
    }
  }

  /// Returns a value of the same type that a table is unlikely to contain.
  private static func unusual(_ value: SQLiteValue) -> SQLiteValue {
    switch value {
    case .null: .null
    case .integer: .integer(.max)
    case .real: .real(.greatestFiniteMagnitude)
    case .text(let text): .text(text + "\u{10FFFF}")
    case .blob(let bytes): .blob(bytes + [0xFF])
    }
  }

  /// Returns the size of an index, or `nil` if SQLite was built without `dbstat`.
  func size(of index: String) -> (pages: Int, bytes: Int)? {
    let rows = try? connection.values(
      "SELECT COUNT(*), SUM(pgsize) FROM dbstat WHERE name = ?", [.text(index)])
    guard let row = rows?.first, case .integer(let pages) = row[0],
      case .integer(let bytes) = row[1]
    else { return nil }
    return (Int(pages), Int(bytes))
  }

  /// Returns the columns of a table that are NULL in more than half of its rows.
  func sparseColumns(of table: String, among columns: [String]) -> Set<String> {
    guard !columns.isEmpty,
      let row = try? connection.values(
        "SELECT COUNT(*), "
          + columns.map { "COUNT(\(SQLSyntax.quoted($0)))" }.joined(separator: ", ")
          + " FROM \(SQLSyntax.quoted(table))"
      ).first, case .integer(let all) = row[0]
    else { return [] }
    return Set(
      zip(columns, row.dropFirst()).compactMap { column, count in
        if case .integer(let count) = count, count * 2 < all { column } else { nil }
      })
  }
}

extension IndexAdvisor {
  /// Creates an advisor that works on a copy of a store.
  ///
  /// - Throws: An `NSError` of the file system, or a `SQLiteError` if the file isn't a store.
  package init(storeURL: URL) throws {
    let scratch = try ScratchStore(copying: storeURL)
    let connection = scratch.connection
    self.init(scratch) { connection.interrupt() }
  }
}
