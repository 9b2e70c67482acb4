package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis
package import WorkbenchText

/// The result of a variant: one way of doing a scenario's work, and its cost.
package struct VariantResult: Sendable {
  package var name: String
  /// The scenario's explanation of the variant, as one sentence.
  package var why: String
  /// What Core Data does on Apple platforms where an expectation's source is `ours`; empty if that
  /// wasn't checked.
  package var apple = ""
  /// The options that the variant changes: `moods.values: no`.
  package var set: [String]
  /// The steps that the variant adds before the shared ones, as shell lines.
  package var first: [String]
  /// The steps that the variant adds after the shared ones, as shell lines.
  package var then: [String]
  /// The lines of the fetch requests as Swift code.
  package var requestSwift: [String]
  package var steps: [StepResult]
  /// The values of all metrics except `time`, for the whole variant.
  package var metrics: [Metric: Int]
  /// The values of the scoped metrics that expectations use, and `peak` of each fetched entity.
  package var scopedMetrics: [ScopedMetric: Int]
  /// The duration of all steps, or the median of several iterations; it never fails a run.
  package var nanoseconds: UInt64
  /// The processor time of all steps on the thread that ran them, or the median of several
  /// iterations; 0 if it wasn't recorded.
  package var processorNanoseconds: UInt64 = 0
  /// The duration of each iteration, in order; empty if there was only one.
  package var repeats: [UInt64]
  package var expectations: [ExpectationResult]
  package var findings: [Finding]
  /// The distinct names of the findings that fired but are suppressed by the scenario.
  package var silenced: [String] = []
  package var statements: [StatementShape]
  package var tracks: [Track]
  package var events: [EventSample]
  /// The timeline of events, for traces and lists.
  package var timeline: Timeline
  /// The recorded call stacks, most frequent first; empty if none were requested.
  package var stacks: [StackShape]
  /// What the variant read and left in the store; `nil` if it wasn't recorded.
  package var work: VariantWork?
  /// The time of `MonotonicClock`, in nanoseconds, at which the report's timeline starts.
  package var begin: UInt64

  package init(name: String, why: String = "") {
    self.name = name
    self.why = why
    self.set = []
    self.first = []
    self.then = []
    self.requestSwift = []
    self.steps = []
    self.metrics = [:]
    self.scopedMetrics = [:]
    self.nanoseconds = 0
    self.repeats = []
    self.expectations = []
    self.findings = []
    self.statements = []
    self.tracks = []
    self.events = []
    self.timeline = Timeline()
    self.stacks = []
    self.begin = 0
  }

  /// Sets the properties that a recording provides: metrics, times, statements, tracks, and events.
  ///
  /// A recording doesn't contain query plans; add them with `StatementShape.explained(by:)`.
  package mutating func take(_ recording: Recording) {
    metrics = recording.metrics
    scopedMetrics.merge(recording.gauges.filter { $0.key.scope != .all }) { $1 }
    nanoseconds = recording.nanoseconds
    processorNanoseconds = recording.steps.reduce(0) { $0 + $1.processor }
    statements = recording.statementShapes
    tracks = recording.tracks()
    events = recording.samples()
    timeline = recording.timeline()
    stacks = recording.stackShapes()
    begin = recording.begin
  }

  /// Sets the durations of several iterations, and the median as the variant's time; counts don't
  /// change.
  package mutating func take(repeats: [UInt64]) {
    self.repeats = repeats
    if let spread = TimeSpread(repeats) { nanoseconds = spread.median }
  }

  /// The range of the iterations' durations, or the single duration.
  package var spread: TimeSpread {
    TimeSpread(repeats) ?? TimeSpread(once: nanoseconds)
  }

  /// Whether all expectations are met.
  package var passes: Bool { !expectations.contains(where: \.isUnmet) }
}

extension VariantResult {
  /// Returns the value of a metric, or `nil` if it wasn't measured.
  ///
  /// A variant that migrated no store has none of the metrics of migrations, so these are 0.
  package func value(of metric: ScopedMetric) -> Int? {
    guard metric.scope == .all else { return scopedMetrics[metric] }
    return metrics[metric.metric] ?? (metric.metric.isOfMigration ? 0 : nil)
  }

  /// Creates the result of a variant from several iterations.
  ///
  /// It's the result of the first iteration with the durations of all of them; `nanoseconds` is the
  /// median. An expectation must be met in each iteration; otherwise, its result is that of the
  /// first iteration in which it isn't. A metric whose value differs between iterations, also in a
  /// scope, becomes an expectation that isn't met.
  ///
  /// - Parameters:
  ///   - results: The results of the iterations, at least one.
  ///   - path: The scenario file, for the locations of unmet expectations.
  ///   - line: The line of the variant.
  package init(repeated results: [VariantResult], in path: String, line: Int) {
    self = results[0]
    guard results.count > 1 else { return }
    take(repeats: results.map(\.nanoseconds))
    if let processor = TimeSpread(results.map(\.processorNanoseconds)) {
      processorNanoseconds = processor.median
    }
    expectations = Self.expectations(of: results)
    let location = CallSite(file: path, line: line)
    for metric in Metric.allCases where metric.isExact {
      require(
        metric.rawValue, equalIn: results.map { $0.metrics[metric] ?? 0 }, at: location)
    }
    let scoped = Set(results.flatMap(\.scopedMetrics.keys)).filter { $0.metric.isExact }
    for metric in scoped.sorted(by: { $0.description < $1.description }) {
      require(
        metric.description, equalIn: results.map { $0.scopedMetrics[metric] ?? 0 }, at: location)
    }
  }

  /// Adds an unmet expectation if the values of a metric differ between iterations.
  private mutating func require(_ metric: String, equalIn values: [Int], at location: CallSite) {
    guard let first = values.first, values.contains(where: { $0 != first }) else { return }
    expectations.append(
      ExpectationResult(
        metric: metric, formula: "the same in each of \(values.count) runs",
        relation: .equal, expected: .number(first),
        actual: .text(values.map(NumberText.grouped).joined(separator: ", ")), isMet: false,
        source: .ours, location: location))
  }

  /// Returns the expectations of the first iteration, with the results of those that aren't met in
  /// a later one.
  private static func expectations(of iterations: [VariantResult]) -> [ExpectationResult] {
    var merged = iterations[0].expectations
    var positions: [RepeatedExpectation: Int] = [:]
    for (position, key) in RepeatedExpectation.keys(of: merged).enumerated() {
      positions[key] = position
    }
    for (index, iteration) in iterations.enumerated().dropFirst() {
      let keys = RepeatedExpectation.keys(of: iteration.expectations)
      for (key, result) in zip(keys, iteration.expectations) where result.isUnmet {
        if let position = positions[key], merged[position].isUnmet { continue }
        var unmet = result
        unmet.differences.insert("not met in run \(index + 1) of \(iterations.count)", at: 0)
        if let position = positions[key] {
          merged[position] = unmet
        } else {
          // Findings that no block lists have a result only if they fire.
          positions[key] = merged.count
          merged.append(unmet)
        }
      }
    }
    return merged
  }
}

/// Identifies an expectation in the results of several iterations.
private struct RepeatedExpectation: Hashable {
  let metric: String
  let formula: String
  let location: CallSite
  /// The number of earlier results that are equal otherwise, as of a repeated step.
  var earlier = 0

  /// Returns the keys of the expectations of one iteration, in order.
  static func keys(of expectations: [ExpectationResult]) -> [RepeatedExpectation] {
    var counts: [RepeatedExpectation: Int] = [:]
    return expectations.map { result in
      var key = RepeatedExpectation(
        metric: result.metric, formula: result.formula, location: result.location)
      let earlier = counts[key, default: 0]
      counts[key] = earlier + 1
      key.earlier = earlier
      return key
    }
  }
}

/// The result of one step of a variant.
package struct StepResult: Sendable, Equatable {
  /// The step as one shell line, with the variant's changes.
  package var text: String
  package var name: String?
  package var location: CallSite
  /// A summary of the result: `moods: 5,000 Mood, all faults`.
  package var summary: String
  package var costs: TimedCosts
  /// The start, in nanoseconds from the beginning of the variant.
  package var offset: UInt64
  /// The step without its expectations, or `nil` if it isn't a fetch.
  package var fetch: Step?
  /// The groups of events that the step caused.
  package var groups: [EventGroup]

  package init(
    text: String, name: String? = nil, location: CallSite, summary: String, costs: TimedCosts,
    offset: UInt64 = 0, fetch: Step? = nil, groups: [EventGroup] = []
  ) {
    self.text = text
    self.name = name
    self.location = location
    self.summary = summary
    self.costs = costs
    self.offset = offset
    self.fetch = fetch
    self.groups = groups
  }
}
