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
  /// The number of rows written, by table name in uppercase.
  private let writes: [String: Int]
  private let tables: [Set<String>]
  private let before: [IndexMeasure]
  private var now: [IndexMeasure]

  init(store: any IndexTrialStore, statements: [AdvisedStatement], writes: [String: Int]) {
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
  var usedIndexes: Set<String> { Set(now.flatMap(\.indexes)) }

  /// Returns the candidates that help, and leaves their indexes on the scratch store.
  ///
  /// - Parameter checkCancellation: A closure that's called before each candidate is tested. An
  ///   error that it throws ends the search.
  mutating func choose(
    from candidates: [IndexCandidate], checkingCancellation checkCancellation: () throws -> Void
  ) rethrows -> [IndexCandidate] {
    var open = candidates
    var kept: [IndexCandidate] = []
    while kept.count < IndexAdvisor.maximumProposals, !open.isEmpty {
      let name = IndexTrial.name(of: kept.count)
      var results: [(candidate: IndexCandidate, gain: Int, measures: [IndexMeasure])] = []
      for candidate in open where !kept.contains(where: { $0.covers(candidate) }) {
        try checkCancellation()
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
    statements.indices.filter { now[$0].indexes.contains(name) }
      .map { position in
        IndexProposal.Gain(
          sql: statements[position].sql, count: statements[position].count,
          before: before[position].cost, after: now[position].cost,
          planBefore: before[position].lines, planAfter: now[position].lines)
      }
      .sorted { ($0.before - $0.after) * $0.count > ($1.before - $1.after) * $1.count }
  }

  /// Returns the gain of an index for the work as a whole, or `nil` if no statement uses the index
  /// or if the gain isn't worth the cost of updating it.
  private func attempt(
    _ candidate: IndexCandidate, named name: String
  ) -> (gain: Int, measures: [IndexMeasure])? {
    let written = writes[candidate.table.uppercased()] ?? 0
    let insert = written > 0 ? store.insertCost(into: candidate.table) : nil
    guard store.make(candidate, named: name) else { return nil }
    defer { store.drop(name) }
    let measures = measure(table: candidate.table)
    let users = statements.indices.filter { measures[$0].indexes.contains(name) }
    let old = users.reduce(0) { $0 + cost($1, now) }
    let new = users.reduce(0) { $0 + cost($1, measures) }
    guard !users.isEmpty, (old - new) * IndexAdvisor.minimumGainDenominator >= old else {
      return nil
    }
    var gain = statements.indices.reduce(0) { $0 + cost($1, now) - cost($1, measures) }
    if let insert, let more = store.insertCost(into: candidate.table) {
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
      let measures = measure(table: candidate.table)
      let loss = statements.indices.reduce(0) { $0 + cost($1, measures) - cost($1, now) }
      if loss < store.unit.minimumGain {
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
  private func measure(table: String) -> [IndexMeasure] {
    statements.indices.map { position in
      guard tables[position].contains(table.uppercased()) else { return now[position] }
      return store.measure(statements[position]) ?? now[position]
    }
  }

  private func cost(_ position: Int, _ measures: [IndexMeasure]) -> Int {
    measures[position].cost * statements[position].count
  }
}
