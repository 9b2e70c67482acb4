import ProfileEvents
import Profiling
import ScenarioLanguage

/// The steps between two resets, with their costs.
///
/// Each step adds only its own part, so its cost doesn't depend on the length of the run.
struct ShellRun {
  /// The number of the run, starting at 1.
  let number: Int
  /// The executed steps, in order; a step that failed is marked to fail with its code.
  var steps: [Step] = []
  /// The findings of the rules for single steps, in the order of the steps.
  private(set) var findings: [Finding] = []
  /// A Boolean value that indicates whether a step was interrupted, so that the run can't be
  /// repeated.
  var wasInterrupted = false
  /// The counts and the time of all steps.
  private(set) var costs = Costs()
  /// The sums of the metrics that aren't counters, such as `scanned`.
  private(set) var uncounted: [Metric: Int] = [:]
  /// The groups of events, numbered across the run.
  private(set) var groups: [EventGroup] = []
  /// The range of the groups of the last step.
  private(set) var lastGroups = 0..<0
  /// The results of the steps, including failed and interrupted ones.
  private(set) var results: [StepResult] = []
  /// The result for a report; created when the run ends or a report is written.
  var result: VariantResult?
  private var begin: UInt64?

  init(number: Int) {
    self.number = number
  }

  var name: String { "run \(number)" }

  /// A Boolean value that indicates whether no step has run.
  var isEmpty: Bool { steps.isEmpty && !wasInterrupted }

  /// Adds the costs and events of a step.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - summary: The step's result in words.
  ///   - slice: The step's part of the recording.
  ///   - recorded: The range of the step in the recording.
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

  /// Adds the findings of a step.
  mutating func add(_ found: [Finding]) {
    findings += found
  }
}
