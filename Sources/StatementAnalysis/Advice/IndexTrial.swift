import Foundation
import ManagedModel
import ProfileEvents
import SQLiteDriver
import WorkbenchText

/// Measures the statements of a piece of work on a scratch store, and again with each candidate
/// index.
struct IndexTrial {
  private let store: any IndexTrialStore
  /// The statements that can be run on the scratch store.
  let statements: [AdvisedStatement]
  /// The SQL of the statements that can't be run.
  let unmeasured: [String]
  /// The number of rows written that no measure includes, by table name in uppercase.
  private let writes: [String: Int]
  /// The work of each statement for rows that it changed, but that the scratch store doesn't have.
  private let absent: [Int]
  private let tables: [Set<String>]
  private let before: [IndexMeasure]
  private var now: [IndexMeasure]
  /// The chosen candidates that help together: those of the sides of an `OR`.
  private var groups: [[IndexCandidate]] = []

  /// Measures statements.
  ///
  /// - Parameters:
  ///   - statements: The statements to measure.
  ///   - others: The other statements of the work, whose writes update the indexes, too.
  init(
    store: any IndexTrialStore, statements: [AdvisedStatement], others: [AdvisedStatement]
  ) {
    self.store = store
    let all = statements.map { ($0, store.measure($0)) }
    let measured = all.compactMap { statement, measure in measure.map { (statement, $0) } }
    let skipped = all.filter { $0.1 == nil }.map(\.0)
    self.statements = measured.map(\.0)
    unmeasured = skipped.map(\.sql)
    // The rows that a batch request has changed may be deleted, or may no longer match.
    let missing = measured.map { statement, measure in
      statement.reads ? 0 : max(statement.rows - measure.changes * statement.count, 0)
    }
    absent = zip(measured, missing).map { measured, missing in
      let (statement, measure) = measured
      guard missing > 0, let steps = statement.steps else { return 0 }
      return max(steps / max(statement.count, 1) - measure.cost, 0)
    }
    let unmeasuredWrites = (others + skipped).filter { !$0.reads }
    writes = IndexTrial.writes(
      unmeasuredWrites.map { ($0, max($0.count, $0.rows)) } + zip(self.statements, missing))
    before = zip(measured, absent).map { measured, absent in measured.1.adding(absent) }
    now = before
    tables = self.statements.map { statement in
      Set(TableNeeds.all(of: statement.sql).map { $0.table.uppercased() })
    }
  }

  /// Adds up the rows that statements write, by the table's name in uppercase.
  private static func writes(_ statements: [(AdvisedStatement, Int)]) -> [String: Int] {
    var writes: [String: Int] = [:]
    for (statement, rows) in statements where rows > 0 {
      guard let table = SQLOutline(statement.sql).tables.first?.table else { continue }
      writes[table.uppercased(), default: 0] += rows
    }
    return writes
  }

  /// Returns the name of the index at a position of the chosen ones, on the scratch store.
  static func name(of position: Int) -> String { "cdprof_advice_\(position)" }

  /// The statements, sorted by the descending cost of all their executions.
  var costliest: [AdvisedStatement] {
    statements.indices.sorted { cost($0, before) > cost($1, before) }.map { statements[$0] }
  }

  /// The names of the indexes that the current plans use.
  var usedIndexes: Set<String> { Set(now.flatMap(\.indexes)) }

  /// Returns the candidates that help, and leaves their indexes on the scratch store.
  ///
  /// - Parameters:
  ///   - candidates: The candidates that are tested one by one.
  ///   - groups: The candidates for the sides of each `OR`, which are tested together.
  ///   - checkCancellation: A closure that's called before each test. An error that it throws ends
  ///     the search.
  mutating func choose(
    from candidates: [IndexCandidate], groups: [[IndexCandidate]],
    checkingCancellation checkCancellation: () throws -> Void
  ) rethrows -> [IndexCandidate] {
    var open = candidates
    var kept: [IndexCandidate] = []
    while kept.count < IndexAdvisor.maximumProposals, !open.isEmpty {
      let name = IndexTrial.name(of: kept.count)
      var results: [(candidate: IndexCandidate, gain: Int, measures: [IndexMeasure])] = []
      for candidate in open where !kept.contains(where: { $0.covers(candidate) }) {
        try checkCancellation()
        guard let (gain, measures) = attempt([candidate], from: kept.count) else { continue }
        results.append((candidate, gain, measures))
      }
      // An index that didn't help by itself won't help together with others, except for those of
      // the sides of an OR, which are tested below.
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
    for group in groups {
      try choose(together: group, after: &kept, checkingCancellation: checkCancellation)
    }
    return pruned(kept)
  }

  /// Chooses indexes for the sides of an `OR`, none of which helps without the others.
  ///
  /// The database chooses among the candidates of all sides. Then each chosen one is replaced by
  /// the narrowest of its columns' candidates that helps about as much.
  private mutating func choose(
    together candidates: [IndexCandidate], after kept: inout [IndexCandidate],
    checkingCancellation checkCancellation: () throws -> Void
  ) rethrows {
    let position = kept.count
    let open = candidates.filter { candidate in !kept.contains { $0.covers(candidate) } }
    try checkCancellation()
    var chosen = used(of: open, from: position)
    guard position + chosen.count <= IndexAdvisor.maximumProposals,
      var best = attempt(chosen, from: position)
    else { return }
    let most = best.gain
    for index in chosen.indices {
      let columns = Set(chosen[index].parts.map(\.column))
      let narrower = open.filter { candidate in
        candidate.width < chosen[index].width && !chosen.contains(candidate)
          && columns.isSuperset(of: candidate.parts.map(\.column))
      }
      for candidate in narrower.sorted(by: { $0.width < $1.width }) {
        try checkCancellation()
        var others = chosen
        others[index] = candidate
        guard let result = attempt(others, from: position), result.gain * 20 >= most * 19 else {
          continue
        }
        (chosen, best) = (others, result)
        break
      }
    }
    for (offset, candidate) in chosen.enumerated() {
      _ = store.make(candidate, named: IndexTrial.name(of: position + offset))
    }
    let earlier = kept.filter { one in candidates.contains { one.covers($0) } }
    groups.append(chosen + earlier)
    kept += chosen
    now = best.measures
  }

  /// Returns the chosen candidates that were measured together with another one, which helps only
  /// with them.
  func partners(of candidate: IndexCandidate) -> [IndexCandidate] {
    groups.filter { $0.contains(candidate) }.flatMap { group in group.filter { $0 != candidate } }
  }

  /// Returns the candidates of one table that the database uses if it has all of their indexes.
  private func used(of candidates: [IndexCandidate], from position: Int) -> [IndexCandidate] {
    guard let table = candidates.first?.table else { return [] }
    let names = candidates.indices.map { IndexTrial.name(of: position + $0) }
    defer { for name in names { store.drop(name) } }
    for (candidate, name) in zip(candidates, names) { _ = store.make(candidate, named: name) }
    let used = Set((measure(table: table) ?? []).flatMap(\.indexes))
    return zip(candidates, names).filter { used.contains($1) }.map(\.0)
  }

  /// Returns the gains of the statements that use an index, with all chosen indexes in place.
  func gains(of name: String) -> [IndexProposal.Gain] {
    statements.indices.filter { now[$0].indexes.contains(name) }
      .map { position in
        IndexProposal.Gain(
          sql: statements[position].sql, count: statements[position].count,
          before: before[position].cost, after: now[position].cost,
          planBefore: before[position].lines, planAfter: now[position].lines)
      }
      .sorted { ($0.before - $0.after) * $0.count > ($1.before - $1.after) * $1.count }
  }

  /// Returns the gain of indexes of one table for the work as a whole, or `nil` if no statement
  /// uses one of them or if the gain isn't worth the cost of updating them.
  ///
  /// - Parameter position: The position of the first index, which determines their names.
  private func attempt(
    _ candidates: [IndexCandidate], from position: Int
  ) -> (gain: Int, measures: [IndexMeasure])? {
    guard let table = candidates.first?.table else { return nil }
    let names = candidates.indices.map { IndexTrial.name(of: position + $0) }
    let written = writes[table.uppercased()] ?? 0
    let insert = written > 0 ? store.insertCost(into: table) : nil
    defer { for name in names { store.drop(name) } }
    guard zip(candidates, names).allSatisfy({ store.make($0, named: $1) }),
      let measures = measure(table: table)
    else { return nil }
    let users = statements.indices.filter { !measures[$0].indexes.isDisjoint(with: names) }
    let used = Set(users.flatMap { measures[$0].indexes })
    let old = users.reduce(0) { $0 + cost($1, now) }
    let new = users.reduce(0) { $0 + cost($1, measures) }
    guard used.isSuperset(of: names),
      (old - new) * IndexAdvisor.minimumGainDenominator >= old
    else { return nil }
    var gain = statements.indices.reduce(0) { $0 + cost($1, now) - cost($1, measures) }
    if let insert, let more = store.insertCost(into: table) {
      gain -= (more - insert) * written
    }
    return gain >= store.unit.minimumGain ? (gain, measures) : nil
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
      let loss = measure(table: candidate.table).map { measures in
        statements.indices.reduce(0) { $0 + cost($1, measures) - cost($1, now) }
      }
      if let loss, loss < store.unit.minimumGain {
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
      now = statements.indices.map { measure($0) ?? now[$0] }
    }
    return remaining
  }

  /// Returns the current measures, with the statements that read or change a table measured again,
  /// or `nil` if one of them can no longer be run, as one that exceeds a limit.
  private func measure(table: String) -> [IndexMeasure]? {
    var measures = now
    for position in statements.indices where tables[position].contains(table.uppercased()) {
      guard let measure = measure(position) else { return nil }
      measures[position] = measure
    }
    return measures
  }

  private func measure(_ position: Int) -> IndexMeasure? {
    store.measure(statements[position])?.adding(absent[position])
  }

  private func cost(_ position: Int, _ measures: [IndexMeasure]) -> Int {
    measures[position].cost * statements[position].count
  }
}

extension IndexMeasure {
  /// Returns the measure with additional work.
  fileprivate func adding(_ work: Int) -> IndexMeasure {
    var measure = self
    measure.cost += work
    return measure
  }
}
