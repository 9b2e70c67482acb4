package import ProfileEvents
package import ScenarioLanguage
package import StatementAnalysis
package import WorkbenchText

/// One way of doing a scenario's work, and what it cost.
package struct VariantResult: Sendable {
  package var name: String
  /// One sentence for the report, from the scenario.
  package var why: String
  /// What the variant changed: `moods.values: no`.
  package var set: [String]
  /// Steps it put before the shared ones, as shell lines.
  package var first: [String]
  /// Steps it put after the shared ones, as shell lines.
  package var then: [String]
  /// Its fetch requests as Swift, line by line.
  package var requestSwift: [String]
  package var steps: [StepResult]
  /// Every metric of the catalog but `time`, over the whole variant.
  package var metrics: [Metric: Int]
  /// Those with a scope that an expectation asked for, and `peak` of each fetched entity.
  package var scopedMetrics: [ScopedMetric: Int]
  /// Time of all steps, the median when it ran several times; never a gate.
  package var nanoseconds: UInt64
  /// Processor time of all steps on the thread that ran them, the median as with `nanoseconds`; 0 where
  /// it wasn't recorded.
  package var processorNanoseconds: UInt64 = 0
  /// Time of each repeat, in the order in which they ran; empty when it ran once.
  package var repeats: [UInt64]
  package var expectations: [ExpectationResult]
  package var findings: [Finding]
  /// The names of findings that fired and that the scenario suppresses, each once.
  package var silenced: [String] = []
  package var statements: [StatementShape]
  package var tracks: [Track]
  package var events: [EventSample]
  /// Every event, for traces and lists.
  package var timeline: Timeline
  /// The call stacks that were recorded, the most frequent first; empty when none were asked for.
  package var stacks: [StackShape]
  /// Nanoseconds of `MonotonicClock` that the report's time axis counts from.
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

  /// Sets everything that a recording provides: metrics, time, statements, tracks, events.
  ///
  /// Plans are not part of a recording; add them with `StatementShape.explained(by:)`.
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

  /// Takes over the times of several runs of the same work; counts stay those of one.
  package mutating func take(repeats: [UInt64]) {
    self.repeats = repeats
    if let spread = TimeSpread(repeats) { nanoseconds = spread.median }
  }

  /// The times of its repeats, or its one time.
  package var spread: TimeSpread {
    TimeSpread(repeats) ?? TimeSpread(once: nanoseconds)
  }

  /// Whether every expectation was met.
  package var holds: Bool { expectations.allSatisfy(\.holds) }
}

extension VariantResult {
  /// The first of several runs of the same variant, with the times of all of them.
  ///
  /// A metric that differed from run to run is a missed expectation. `nanoseconds` is the median.
  /// - Parameters:
  ///   - results: at least one.
  ///   - path: the scenario file, for the locations of unmet expectations.
  ///   - line: the variant's.
  init(repeated results: [VariantResult], in path: String, line: Int) {
    self = results[0]
    guard results.count > 1 else { return }
    take(repeats: results.map(\.nanoseconds))
    if let processor = TimeSpread(results.map(\.processorNanoseconds)) {
      processorNanoseconds = processor.median
    }
    for metric in Metric.allCases where metric.isExact {
      let values = results.map { $0.metrics[metric] ?? 0 }
      guard let first = values.first, values.contains(where: { $0 != first }) else { continue }
      expectations.append(
        ExpectationResult(
          metric: metric.rawValue, law: "the same in each of \(values.count) runs",
          relation: .equal, expected: .number(first),
          found: .text(values.map(NumberText.grouped).joined(separator: ", ")), holds: false,
          source: .ours, location: CallSite(file: path, line: line)))
    }
  }
}

/// One step of a variant as it ran.
package struct StepResult: Sendable, Equatable {
  /// The step as one shell line, with the variant's changes.
  package var text: String
  package var name: String?
  package var location: CallSite
  /// What it did: `moods: 5,000 Mood, all faults`.
  package var summary: String
  package var costs: Costs
  /// Nanoseconds from the beginning of the variant.
  package var offset: UInt64
  /// The step without what is expected of it; nil when the step isn't a fetch.
  package var fetch: Step?
  /// What the step caused, alike events together.
  package var groups: [EventGroup]

  package init(
    text: String, name: String? = nil, location: CallSite, summary: String, costs: Costs,
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
