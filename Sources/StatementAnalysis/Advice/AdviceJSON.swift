package import Foundation
import WorkbenchText

/// Advice on indexes for machines.
package enum AdviceJSON {
  /// The advice as it is encoded.
  package struct Document: Encodable {
    var statements: Int
    var tried: Int
    var unmeasured: [String]
    var proposals: [Proposal]
    var redundant: [Redundant]
    var unused: [Unused]
  }

  struct Proposal: Encodable {
    var entity: String?
    var table: String
    var columns: [String]
    var properties: [String]
    var condition: String?
    var vmStepsBefore: Int
    var vmStepsAfter: Int
    var insertStepsBefore: Int?
    var insertStepsAfter: Int?
    var pages: Int?
    var bytes: Int?
    var model: String
    var sql: String
    var gains: [Gain]
  }

  struct Gain: Encodable {
    var sql: String
    var count: Int
    var vmStepsBefore: Int
    var vmStepsAfter: Int
    var planBefore: [String]
    var planAfter: [String]
  }

  struct Redundant: Encodable {
    var name: String
    var table: String
    var columns: [String]
    var servedBy: String
    var servedByProposal: Bool
  }

  struct Unused: Encodable {
    var name: String
    var table: String
    var columns: [String]
    var bytes: Int?
  }

  /// One object with sorted keys, and an end of line.
  ///
  /// - Throws: never in practice; the encoder's error.
  package static func data(_ advice: IndexAdvice) throws -> Data {
    try JSONOutput.lines(document(advice))
  }

  /// The object, to be part of another one.
  package static func document(_ advice: IndexAdvice) -> Document {
    Document(
      statements: advice.statements, tried: advice.tried, unmeasured: advice.unmeasured,
      proposals: advice.proposals.map(proposal),
      redundant: advice.redundant.map {
        Redundant(
          name: $0.name, table: $0.table, columns: $0.columns, servedBy: $0.servedBy,
          servedByProposal: $0.isServedByProposal)
      },
      unused: advice.unused.map {
        Unused(name: $0.name, table: $0.table, columns: $0.columns, bytes: $0.bytes)
      })
  }

  private static func proposal(_ proposal: IndexProposal) -> Proposal {
    Proposal(
      entity: proposal.entity, table: proposal.candidate.table,
      columns: proposal.candidate.parts.map { $0.column + ($0.isDescending ? " DESC" : "") },
      properties: proposal.properties,
      condition: proposal.candidate.notNull.map { "\($0) IS NOT NULL" },
      vmStepsBefore: proposal.stepsBefore, vmStepsAfter: proposal.stepsAfter,
      insertStepsBefore: proposal.insertSteps?.before,
      insertStepsAfter: proposal.insertSteps?.after, pages: proposal.size?.pages,
      bytes: proposal.size?.bytes, model: proposal.modelElement.joined(separator: "\n"),
      sql: proposal.sql,
      gains: proposal.gains.map {
        Gain(
          sql: $0.sql, count: $0.count, vmStepsBefore: $0.before, vmStepsAfter: $0.after,
          planBefore: $0.planBefore, planAfter: $0.planAfter)
      })
  }
}
