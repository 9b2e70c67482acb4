package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis

/// A rule that finds work that costs more than it should.
///
/// Each rule is a `static let` in an enumeration, which also contains its thresholds.
package struct Rule: Sendable {
  /// The scope of a rule's search, with the search function.
  package enum Search: Sendable {
    /// Searches the events of one step when it ends.
    case step(@Sendable (Recording, StepContext) -> [Finding])
    /// Searches all steps after the last one.
    case work(@Sendable (FinishedWork) -> [Finding])
    /// Searches the statements of the work, and can try indexes on a copy of the store, after the
    /// last step.
    case store(@Sendable ([StatementShape], () throws -> IndexAdvisor) -> [Finding])
  }

  package let name: RuleName
  /// The chapter of the book that explains the problem.
  package let chapter: Int
  /// The meaning of a finding, as a sentence.
  package let meaning: String
  /// The conditions under which the rule fires, with its thresholds.
  package let condition: String
  /// The fix in words; a finding contains it as code.
  package let remedy: String
  /// The metrics that count the events of a finding, whose surplus the finding explains.
  package let metrics: Set<Metric>
  /// Whether the count of a finding is that of a single result, save, or merge.
  ///
  /// Then the counts of repetitions don't add up, and the greatest one is reported.
  package let countsOne: Bool
  package let search: Search

  init(
    _ name: RuleName, chapter: Int, meaning: String, condition: String, remedy: String,
    metrics: Set<Metric> = [], countsOne: Bool = false, search: Search
  ) {
    self.name = name
    self.chapter = chapter
    self.meaning = meaning
    self.condition = condition
    self.remedy = remedy
    self.metrics = metrics
    self.countsOne = countsOne
    self.search = search
  }

  /// All rules, in the order in which they search.
  package static let all: [Rule] = [
    FaultStormRule.rule, CountPerRowRule.rule, IneffectivePrefetchRule.rule, BatchWalkedRule.rule,
    SortedInMemoryRule.rule, UnusedPrefetchRule.rule, FetchToCountRule.rule, FetchLoopRule.rule,
    PartlyReadRule.rule, ChattySavesRule.rule, UnmergedBatchRule.rule, LostChangesRule.rule,
    NeedlessUpdateRule.rule, RetainedObjectsRule.rule, BusyMainQueueRule.rule,
    MissingIndexRule.rule, InferableMappingRule.rule, SeveralHopsRule.rule, FilledDefaultRule.rule,
    IndexWithoutModifierRule.rule, DeferrableCopyRule.rule, RewrittenTwiceRule.rule,
  ]

  /// Returns the rule with a name, or `nil` if it isn't in `all`.
  package static func named(_ name: RuleName) -> Rule? {
    all.first { $0.name == name }
  }
}
