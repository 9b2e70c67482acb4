package import Foundation
package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis

/// A rule that finds work which costs more than it should: its name, its texts, and its search.
///
/// Each rule is a `static let` of an enumeration in a file of its own, next to its thresholds.
package struct Rule: Sendable {
  /// How a rule finds something.
  package enum Search: Sendable {
    /// In the events of one step, as soon as it is over.
    case step(@Sendable (Recording, StepContext) -> [Finding])
    /// In all steps, when the work is over.
    case work(@Sendable (FinishedWork) -> [Finding])
    /// In the statements of the work and a store that may be copied, when the work is over.
    case store(@Sendable ([StatementShape], URL) -> [Finding])
  }

  package let name: RuleName
  /// The chapter of the book that explains it.
  package let chapter: Int
  /// What it means when it fires, in a sentence.
  package let meaning: String
  /// When it fires, with the numbers.
  package let condition: String
  /// What to do, in words; a finding has it as code.
  package let remedy: String
  /// The metrics that count the events of a finding, so that it explains their surplus.
  package let metrics: Set<Metric>
  package let search: Search

  init(
    _ name: RuleName, chapter: Int, meaning: String, condition: String, remedy: String,
    metrics: Set<Metric> = [], search: Search
  ) {
    self.name = name
    self.chapter = chapter
    self.meaning = meaning
    self.condition = condition
    self.remedy = remedy
    self.metrics = metrics
    self.search = search
  }

  /// All rules, in the order in which they search.
  package static let all: [Rule] = [
    FaultStormRule.rule, CountPerRowRule.rule, IneffectivePrefetchRule.rule, BatchWalkedRule.rule,
    SortedInMemoryRule.rule, UnusedPrefetchRule.rule, FetchToCountRule.rule, FetchLoopRule.rule,
    PartlyReadRule.rule, ChattySavesRule.rule, UnmergedBatchRule.rule, LostChangesRule.rule,
    NeedlessUpdateRule.rule, RetainedObjectsRule.rule, BusyMainQueueRule.rule,
    MissingIndexRule.rule,
  ]

  /// The rule with a name; nil for one that isn't in `all`.
  package static func named(_ name: RuleName) -> Rule? {
    all.first { $0.name == name }
  }
}
