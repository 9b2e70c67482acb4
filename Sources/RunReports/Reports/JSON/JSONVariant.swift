import ProfileEvents
import Profiling

/// One variant in the JSON file; its property names are the file's keys.
struct JSONVariant: Codable {
  var name: String
  var why: String
  /// For readers of the file; computed from the expectations when it is read back.
  var holds: Bool
  var set: [String]
  var first: [String]
  var then: [String]
  var request: [String]
  var metrics: JSONMetrics
  var nanoseconds: UInt64
  /// Nil in results of before it was looked at.
  var processorNanoseconds: UInt64?
  var repeats: [UInt64]?
  var steps: [JSONStep]
  var expectations: [JSONExpectation]
  var findings: [JSONFinding]
  /// Nil where nothing was suppressed.
  var silenced: [String]?
  var statements: [JSONStatement]
  var tracks: [JSONTrack]
  var events: [JSONEvents]
  var timeline: JSONTimeline?
  var stacks: [JSONStack]?

  init(_ result: VariantResult) {
    name = result.name
    why = result.why
    holds = result.holds
    set = result.set
    first = result.first
    then = result.then
    request = result.requestSwift
    metrics = JSONMetrics(result.metrics, result.scopedMetrics)
    nanoseconds = result.nanoseconds
    processorNanoseconds = result.processorNanoseconds
    repeats = result.repeats.nonEmpty
    steps = result.steps.map(JSONStep.init)
    expectations = result.expectations.map(JSONExpectation.init)
    findings = result.findings.map(JSONFinding.init)
    silenced = result.silenced.nonEmpty
    statements = result.statements.map(JSONStatement.init)
    tracks = result.tracks.map(JSONTrack.init)
    events = result.events.map { JSONEvents($0, begin: result.begin) }
    timeline =
      result.timeline.lanes.isEmpty
      ? nil : JSONTimeline(result.timeline, statements: result.statements)
    stacks = result.stacks.map(JSONStack.init).nonEmpty
  }

  /// What was written; its times count from 0.
  var result: VariantResult {
    var result = VariantResult(name: name, why: why)
    result.set = set
    result.first = first
    result.then = then
    result.requestSwift = request
    result.metrics = metrics.plain
    result.scopedMetrics = metrics.scoped
    result.nanoseconds = nanoseconds
    result.processorNanoseconds = processorNanoseconds ?? 0
    result.repeats = repeats ?? []
    result.steps = steps.map(\.result)
    result.expectations = expectations.map(\.result)
    result.findings = findings.map(\.finding)
    result.silenced = silenced ?? []
    result.statements = statements.map(\.shape)
    result.tracks = tracks.map(\.track)
    result.events = events.map(\.sample)
    result.timeline = timeline?.timeline(statements: result.statements) ?? Timeline()
    result.stacks = (stacks ?? []).map(\.stack)
    return result
  }
}
