package import Foundation
import OpenCoreData
package import SQLiteDriver

/// Finds indexes for the statements of a piece of work by trying them on a copy of its store.
///
/// Ideas come from what the statements compare, sort by and read; an idea becomes a proposal only when
/// SQLite used the index on the copy and needed notably fewer VM steps for the whole work, what writing
/// the index costs included. Proposals don't overlap: each is measured with the ones
/// before it, and one that the others make superfluous goes.
///
/// The store is copied, not changed. Cost: each idea builds its index on the copy and runs the
/// statements of its table again; nothing is recorded.
package struct IndexAdvisor {
  /// VM steps that a proposal saves at least, over all the work.
  package static let leastGain = 2_000
  /// The part of their VM steps that the statements which use it save at least, as 1 of so many.
  package static let leastPart = 5
  /// Ideas tried at most; those of the costliest statements come first.
  static let mostIdeas = 60
  /// Indexes proposed at most.
  static let mostProposals = 8

  let store: ScratchStore
  let names: PropertyNames
  let present: [FileIndex]
  private let url: URL

  /// Copies a store to try indexes on.
  ///
  /// - Throws: the file system's `NSError`; `SQLiteError` when it isn't a store.
  package init(storeURL: URL) throws {
    url = storeURL
    store = try ScratchStore(copying: storeURL)
    names = PropertyNames(store.connection)
    present = try FileIndex.all(on: store.connection)
  }

  /// Cuts off the statement that is being tried; may be called from any thread.
  package var interruption: @Sendable () -> Void {
    let connection = store.connection
    return { connection.interrupt() }
  }

  /// Tries indexes for statements and says which helped.
  package func advice(on statements: [AdvisedStatement]) -> IndexAdvice {
    advice(on: statements) {}
  }

  /// Tries indexes for statements until interrupted, and returns those that helped.
  ///
  /// - Parameter goOn: asked before each index that is tried; what it throws ends the search.
  package func advice(
    on statements: [AdvisedStatement], while goOn: () throws -> Void
  ) rethrows -> IndexAdvice {
    let reading = statements.filter { $0.reads && !TableNeeds.all(of: $0.sql).isEmpty }
    var trial = IndexTrial(
      store: store, statements: reading, writes: IndexAdvisor.writes(statements))
    let unmeasured = trial.unmeasured
    let ideas = ideas(for: trial)
    let usedBefore = trial.usedIndexes
    let kept = try trial.choose(from: ideas, while: goOn)
    let proposals = kept.enumerated().map { place, candidate in
      proposal(candidate, place: place, in: trial)
    }
    let redundant = redundant(with: proposals)
    let doubtful = Set(redundant.map(\.name)).union(usedBefore).union(trial.usedIndexes)
    return IndexAdvice(
      proposals: proposals.sorted {
        $0.stepsBefore - $0.stepsAfter > $1.stepsBefore - $1.stepsAfter
      },
      redundant: redundant, unused: unused(reading, used: doubtful), statements: reading.count,
      unmeasured: unmeasured, tried: ideas.count)
  }

  /// Rows written to each table by the work.
  private static func writes(_ statements: [AdvisedStatement]) -> [String: Int] {
    statements.filter { !$0.reads }.reduce(into: [:]) { writes, statement in
      guard let table = SQLOutline(statement.sql).tables.first?.table else { return }
      writes[table.uppercased(), default: 0] += statement.count
    }
  }

  private func ideas(for trial: IndexTrial) -> [IndexCandidate] {
    var ideas: [IndexCandidate] = []
    for statement in trial.costliest {
      for needs in TableNeeds.all(of: statement.sql) {
        let compared = needs.equal + needs.ranges
        let sparse = store.sparseColumns(of: needs.table, among: compared)
        for idea in IndexCandidate.all(for: needs, sparse: sparse)
        where !ideas.contains(idea) && !present.contains(where: idea.isServed)
          && names.canDescribe(idea)
        {
          ideas.append(idea)
        }
      }
      if ideas.count >= IndexAdvisor.mostIdeas { break }
    }
    return Array(ideas.prefix(IndexAdvisor.mostIdeas))
  }

  private func proposal(
    _ candidate: IndexCandidate, place: Int, in trial: IndexTrial
  ) -> IndexProposal {
    let name = IndexTrial.name(of: place)
    let gains = trial.gains(of: name)
    let asking = gains.first.flatMap { gain in
      trial.statements.first { $0.sql == gain.sql }?.entity
    }
    let found = names.names(
      of: candidate.parts.map(\.column), in: candidate.table, preferring: asking)
    let properties = found?.properties ?? []
    let size = store.size(of: name)
    let after = store.insertSteps(into: candidate.table)
    store.drop(name)
    let before = store.insertSteps(into: candidate.table)
    _ = store.make(candidate, named: name)
    let label = names.unusedIndexName(
      IndexProposal.modelName(
        properties.isEmpty ? candidate.parts.map(\.column) : properties,
        isPartial: candidate.notNull != nil), in: found?.entity)
    var steps: (before: Int, after: Int)?
    if let before, let after { steps = (before, after) }
    return IndexProposal(
      candidate: candidate, name: "Z_\(found?.entity ?? candidate.table)_\(label)",
      modelName: label, entity: found?.entity, properties: properties, gains: gains,
      insertSteps: steps, size: size)
  }

  private func redundant(with proposals: [IndexProposal]) -> [IndexAdvice.Redundant] {
    present.enumerated().compactMap { place, index -> IndexAdvice.Redundant? in
      guard index.isExplicit, !index.isUnique, !names.isAutomatic(index) else { return nil }
      let other = present.enumerated().first { other in
        guard other.offset != place, other.element.covers(index) else { return false }
        return other.element.parts.count > index.parts.count || other.offset < place
          || names.isAutomatic(other.element) || other.element.isUnique
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
        name: index.name, table: index.table, columns: index.parts.map(\.column),
        servedBy: servedBy, isServedByProposal: other == nil)
    }
  }

  /// Indexes of tables that the work read, which none of its statements went through.
  private func unused(
    _ statements: [AdvisedStatement], used: Set<String>
  ) -> [IndexAdvice.Unused] {
    let read = Set(
      statements.flatMap { SQLOutline($0.sql).tables.map { $0.table.uppercased() } })
    return present.filter { index in
      index.isExplicit && !index.isUnique && read.contains(index.table)
        && !used.contains(index.name) && !names.isAutomatic(index)
    }.map { index in
      IndexAdvice.Unused(
        name: index.name, table: index.table, columns: index.parts.map(\.column),
        bytes: store.size(of: index.name)?.bytes)
    }
  }
}

/// What a piece of work says about the indexes of its store.
package struct IndexAdvice: Sendable {
  /// An index of the store that another one, there or proposed, makes superfluous.
  package struct Redundant: Sendable, Equatable {
    package var name: String
    package var table: String
    package var columns: [String]
    /// The index that serves the same searches.
    package var servedBy: String
    /// Whether that one is only proposed.
    package var isServedByProposal: Bool
  }

  /// An index of the store that no statement of the work used.
  package struct Unused: Sendable, Equatable {
    package var name: String
    package var table: String
    package var columns: [String]
    package var bytes: Int?
  }

  /// Indexes that helped when they were tried, the one with the greatest gain first.
  package var proposals: [IndexProposal]
  package var redundant: [Redundant]
  package var unused: [Unused]
  /// The number of statements.
  package var statements: Int
  /// Statements that could not be run on the copy, and were left out.
  package var unmeasured: [String]
  /// Indexes that were tried.
  package var tried: Int

  /// Whether there is nothing to do.
  package var isEmpty: Bool { proposals.isEmpty && redundant.isEmpty && unused.isEmpty }
}

/// A statement of the work that indexes are looked for.
package struct AdvisedStatement: Sendable, Equatable {
  /// The text with its placeholders.
  package var sql: String
  /// What one of its runs bound; nil if unknown, as for a log of level 1.
  package var binds: [SQLiteValue]?
  /// How often it ran.
  package var count: Int
  /// The entity it was run for; nil when it is not known.
  package var entity: String?

  package init(sql: String, binds: [SQLiteValue]? = nil, count: Int, entity: String? = nil) {
    self.sql = sql
    self.binds = binds
    self.count = count
    self.entity = entity
  }

  /// A recorded shape.
  package init(_ shape: StatementShape) {
    self.init(
      sql: shape.sql, binds: shape.binds?.map(BindText.value), count: shape.count,
      entity: shape.entity)
  }

  /// Whether it reads, so that an index may help it.
  package var reads: Bool {
    sql.drop(while: \.isWhitespace).prefix(7).uppercased().hasPrefix("SELECT")
  }

  /// The statements of several recordings, those of one text counted together.
  package static func all(in shapes: [StatementShape]) -> [AdvisedStatement] {
    var statements: [AdvisedStatement] = []
    var places: [String: Int] = [:]
    for shape in shapes {
      if let place = places[shape.sql] {
        statements[place].count += shape.count
        if statements[place].binds == nil {
          statements[place].binds = shape.binds?.map(BindText.value)
        }
      } else {
        places[shape.sql] = statements.count
        statements.append(AdvisedStatement(shape))
      }
    }
    return statements
  }
}
