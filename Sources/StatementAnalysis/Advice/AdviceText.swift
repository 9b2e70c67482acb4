package import Foundation
import WorkbenchText

/// The text format of index advice.
package enum AdviceText {
  /// Returns the lines that describe index advice: a summary, skipped statements, proposals,
  /// redundant indexes, and unused indexes.
  package static func lines(_ advice: IndexAdvice) -> [String] {
    var lines = [
      "\(NumberText.counted(advice.statements, "statement")) read, "
        + "\(NumberText.counted(advice.testedIndexes, "index", "indexes")) tested on a copy of the store"
    ]
    for sql in advice.unmeasured {
      lines.append(
        "skipped (can't be measured on a copy of the store): \(SQLAbbreviation.short(sql))")
    }
    if advice.isEmpty {
      return lines + [
        "", "nothing to change: no tested index helps, and no existing index is redundant",
      ]
    }
    for (position, proposal) in advice.proposals.enumerated() {
      lines += [""] + self.lines(proposal, number: position + 1, in: advice.unit)
    }
    for index in advice.redundant {
      let other = index.isServedByProposal ? "the proposed \(index.servedBy)" : index.servedBy
      lines += [
        "",
        "redundant: \(index.name) (\(index.columns.joined(separator: ", "))); \(other) starts "
          + "with the same columns and serves the same searches",
      ]
    }
    for index in advice.unused {
      let room = index.bytes.map { ", \(NumberText.counted($0, "byte"))" } ?? ""
      lines += [
        "",
        "unused: \(index.name) (\(index.columns.joined(separator: ", "))\(room)); no statement "
          + "of this work uses it, but other work might",
      ]
    }
    return lines
  }

  private static func lines(
    _ proposal: IndexProposal, number: Int, in unit: AdviceUnit
  ) -> [String] {
    let partners = proposal.partners.joined(separator: ", ")
    var lines = [
      "\(number)  index \(proposal.title): "
        + "\(steps(proposal.stepsBefore, proposal.stepsAfter)) \(unit.plural), verified"
        + (partners.isEmpty ? "" : " together with \(partners)")
    ]
    for gain in proposal.gains {
      lines.append(
        "   \(NumberText.grouped(gain.count)) x  \(SQLAbbreviation.short(gain.sql))")
      lines.append("        \(steps(gain.before, gain.after)) \(unit.plural) per run")
      lines += gain.planBefore.map { "        now   \($0)" }
      lines += gain.planAfter.map { "        then  \($0)" }
    }
    lines.append("   costs  \(costs(of: proposal, in: unit).joined(separator: " · "))")
    for (position, line) in proposal.modelElement.enumerated() {
      lines.append("   \(position == 0 ? "model" : "     ")  \(line)")
    }
    return lines + ["   SQL    \(proposal.sql)"]
  }

  /// Returns what an index costs: `21 → 29 VM steps per INSERT`, `24 pages, 98,304 bytes`.
  package static func costs(
    of proposal: IndexProposal, in unit: AdviceUnit = .vmSteps
  ) -> [String] {
    var costs: [String] = []
    if let insert = proposal.insertSteps {
      costs.append("\(steps(insert.before, insert.after)) \(unit.plural) per INSERT")
    } else {
      costs.append("INSERT not measured")
    }
    if let size = proposal.size {
      costs.append(
        "\(NumberText.counted(size.pages, "page")), \(NumberText.counted(size.bytes, "byte"))")
    }
    return costs
  }

  private static func steps(_ before: Int, _ after: Int) -> String {
    "\(NumberText.grouped(before)) → \(NumberText.grouped(after))"
  }
}

/// The JSON format of index advice.
package enum AdviceJSON {
  /// The encoded form of index advice.
  package struct Document: Encodable {
    var statements: Int
    var tried: Int
    var unit: String?
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
    var vmStepsBefore: Int?
    var vmStepsAfter: Int?
    var costBefore: Int?
    var costAfter: Int?
    var insertStepsBefore: Int?
    var insertStepsAfter: Int?
    var pages: Int?
    var bytes: Int?
    var model: String
    var sql: String
    var together: [String]?
    var gains: [Gain]
  }

  struct Gain: Encodable {
    var sql: String
    var count: Int
    var vmStepsBefore: Int?
    var vmStepsAfter: Int?
    var costBefore: Int?
    var costAfter: Int?
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

  /// Returns the advice as one JSON object with sorted keys, followed by a newline.
  ///
  /// - Throws: The encoder's error, which doesn't occur in practice.
  package static func data(_ advice: IndexAdvice) throws -> Data {
    try JSONOutput.lines(document(advice))
  }

  /// Returns the advice as an encodable value, which can be part of another document.
  package static func document(_ advice: IndexAdvice) -> Document {
    Document(
      statements: advice.statements, tried: advice.testedIndexes,
      unit: advice.unit == .vmSteps ? nil : advice.unit.name, unmeasured: advice.unmeasured,
      proposals: advice.proposals.map { proposal($0, in: advice.unit) },
      redundant: advice.redundant.map {
        Redundant(
          name: $0.name, table: $0.table, columns: $0.columns, servedBy: $0.servedBy,
          servedByProposal: $0.isServedByProposal)
      },
      unused: advice.unused.map {
        Unused(name: $0.name, table: $0.table, columns: $0.columns, bytes: $0.bytes)
      })
  }

  private static func proposal(_ proposal: IndexProposal, in unit: AdviceUnit) -> Proposal {
    let isSQLite = unit == .vmSteps
    return Proposal(
      entity: proposal.entity, table: proposal.candidate.table,
      columns: proposal.candidate.parts.map { $0.column + ($0.isDescending ? " DESC" : "") },
      properties: proposal.properties,
      condition: proposal.candidate.notNull.map { "\($0) IS NOT NULL" },
      vmStepsBefore: isSQLite ? proposal.stepsBefore : nil,
      vmStepsAfter: isSQLite ? proposal.stepsAfter : nil,
      costBefore: isSQLite ? nil : proposal.stepsBefore,
      costAfter: isSQLite ? nil : proposal.stepsAfter,
      insertStepsBefore: proposal.insertSteps?.before,
      insertStepsAfter: proposal.insertSteps?.after, pages: proposal.size?.pages,
      bytes: proposal.size?.bytes, model: proposal.modelElement.joined(separator: "\n"),
      sql: proposal.sql, together: proposal.partners.isEmpty ? nil : proposal.partners,
      gains: proposal.gains.map {
        Gain(
          sql: $0.sql, count: $0.count, vmStepsBefore: isSQLite ? $0.before : nil,
          vmStepsAfter: isSQLite ? $0.after : nil, costBefore: isSQLite ? nil : $0.before,
          costAfter: isSQLite ? nil : $0.after,
          planBefore: $0.planBefore, planAfter: $0.planAfter)
      })
  }
}
