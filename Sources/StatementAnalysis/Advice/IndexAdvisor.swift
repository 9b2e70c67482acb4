import ManagedModel
import ProfileEvents
package import SQLiteDriver

/// Finds indexes for the statements of a piece of work by trying them on a copy of its store.
///
/// Candidates come from the columns that the statements compare, sort by, and read; those of an
/// UPDATE or a DELETE come from its condition, and its work includes updating indexes. A candidate
/// becomes a proposal only if the database uses the index on the copy and needs notably less work
/// for the whole work, including the cost of updating the index. Proposals don't overlap: each is
/// measured together with the ones before it, and one that the others make redundant is removed.
/// Each side of an `OR` needs an index, so candidates for its sides are also measured together.
///
/// The original store isn't modified. **Cost:** for each candidate, builds the index on the copy
/// and reruns the statements that read its table; nothing is recorded.
package struct IndexAdvisor {
  /// The denominator of the minimum fraction of the work saved by the statements that use the
  /// index.
  package static let minimumGainDenominator = 5
  /// The maximum number of candidates to try, starting with those of the most expensive statements.
  static let maximumCandidates = 60
  /// The maximum number of proposals.
  static let maximumProposals = 8
  /// The maximum number of `OR`s for which indexes are tried together.
  private static let maximumGroups = 8
  /// The maximum number of candidates for a side of an `OR`.
  private static let maximumCandidatesOfSide = 6

  let store: any IndexTrialStore
  private var present: [FileIndex] { store.present }
  /// A closure that interrupts the running statement and can be called from any thread.
  package let interruption: @Sendable () -> Void

  /// Creates an advisor that works in a store.
  ///
  /// - Parameters:
  ///   - store: The store, usually a copy.
  ///   - interruption: Interrupts the running statement; by default, statements can't be
  ///     interrupted.
  package init(
    _ store: any IndexTrialStore, interruption: @escaping @Sendable () -> Void = {}
  ) {
    self.store = store
    self.interruption = interruption
  }

  /// What the advice measures work in.
  package var unit: AdviceUnit { store.unit }

  /// Tries indexes for statements and returns those that helped.
  package func advice(on statements: [AdvisedStatement]) -> IndexAdvice {
    advice(on: statements) {}
  }

  /// Tries indexes for statements until interrupted, and returns those that helped.
  ///
  /// - Parameter checkCancellation: A closure that's called before each index is tested. An error
  ///   that it throws ends the search.
  package func advice(
    on statements: [AdvisedStatement], checkingCancellation checkCancellation: () throws -> Void
  ) rethrows -> IndexAdvice {
    var searching: [AdvisedStatement] = []
    var others: [AdvisedStatement] = []
    for statement in statements {
      if canMeasure(statement) { searching.append(statement) } else { others.append(statement) }
    }
    var trial = IndexTrial(store: store, statements: searching, others: others)
    let unmeasured = trial.unmeasured
    let candidates = candidates(for: trial)
    let usedBefore = trial.usedIndexes
    let groups = groups(for: trial)
    let kept = try trial.choose(
      from: candidates, groups: groups, checkingCancellation: checkCancellation)
    var proposals: [IndexProposal] = []
    for (position, candidate) in kept.enumerated() {
      proposals.append(proposal(candidate, position: position, in: trial, after: proposals))
    }
    for position in proposals.indices {
      let partners = trial.partners(of: proposals[position].candidate)
      proposals[position].partners = proposals.filter { partners.contains($0.candidate) }
        .map(\.name)
    }
    let redundant = redundant(with: proposals)
    // What makes an index redundant must stay, even if SQLite has used the redundant one so far.
    var useful = Set(redundant.flatMap { [$0.name, $0.servedBy] })
      .union(usedBefore).union(trial.usedIndexes)
    // An index can find the rows of an UPDATE or a DELETE that isn't measured here; what an
    // unmeasured statement uses is unknown.
    var unknown = unmeasured
    for statement in others where !statement.reads {
      if let indexes = store.indexes(usedBy: statement) {
        useful.formUnion(indexes)
      } else {
        unknown.append(statement.sql)
      }
    }
    return IndexAdvice(
      proposals: proposals.sorted {
        $0.stepsBefore - $0.stepsAfter > $1.stepsBefore - $1.stepsAfter
      },
      redundant: redundant, unused: unused(searching, used: useful, unknown: unknown),
      statements: searching.count,
      unmeasured: unmeasured, testedIndexes: Set(candidates + groups.joined()).count,
      unit: store.unit)
  }

  /// Returns whether a statement finds rows in tables, and the store can measure it.
  private func canMeasure(_ statement: AdvisedStatement) -> Bool {
    statement.reads
      ? !TableNeeds.all(of: statement.sql).isEmpty
      : store.measuresChanges && statement.searchesRowsToChange
  }

  private func candidates(for trial: IndexTrial) -> [IndexCandidate] {
    var candidates: [IndexCandidate] = []
    for statement in trial.costliest {
      for needs in TableNeeds.all(of: statement.sql) {
        let others = self.candidates(for: needs).filter { !candidates.contains($0) }
        candidates += others
      }
      if candidates.count >= IndexAdvisor.maximumCandidates { break }
    }
    return Array(candidates.prefix(IndexAdvisor.maximumCandidates))
  }

  /// Returns the candidates for the sides of each `OR` with at least two sides that need an index.
  private func groups(for trial: IndexTrial) -> [[IndexCandidate]] {
    var groups: [[IndexCandidate]] = []
    for statement in trial.costliest {
      for needs in TableNeeds.sides(ofAlternativesIn: statement.sql) {
        guard groups.count < IndexAdvisor.maximumGroups else { return groups }
        var sides: [[IndexCandidate]] = []
        for side in needs where sides.count <= IndexAdvisor.maximumProposals {
          let open = Array(candidates(for: side).prefix(IndexAdvisor.maximumCandidatesOfSide))
          if !open.isEmpty, !sides.contains(open) { sides.append(open) }
        }
        guard (2...IndexAdvisor.maximumProposals).contains(sides.count) else { continue }
        var group: [IndexCandidate] = []
        for candidate in sides.joined() where !group.contains(candidate) {
          group.append(candidate)
        }
        groups.append(group)
      }
    }
    return groups
  }

  /// Returns the indexes that could help to read a table, without those that the store has or that
  /// a model can't describe.
  private func candidates(for needs: TableNeeds) -> [IndexCandidate] {
    let sparse = store.sparseColumns(
      of: needs.table, among: needs.equal + needs.ranges + needs.notNull)
    return IndexCandidate.all(for: needs, sparse: sparse).filter { candidate in
      !present.contains(where: candidate.isServed) && store.canDescribe(candidate)
    }
  }

  private func proposal(
    _ candidate: IndexCandidate, position: Int, in trial: IndexTrial,
    after others: [IndexProposal]
  ) -> IndexProposal {
    let name = IndexTrial.name(of: position)
    let gains = trial.gains(of: name)
    let asking = gains.first.flatMap { gain in
      trial.statements.first { $0.sql == gain.sql }?.entity
    }
    let found = store.names(
      of: candidate.parts.map(\.column), in: candidate.table, preferring: asking)
    let properties = found?.properties ?? []
    let size = store.size(of: name)
    let after = store.insertCost(into: candidate.table)
    store.drop(name)
    let before = store.insertCost(into: candidate.table)
    _ = store.make(candidate, named: name)
    let plain = IndexProposal.modelName(
      properties.isEmpty ? candidate.parts.map(\.column) : properties,
      isPartial: candidate.notNull != nil)
    var label = store.unusedIndexName(plain, in: found?.entity)
    var indexName: String { "Z_\(found?.entity ?? candidate.table)_\(label)" }
    // Proposals can differ only in the directions of their columns.
    var number = 2
    while others.contains(where: { $0.name.uppercased() == indexName.uppercased() }) {
      label = store.unusedIndexName("\(plain)\(number)", in: found?.entity)
      number += 1
    }
    var steps: (before: Int, after: Int)?
    if let before, let after { steps = (before, after) }
    return IndexProposal(
      candidate: candidate, name: indexName, sql: store.sql(of: candidate, named: indexName),
      modelName: label, entity: found?.entity, properties: properties, gains: gains,
      insertSteps: steps, size: size)
  }

  private func redundant(with proposals: [IndexProposal]) -> [IndexAdvice.Redundant] {
    present.enumerated().compactMap { position, index -> IndexAdvice.Redundant? in
      guard index.isExplicit, !index.isUnique, !store.isAutomatic(index) else { return nil }
      let other = present.enumerated().first { other in
        guard other.offset != position, other.element.covers(index) else { return false }
        return other.element.parts.count > index.parts.count || other.offset < position
          || store.isAutomatic(other.element) || other.element.isUnique
      }?.element.name
      let proposed = proposals.first { proposal in
        proposal.candidate.notNull == nil && !index.isPartial
          && proposal.candidate.table.uppercased() == index.table
          && proposal.candidate.parts.count > index.parts.count
          && zip(index.parts, proposal.candidate.parts).allSatisfy {
            $0.column == $1.column.uppercased() && $0.isDescending == $1.isDescending
              && $0.collation == "BINARY"
          }
      }?.name
      guard let servedBy = other ?? proposed else { return nil }
      return IndexAdvice.Redundant(
        name: index.name, table: index.table, columns: index.parts.map(\.title),
        servedBy: servedBy, isServedByProposal: other == nil)
    }
  }

  /// Returns the indexes that no statement uses, of the tables that the statements search.
  ///
  /// - Parameter unknown: The statements whose indexes aren't known; those of their tables may be
  ///   used.
  private func unused(
    _ statements: [AdvisedStatement], used: Set<String>, unknown: [String]
  ) -> [IndexAdvice.Unused] {
    func tables(_ sql: String) -> [String] {
      SQLOutline(sql).tables.map { $0.table.uppercased() }
    }
    let searched = Set(statements.flatMap { tables($0.sql) }).subtracting(unknown.flatMap(tables))
    return present.filter { index in
      index.isExplicit && !index.isUnique && searched.contains(index.table)
        && !used.contains(index.name) && !store.isAutomatic(index)
    }.map { index in
      IndexAdvice.Unused(
        name: index.name, table: index.table, columns: index.parts.map(\.title),
        bytes: store.size(of: index.name)?.bytes)
    }
  }
}

/// The proposed, redundant, and unused indexes for a piece of work on a store.
package struct IndexAdvice: Sendable {
  /// An index of the store that another index, existing or proposed, makes redundant.
  package struct Redundant: Sendable, Equatable {
    package var name: String
    package var table: String
    package var columns: [String]
    /// The index that serves the same searches.
    package var servedBy: String
    /// Whether that index is only proposed.
    package var isServedByProposal: Bool
  }

  /// An index of the store that no statement of the work uses.
  package struct Unused: Sendable, Equatable {
    package var name: String
    package var table: String
    package var columns: [String]
    package var bytes: Int?
  }

  /// The indexes that helped, sorted by descending gain.
  package var proposals: [IndexProposal]
  package var redundant: [Redundant]
  package var unused: [Unused]
  /// The number of statements that were considered.
  package var statements: Int
  /// The SQL of the statements that were skipped because they can't be run on the copy.
  package var unmeasured: [String]
  /// The number of indexes that were tested.
  package var testedIndexes: Int
  /// What the advice measures work in.
  package var unit = AdviceUnit.vmSteps

  /// Whether there's nothing to change.
  package var isEmpty: Bool { proposals.isEmpty && redundant.isEmpty && unused.isEmpty }
}

/// A statement to find indexes for.
package struct AdvisedStatement: Sendable, Equatable {
  /// The SQL with its placeholders.
  package var sql: String
  /// The bound values of one execution, or `nil` if they're unknown, as for a log of level 1.
  package var binds: [SQLiteValue]?
  /// The same values as they were recorded.
  package var values: [String]?
  /// The arrays that the same execution binds as `_Z_intarrayN`, or `nil` if they're unknown.
  package var arrays: [ContiguousArray<Int64>]?
  /// The number of executions.
  package var count: Int
  /// The number of rows that all executions returned or changed, as far as it's recorded.
  ///
  /// It's recorded for SELECTs and batch requests. A save changes one row by each statement.
  package var rows: Int
  /// The VM steps of all executions, or `nil` if they aren't recorded.
  package var steps: Int?
  /// The name of the entity that the statement was executed for, or `nil` if it's unknown.
  package var entity: String?

  package init(
    sql: String, binds: [SQLiteValue]? = nil, count: Int, rows: Int = 0, entity: String? = nil
  ) {
    self.sql = sql
    self.binds = binds
    self.count = count
    self.rows = rows
    self.entity = entity
  }

  /// Creates a statement from a recorded one.
  package init(_ shape: StatementShape) {
    self.init(
      sql: shape.sql, binds: shape.binds?.map(BindText.value), count: shape.count,
      rows: shape.rows, entity: shape.entity)
    values = shape.binds
    arrays = shape.arrays
    steps = shape.work?.vmSteps
  }

  /// Whether the statement is a SELECT.
  package var reads: Bool { SQLOutline.verb(of: sql) == "SELECT" }

  /// Whether the statement is an UPDATE or a DELETE that finds rows by a condition on columns, as
  /// that of a batch request; a save finds a row by its primary key.
  package var searchesRowsToChange: Bool {
    let outline = SQLOutline(sql)
    guard outline.changesRows, let condition = outline.condition else { return false }
    let hasKey = SQLOutline.parts(of: condition, at: "AND").contains { part in
      part.count == 3 && part.first?.uppercased() == "Z_PK"
        && ["=", "=="].contains(part[part.startIndex + 1])
    }
    return !hasKey && TableNeeds.all(of: sql).contains(where: \.isSearch)
  }

  /// Returns the statements of several recordings, with the executions of the same SQL added up.
  package static func all(in shapes: [StatementShape]) -> [AdvisedStatement] {
    var statements: [AdvisedStatement] = []
    var positions: [String: Int] = [:]
    for shape in shapes {
      if let position = positions[shape.sql] {
        statements[position].count += shape.count
        statements[position].rows += shape.rows
        if let steps = shape.work?.vmSteps { statements[position].steps? += steps }
        if statements[position].binds == nil {
          statements[position].binds = shape.binds?.map(BindText.value)
          statements[position].values = shape.binds
          statements[position].arrays = shape.arrays
        }
      } else {
        positions[shape.sql] = statements.count
        statements.append(AdvisedStatement(shape))
      }
    }
    return statements
  }
}
