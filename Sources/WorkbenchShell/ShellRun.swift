import ProfileEvents
import Profiling
import ScenarioLanguage

/// Everything typed between two resets: what ran, and what it cost.
///
/// Each step adds its own part, so that the next one costs the same however long the run is.
struct ShellRun {
  /// Counted from 1.
  let number: Int
  /// The steps that ran, in order; one that failed is marked to fail with its code.
  var steps: [Step] = []
  /// What the rules of single steps found, step by step.
  private(set) var findings: [Finding] = []
  /// Whether a step was stopped in the middle, so that nothing can do the same again.
  var wasInterrupted = false
  /// Counts and time of all steps.
  private(set) var costs = Costs()
  /// Sums of the metrics that no counter has, such as `scanned`.
  private(set) var uncounted: [Metric: Int] = [:]
  /// What the steps did, numbered over the whole run.
  private(set) var groups: [EventGroup] = []
  /// Which of the groups are those of the last step.
  private(set) var lastGroups = 0..<0
  /// The steps as they ran, one that was stopped included.
  private(set) var results: [StepResult] = []
  /// All that a report contains of it; made when the run is over or a report is written.
  var result: VariantResult?
  private var begin: UInt64?

  init(number: Int) {
    self.number = number
  }

  var name: String { "run \(number)" }

  /// Whether nothing has run.
  var isEmpty: Bool { steps.isEmpty && !wasInterrupted }

  /// Adds what one step did.
  ///
  /// - Parameter slice: the step's part of the recording.
  mutating func add(_ step: Step, summary: String, _ slice: Recording, _ recorded: RecordedStep) {
    let costs = slice.costs
    let first = groups.count
    groups += slice.groups.map { group in
      var group = group
      group.number += first
      return group
    }
    lastGroups = first..<groups.count
    self.costs.counters = self.costs.counters + costs.counters
    self.costs.nanoseconds += costs.nanoseconds
    for metric in [Metric.scanned, .sorts, .calls, .vmsteps, .pageins, .pageouts] {
      uncounted[metric, default: 0] += slice.value(of: metric)
    }
    let start = begin ?? recorded.begin
    begin = start
    results.append(
      StepResult(
        text: step.text, name: step.name, location: step.location, summary: summary, costs: costs,
        offset: recorded.begin - start, fetch: step.fetch, groups: Array(groups[lastGroups])))
  }

  /// Adds what the rules found in a step.
  mutating func add(_ found: [Finding]) {
    findings += found
  }
}
