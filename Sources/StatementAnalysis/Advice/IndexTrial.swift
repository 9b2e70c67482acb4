import Foundation
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import WorkbenchText

/// Measures the statements of a piece of work on a scratch store, and again with each candidate
/// index.
struct IndexTrial {
  private let store: ScratchStore
  /// The statements that can be run on the scratch store.
  let statements: [AdvisedStatement]
  /// The SQL of the statements that can't be run.
  let unmeasured: [String]
  /// The number of rows written, by table name in uppercase.
  private let writes: [String: Int]
  private let tables: [Set<String>]
  private let before: [ScratchStore.Measure]
  private var now: [ScratchStore.Measure]

  init(store: ScratchStore, statements: [AdvisedStatement], writes: [String: Int]) {
    self.store = store
    self.writes = writes
    let measured = statements.map { ($0, store.measure($0)) }
    self.statements = measured.filter { $0.1 != nil }.map(\.0)
    unmeasured = measured.filter { $0.1 == nil }.map(\.0.sql)
    before = measured.compactMap(\.1)
    now = before
    tables = self.statements.map { statement in
      Set(TableNeeds.all(of: statement.sql).map { $0.table.uppercased() })
    }
  }

  /// Returns the name of the index at a position of the chosen ones, on the scratch store.
  static func name(of position: Int) -> String { "cdprof_advice_\(position)" }

  /// The statements, sorted by the descending cost of all their executions.
  var costliest: [AdvisedStatement] {
    statements.indices.sorted { cost($0, before) > cost($1, before) }.map { statements[$0] }
  }

  /// The names of the indexes that the current plans use.
  var usedIndexes: Set<String> { Set(now.flatMap(\.plan.indexes)) }

  /// Returns the candidates that help, and leaves their indexes on the scratch store.
  ///
  /// - Parameter goOn: A closure that's called before each candidate is tested. An error that it
  ///   throws ends the search.
  mutating func choose(
    from candidates: [IndexCandidate], while goOn: () throws -> Void
  ) rethrows -> [IndexCandidate] {
    var open = candidates
    var kept: [IndexCandidate] = []
    while kept.count < IndexAdvisor.mostProposals, !open.isEmpty {
      let name = IndexTrial.name(of: kept.count)
      var results: [(candidate: IndexCandidate, gain: Int, measures: [ScratchStore.Measure])] = []
      for candidate in open where !kept.contains(where: { $0.covers(candidate) }) {
        try goOn()
        guard let (gain, measures) = attempt(candidate, named: name) else { continue }
        results.append((candidate, gain, measures))
      }
      // An index that didn't help by itself won't help together with others.
      open = results.map(\.candidate)
      guard let most = results.map(\.gain).max(),
        // Among nearly equal candidates, the narrowest is the cheapest to maintain.
        let best = results.filter({ $0.gain * 20 >= most * 19 })
          .min(by: { $0.candidate.width < $1.candidate.width })
      else { break }
      guard store.make(best.candidate, named: name) else { break }
      kept.append(best.candidate)
      now = best.measures
      open.removeAll { $0 == best.candidate }
    }
    return pruned(kept)
  }

  /// Returns the gains of the statements that use an index, with all chosen indexes in place.
  func gains(of name: String) -> [IndexProposal.Gain] {
    statements.indices.filter { now[$0].plan.indexes.contains(name) }
      .map { position in
        IndexProposal.Gain(
          sql: statements[position].sql, count: statements[position].count,
          before: before[position].vmSteps, after: now[position].vmSteps,
          planBefore: before[position].plan.lines, planAfter: now[position].plan.lines)
      }
      .sorted { ($0.before - $0.after) * $0.count > ($1.before - $1.after) * $1.count }
  }

  /// Returns the gain of an index for the work as a whole, or `nil` if no statement uses the index
  /// or if the gain isn't worth the cost of updating it.
  private func attempt(
    _ candidate: IndexCandidate, named name: String
  ) -> (gain: Int, measures: [ScratchStore.Measure])? {
    let written = writes[candidate.table.uppercased()] ?? 0
    let insert = written > 0 ? store.insertSteps(into: candidate.table) : nil
    guard store.make(candidate, named: name) else { return nil }
    defer { store.drop(name) }
    let measures = measure(table: candidate.table)
    let users = statements.indices.filter { measures[$0].plan.indexes.contains(name) }
    let old = users.reduce(0) { $0 + cost($1, now) }
    let new = users.reduce(0) { $0 + cost($1, measures) }
    guard !users.isEmpty, (old - new) * IndexAdvisor.leastPart >= old else { return nil }
    var gain = statements.indices.reduce(0) { $0 + cost($1, now) - cost($1, measures) }
    if let insert, let more = store.insertSteps(into: candidate.table) {
      gain -= (more - insert) * written
    }
    return gain >= IndexAdvisor.leastGain ? (gain, measures) : nil
  }

  /// Drops the indexes that later choices have made redundant, and returns the remaining
  /// candidates.
  ///
  /// On the scratch store, the remaining indexes are renamed to match their positions.
  private mutating func pruned(_ kept: [IndexCandidate]) -> [IndexCandidate] {
    var remaining = kept
    var position = 0
    while remaining.count > 1, position < remaining.count {
      let candidate = remaining[position]
      store.drop(IndexTrial.name(of: position))
      let measures = measure(table: candidate.table)
      let loss = statements.indices.reduce(0) { $0 + cost($1, measures) - cost($1, now) }
      if loss < IndexAdvisor.leastGain {
        for later in position + 1..<remaining.count { store.drop(IndexTrial.name(of: later)) }
        remaining.remove(at: position)
        for later in position..<remaining.count {
          _ = store.make(remaining[later], named: IndexTrial.name(of: later))
        }
      } else {
        _ = store.make(candidate, named: IndexTrial.name(of: position))
        position += 1
      }
    }
    if !remaining.isEmpty {
      now = statements.indices.map { store.measure(statements[$0]) ?? now[$0] }
    }
    return remaining
  }

  /// Returns the current measures, with the statements that read a table measured again.
  private func measure(table: String) -> [ScratchStore.Measure] {
    statements.indices.map { position in
      guard tables[position].contains(table.uppercased()) else { return now[position] }
      return store.measure(statements[position]) ?? now[position]
    }
  }

  private func cost(_ position: Int, _ measures: [ScratchStore.Measure]) -> Int {
    measures[position].vmSteps * statements[position].count
  }
}

/// A copy of a store to try indexes on; the original isn't modified.
final class ScratchStore {
  /// The cost of one execution of a statement.
  struct Measure: Equatable {
    var vmSteps: Int
    var plan: QueryPlan
  }

  let connection: Connection
  private let folder: URL

  /// Copies a store and opens the copy.
  ///
  /// - Throws: An `NSError` of the file system, or a `SQLiteError` if the copy can't be opened.
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

  /// Runs a statement to completion and returns what SQLite counted.
  ///
  /// Returns `nil` if the statement can't be run on the copy, such as one for another schema.
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

  /// Returns the names of the indexes that a statement would use, without running it.
  ///
  /// Returns `nil` if the statement can't be prepared on the copy.
  func indexes(usedBy statement: AdvisedStatement) -> [String]? {
    do {
      let sampler = BindSampler(connection: connection)
      try sampler.bindArrays(of: statement.sql)
      let binds = statement.binds ?? sampler.binds(of: statement.sql)
      return try connection.explainQueryPlan(statement.sql, binds: binds).indexes
    } catch {
      return nil
    }
  }

  /// Creates an index, and returns whether that succeeded.
  ///
  /// It fails if the table doesn't have the columns.
  func make(_ candidate: IndexCandidate, named name: String) -> Bool {
    (try? connection.execute(candidate.sql(named: name))) != nil
  }

  func drop(_ name: String) {
    try? connection.execute("DROP INDEX IF EXISTS \(SQLNames.quoted(name))")
  }

  /// Returns the VM steps of inserting a copy of the table's last row, which is rolled back.
  ///
  /// Returns `nil` if the table is empty, has no primary key, or has a constraint that rejects the
  /// copy.
  func insertSteps(into table: String) -> Int? {
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

/// Samples a store for values to bind to a statement whose bound values are unknown.
///
/// Each placeholder gets a value from the middle of the table, of the column that it's compared
/// with. Each `_Z_intarrayN` gets up to a hundred values. These approximate what the statement
/// typically searches for.
struct BindSampler {
  /// The maximum number of keys in an integer array.
  private static let arrayLength = 100
  /// The value for a bound `LIMIT`: a typical batch.
  private static let limit = SQLiteValue.integer(20)

  let connection: Connection

  /// Returns one value for each placeholder of a SELECT.
  func binds(of sql: String) -> [SQLiteValue] {
    let outline = SQLOutline(sql)
    var values: [SQLiteValue] = []
    var latest: SQLiteValue = .integer(1)
    for (position, word) in outline.words.enumerated() {
      if word == "?" {
        let previous = position > 0 ? outline.words[position - 1].uppercased() : ""
        switch previous {
        case "LIMIT": values.append(BindSampler.limit)
        case "OFFSET": values.append(.integer(0))
        default: values.append(latest)
        }
      } else if let (table, column) = BindSampler.column(word, outline.tables) {
        latest = sample(column, of: table) ?? latest
      }
    }
    return values
  }

  /// Binds sampled keys to the integer arrays that a statement reads.
  func bindArrays(of sql: String) throws {
    let outline = SQLOutline(sql)
    let prefix = "_Z_intarray"
    var latest: (table: String, column: String)?
    for word in outline.words {
      if let found = BindSampler.column(word, outline.tables) { latest = found }
      guard word.hasPrefix(prefix), let index = Int(word.dropFirst(prefix.count)) else { continue }
      let found = latest.map { keys($0.column, of: $0.table) } ?? []
      try connection.bindIntArray(index, ContiguousArray(found))
    }
  }

  private static func column(
    _ word: String, _ tables: [(table: String, alias: String)]
  ) -> (table: String, column: String)? {
    if let dot = word.firstIndex(of: ".") {
      let alias = word[..<dot]
      guard let table = tables.first(where: { $0.alias == alias })?.table else { return nil }
      return (table, String(word[word.index(after: dot)...]))
    }
    guard tables.count == 1, word.hasPrefix("Z"), word != tables[0].table else { return nil }
    return (tables[0].table, word)
  }

  private func sample(_ column: String, of table: String) -> SQLiteValue? {
    let (column, table) = (SQLNames.quoted(column), SQLNames.quoted(table))
    return try? connection.values(
      """
      SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL LIMIT 1 OFFSET \
      (SELECT COUNT(\(column)) / 2 FROM \(table))
      """
    ).first?.first
  }

  private func keys(_ column: String, of table: String) -> [Int64] {
    let (column, table) = (SQLNames.quoted(column), SQLNames.quoted(table))
    let rows = try? connection.values(
      "SELECT DISTINCT \(column) FROM \(table) WHERE \(column) IS NOT NULL "
        + "LIMIT \(BindSampler.arrayLength)")
    return (rows ?? []).compactMap { row in
      if case .integer(let key)? = row.first { key } else { nil }
    }
  }
}
