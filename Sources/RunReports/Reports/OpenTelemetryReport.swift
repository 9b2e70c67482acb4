import Foundation
import ProfileEvents
import RunResults
import WorkbenchText

/// A result as spans of OpenTelemetry, in the JSON encoding of OTLP, which the file receiver of a
/// collector reads.
///
/// Each variant is a trace. Its root span has the counts of the variant, and fails if an
/// expectation isn't met; steps are its children, and events are the children of what encloses
/// them. Statements have the attributes that OpenTelemetry specifies for databases. A result
/// contains no date, so the spans begin at the time of the report. The report doesn't contain bound
/// values or the paths of stores.
enum OpenTelemetryReport {
  /// Returns a request to export the spans, on one line.
  ///
  /// - Parameters:
  ///   - result: The result.
  ///   - date: The time at which all variants begin.
  static func data(_ result: RunResult, at date: Date = Date()) -> Data {
    var random = SystemRandomNumberGenerator()
    return data(result, at: date, using: &random)
  }

  /// Returns the spans with identifiers from a random number generator.
  static func data(
    _ result: RunResult, at date: Date, using random: inout some RandomNumberGenerator
  ) -> Data {
    let origin = UInt64(max(0, date.timeIntervalSince1970) * 1e6) * 1_000
    let traces = result.variants.map { variant in
      SpanWriter(variant, of: result, origin: origin, using: &random)
    }
    var resource = SpanAttributes()
    // `OutputFile` recognizes the file by the first attribute.
    resource.add("service.name", "cdprof")
    resource.add("service.version", result.environment.cdprof)
    resource.add("cdprof.scenario", result.scenario)
    resource.add("cdprof.file", result.file)
    resource.add("cdprof.seed", String(result.seed))
    resource.add("cdprof.scale", result.scale)
    resource.add("cdprof.build", result.environment.build)
    resource.add("cdprof.jobs", result.environment.jobs)
    var attributes = JSONFields()
    attributes.add("attributes", resource.list)
    var scope = JSONFields()
    scope.add("name", "cdprof")
    scope.add("version", result.environment.cdprof)
    var scoped = JSONFields()
    scoped.add("scope", scope)
    scoped.add("spans", traces.flatMap(\.spans))
    var resourceSpans = JSONFields()
    resourceSpans.add("resource", attributes)
    resourceSpans.add("scopeSpans", [scoped])
    var request = JSONFields()
    request.add("resourceSpans", [resourceSpans])
    return Data((request.object + "\n").utf8)
  }
}

/// The attributes of a span or a resource.
private struct SpanAttributes {
  private(set) var list: [JSONFields] = []

  mutating func add(_ key: String, _ text: String?) {
    guard let text else { return }
    var value = JSONFields()
    value.add("stringValue", text)
    add(key, value)
  }

  /// Adds a number, which the encoding writes as a string.
  mutating func add(_ key: String, _ number: Int?) {
    guard let number else { return }
    var value = JSONFields()
    value.add("intValue", String(number))
    add(key, value)
  }

  private mutating func add(_ key: String, _ value: JSONFields) {
    var fields = JSONFields()
    fields.add("key", key)
    fields.add("value", value)
    list.append(fields)
  }

  mutating func add(_ site: CallSite?) {
    add("code.file.path", site?.file)
    add("code.line.number", site?.line)
  }
}

/// The spans of a variant.
private struct SpanWriter {
  /// The kinds of a span in the encoding.
  private enum Kind: Int {
    case `internal` = 1
    case client = 3
  }

  /// A step or an event that can enclose others.
  private struct Open {
    var id: String
    var end: UInt64
    var context: String?
  }

  /// The number of steps and events, the last ones, among which the parent of an event is found.
  ///
  /// A file could contain many that overlap without enclosing each other.
  private static let searchDepth = 100

  private(set) var spans: [JSONFields] = []
  private let trace: String
  private let origin: UInt64
  private let system: String
  private var lastID: UInt64

  init(
    _ variant: VariantResult, of result: RunResult, origin: UInt64,
    using random: inout some RandomNumberGenerator
  ) {
    self.origin = origin
    trace = SpanWriter.hexadecimal(random.next() | 1) + SpanWriter.hexadecimal(random.next())
    lastID = random.next()
    system = result.engine?.name.lowercased() ?? "sqlite"
    let events = variant.timeline.events
    let ends = variant.steps.map { $0.offset + $0.costs.nanoseconds } + events.map(\.mark.end)
    let root = add(
      variant.name, .internal, in: nil, from: 0, to: ends.max() ?? 0, attributes(of: variant),
      error: variant.passes ? nil : "an expectation isn't met")
    var open: [Open] = []
    var steps = variant.steps[...]
    for (lane, mark) in events {
      while let step = steps.first, step.offset <= mark.begin {
        open.append(add(step, in: root))
        steps.removeFirst()
      }
      while let last = open.last, last.end <= mark.begin { open.removeLast() }
      let parent = open.suffix(SpanWriter.searchDepth).last {
        $0.end >= mark.end
          && ($0.context == nil || lane.context == nil || $0.context == lane.context)
      }
      let isStatement = lane.kind == .statement
      let id = add(
        lane.title, isStatement ? .client : .internal, in: parent?.id ?? root, from: mark.begin,
        to: mark.end, attributes(of: lane, mark))
      open.append(Open(id: id, end: mark.end, context: lane.context))
    }
    for step in steps { _ = add(step, in: root) }
  }

  private mutating func add(_ step: StepResult, in root: String) -> Open {
    var attributes = SpanAttributes()
    attributes.add("cdprof.summary", step.summary)
    attributes.add(step.location)
    let end = step.offset + step.costs.nanoseconds
    let id = add(step.text, .internal, in: root, from: step.offset, to: end, attributes)
    return Open(id: id, end: end)
  }

  /// Adds a span and returns its identifier.
  private mutating func add(
    _ name: String, _ kind: Kind, in parent: String?, from begin: UInt64, to end: UInt64,
    _ attributes: SpanAttributes, error: String? = nil
  ) -> String {
    lastID &+= 1
    // An identifier of zeros is invalid.
    if lastID == 0 { lastID = 1 }
    let id = SpanWriter.hexadecimal(lastID)
    var fields = JSONFields()
    fields.add("traceId", trace)
    fields.add("spanId", id)
    fields.add("parentSpanId", parent)
    fields.add("name", name)
    fields.add("kind", kind.rawValue)
    fields.add("startTimeUnixNano", String(origin + begin))
    fields.add("endTimeUnixNano", String(origin + end))
    fields.add("attributes", attributes.list)
    if let error {
      var status = JSONFields()
      status.add("code", 2)
      status.add("message", error)
      fields.add("status", status)
    }
    spans.append(fields)
    return id
  }

  private func attributes(of variant: VariantResult) -> SpanAttributes {
    var attributes = SpanAttributes()
    for metric in Metric.allCases where metric.isExact {
      attributes.add("cdprof.\(metric.rawValue)", variant.metrics[metric])
    }
    let left = variant.timeline.leftOut
    attributes.add("cdprof.events.left_out", left == 0 ? nil : left)
    return attributes
  }

  private func attributes(of lane: Timeline.Lane, _ mark: Timeline.Mark) -> SpanAttributes {
    var attributes = SpanAttributes()
    if lane.kind == .statement {
      attributes.add("db.system.name", system)
      attributes.add("db.operation.name", lane.verb)
      attributes.add("db.query.text", lane.sql)
      attributes.add("db.response.returned_rows", lane.statement == .select ? mark.rows : nil)
    } else {
      attributes.add("coredata.kind", lane.kind.rawValue)
      attributes.add("coredata.rows", mark.rows)
    }
    attributes.add("coredata.entity", lane.entity)
    attributes.add("coredata.relationship", lane.relationship)
    attributes.add("coredata.object", lane.uri(of: mark))
    attributes.add("coredata.source", lane.source?.rawValue)
    attributes.add("coredata.context", lane.context)
    attributes.add(lane.callSite)
    return attributes
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
