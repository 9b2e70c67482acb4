import Foundation
import ProfileEvents
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// Finds scans and sorts that an index makes cheap, as verified on a copy of the store.
///
/// It fires if statements of the work performed full scans or sorted with a temp B-tree, and an
/// index that was created on a copy of the store saved at least `leastGain` VM steps and left at
/// most a fifth of them. A statement that no index helps isn't a finding: if a program needs all
/// rows, SQLite has to read them.
enum MissingIndexRule {
  static let rule = Rule(
    .missingIndex, chapter: 8,
    meaning:
      "SQLite reads or sorts rows unnecessarily; an index avoids it, as verified on a copy of the "
      + "store.",
    condition:
      "An index created on a copy of the store saves \(NumberText.grouped(leastGain)) VM steps "
      + "of the work and leaves at most one in \(leastPart) of them.",
    remedy: "Add the fetch index to the model, or as SQL; `cdprof advise` lists its costs.",
    search: .store(findings))
  /// The minimum number of VM steps that an index saves for the work as a whole, which is about
  /// what reading a thousand rows takes.
  static let leastGain = 10_000
  /// The denominator of the maximum fraction of VM steps that are left.
  static let leastPart = 5

  /// Tries indexes for the statements whose plans suggest one, and returns findings for those that
  /// help.
  ///
  /// Cost: none if no plan suggests an index; otherwise, copies the store and runs `IndexAdvisor`
  /// on the copy.
  ///
  /// - Parameters:
  ///   - shapes: The statements of the work with their plans and work.
  ///   - storeURL: The store after the work, closed.
  static func findings(in shapes: [StatementShape], storeURL: URL) -> [Finding] {
    guard shapes.contains(where: isDoubtful),
      let advisor = try? IndexAdvisor(storeURL: storeURL)
    else { return [] }
    let advice = advisor.advice(on: AdvisedStatement.all(in: shapes))
    return advice.proposals.compactMap { finding($0, in: shapes) }
  }

  private static func finding(_ proposal: IndexProposal, in shapes: [StatementShape]) -> Finding? {
    let (before, after) = (proposal.stepsBefore, proposal.stepsAfter)
    guard before - after >= leastGain, after * leastPart <= before,
      let gain = proposal.gains.first, let entity = proposal.entity,
      let shape = shapes.first(where: { $0.sql == gain.sql })
    else { return nil }
    return Finding(
      rule: rule.name, subject: entity, count: before, callSite: shape.firstCallSite,
      what: "VM steps without an index of \(proposal.title)", sql: gain.sql,
      cure: SuggestedFix(
        swift: [proposal.modelElement.map { $0.trimmingCharacters(in: .whitespaces) }.joined()],
        advice: proposal.sql),
      tried: VerifiedFix(measure: "VM steps", before: before, after: after, variant: "on a copy"))
  }

  /// Returns whether a SELECT's plan suggests an index, and its work is large enough to copy the
  /// store.
  private static func isDoubtful(_ shape: StatementShape) -> Bool {
    let asksForIndex = shape.remarks.contains { remark in
      switch remark {
      case .fullScan, .partialScan, .tempBTree, .automaticIndex, .entityIndex: true
      case .correlatedSubquery, .multiIndexOr: false
      }
    }
    return asksForIndex && shape.kind == .select && (shape.work?.vmSteps ?? 0) >= leastGain
  }
}
