import Foundation
import ProfileEvents
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// The rule that finds scans and sorts which an index makes cheap, and has tried it.
///
/// It fires when statements of the work read a table or an index from end to end, or sorted in a
/// temporary B-tree, and an index that was made on a copy of the store brought them down to a fifth of
/// their VM steps or less and saved at least `leastGain` of them. What no index helps isn't a finding:
/// a list that is wanted whole has to be read whole.
enum MissingIndexRule {
  static let rule = Rule(
    .missingIndex, chapter: 8,
    meaning:
      "SQLite reads or sorts rows that an index would make unnecessary, as a trial on a copy of "
      + "the store showed.",
    condition:
      "An index created on a copy of the store saves \(NumberText.grouped(leastGain)) VM steps "
      + "of the work and leaves at most one in \(leastPart) of them.",
    remedy: "Add the fetch index to the model, or as SQL; `cdprof advise` lists its costs.",
    search: .store(findings))
  /// VM steps a proposal must save for the work as a whole: about a thousand rows read in vain.
  static let leastGain = 10_000
  /// The part of the VM steps that may be left, as 1 of so many.
  static let leastPart = 5

  /// Tries indexes for the statements whose plans ask for one.
  ///
  /// Cost: nothing where none does; else a copy of the store, and what `IndexAdvisor` does on it.
  /// - Parameters:
  ///   - shapes: The statements of the work with plans and work.
  ///   - storeURL: The store as the work has left it, closed.
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

  /// Whether its plan reads or sorts more than it gives, and enough of it to be worth a copy.
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
