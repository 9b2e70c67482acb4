import Foundation
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import WorkbenchText

/// The statements of a piece of work on a scratch store, measured again with each index tried.
struct IndexTrial {
  private let store: ScratchStore
  /// Those that could be run.
  let statements: [AdvisedStatement]
  /// The texts of those that could not.
  let unmeasured: [String]
  /// Rows written, by table in upper case.
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

  /// The name of a kept index on the scratch store.
  static func name(of place: Int) -> String { "cdprof_advice_\(place)" }

  /// The statements by what all their runs cost, the costliest first.
  var costliest: [AdvisedStatement] {
    statements.indices.sorted { cost($0, before) > cost($1, before) }.map { statements[$0] }
  }

  /// Stored indexes that the plans of now go through.
  var usedIndexes: Set<String> { Set(now.flatMap(\.plan.indexes)) }

  /// Makes the indexes that help, one after the other, and leaves them on the scratch store.
  ///
  /// - Parameter goOn: asked before each of them; what it throws ends the search.
  mutating func choose(
    from ideas: [IndexCandidate], while goOn: () throws -> Void
  ) rethrows -> [IndexCandidate] {
    var open = ideas
    var kept: [IndexCandidate] = []
    while kept.count < IndexAdvisor.mostProposals, !open.isEmpty {
      let name = IndexTrial.name(of: kept.count)
      var results: [(idea: IndexCandidate, gain: Int, measures: [ScratchStore.Measure])] = []
      for idea in open where !kept.contains(where: { $0.covers(idea) }) {
        try goOn()
        guard let (gain, measures) = attempt(idea, named: name) else { continue }
        results.append((idea, gain, measures))
      }
      // An index that didn't help by itself won't help together with others.
      open = results.map(\.idea)
      guard let most = results.map(\.gain).max(),
        // Of nearly equal ones the narrowest costs least to keep.
        let best = results.filter({ $0.gain * 20 >= most * 19 })
          .min(by: { $0.idea.width < $1.idea.width })
      else { break }
      guard store.make(best.idea, named: name) else { break }
      kept.append(best.idea)
      now = best.measures
      open.removeAll { $0 == best.idea }
    }
    return pruned(kept)
  }

  /// What the statements gain that go through an index, with all that were kept.
  func gains(of name: String) -> [IndexProposal.Gain] {
    statements.indices.filter { now[$0].plan.indexes.contains(name) }
      .map { place in
        IndexProposal.Gain(
          sql: statements[place].sql, count: statements[place].count,
          before: before[place].vmSteps, after: now[place].vmSteps,
          planBefore: before[place].plan.lines, planAfter: now[place].plan.lines)
      }
      .sorted { ($0.before - $0.after) * $0.count > ($1.before - $1.after) * $1.count }
  }

  /// The gain of an index over all the work; nil when nothing uses it, or it is not worth its writing.
  private func attempt(
    _ idea: IndexCandidate, named name: String
  ) -> (gain: Int, measures: [ScratchStore.Measure])? {
    let written = writes[idea.table.uppercased()] ?? 0
    let insert = written > 0 ? store.insertSteps(into: idea.table) : nil
    guard store.make(idea, named: name) else { return nil }
    defer { store.drop(name) }
    let measures = measure(table: idea.table)
    let users = statements.indices.filter { measures[$0].plan.indexes.contains(name) }
    let old = users.reduce(0) { $0 + cost($1, now) }
    let new = users.reduce(0) { $0 + cost($1, measures) }
    guard !users.isEmpty, (old - new) * IndexAdvisor.leastPart >= old else { return nil }
    var gain = statements.indices.reduce(0) { $0 + cost($1, now) - cost($1, measures) }
    if let insert, let more = store.insertSteps(into: idea.table) {
      gain -= (more - insert) * written
    }
    return gain >= IndexAdvisor.leastGain ? (gain, measures) : nil
  }

  /// Lets indexes go that those kept after them have made superfluous.
  ///
  /// The names on the scratch store are then those of the remaining places.
  private mutating func pruned(_ kept: [IndexCandidate]) -> [IndexCandidate] {
    var remaining = kept
    var place = 0
    while remaining.count > 1, place < remaining.count {
      let idea = remaining[place]
      store.drop(IndexTrial.name(of: place))
      let measures = measure(table: idea.table)
      let loss = statements.indices.reduce(0) { $0 + cost($1, measures) - cost($1, now) }
      if loss < IndexAdvisor.leastGain {
        for later in place + 1..<remaining.count { store.drop(IndexTrial.name(of: later)) }
        remaining.remove(at: place)
        for later in place..<remaining.count {
          _ = store.make(remaining[later], named: IndexTrial.name(of: later))
        }
      } else {
        _ = store.make(idea, named: IndexTrial.name(of: place))
        place += 1
      }
    }
    if !remaining.isEmpty {
      now = statements.indices.map { store.measure(statements[$0]) ?? now[$0] }
    }
    return remaining
  }

  /// The measures with the statements of one table run again.
  private func measure(table: String) -> [ScratchStore.Measure] {
    statements.indices.map { place in
      guard tables[place].contains(table.uppercased()) else { return now[place] }
      return store.measure(statements[place]) ?? now[place]
    }
  }

  private func cost(_ place: Int, _ measures: [ScratchStore.Measure]) -> Int {
    measures[place].vmSteps * statements[place].count
  }
}

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

  /// VM steps of inserting a copy of the table's last row, which is rolled back.
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
