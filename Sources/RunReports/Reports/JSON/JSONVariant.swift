import ProfileEvents
import RunResults
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// A variant in the JSON file; its property names are the file's keys.
struct JSONVariant: Codable {
  var name: String
  var why: String
  /// What Core Data does on Apple platforms; missing if the scenario doesn't state it.
  var apple: String?
  /// For readers of the file; ignored when the file is read, and computed from the expectations.
  var holds: Bool
  var set: [String]
  var first: [String]
  var then: [String]
  var request: [String]
  var metrics: JSONMetrics
  var nanoseconds: UInt64
  /// The CPU time; `nil` in results of versions that didn't record it.
  var processorNanoseconds: UInt64?
  var repeats: [UInt64]?
  var steps: [JSONStep]
  var expectations: [JSONExpectation]
  var findings: [JSONFinding]
  /// The suppressed findings; `nil` if there are none.
  var silenced: [String]?
  var statements: [JSONStatement]
  var tracks: [JSONTrack]
  var events: [JSONEvents]
  var timeline: JSONTimeline?
  var stacks: [StackShape]?

  init(_ result: VariantResult) {
    name = result.name
    why = result.why
    apple = result.apple.nonEmpty
    holds = result.passes
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
    stacks = result.stacks.nonEmpty
  }

  /// The decoded result; its times count from 0.
  var result: VariantResult {
    var result = VariantResult(name: name, why: why)
    result.apple = apple ?? ""
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
    result.stacks = stacks ?? []
    return result
  }
}

/// The numbers of an additional scale in the JSON file; its property names are the file's keys.
struct JSONScale: Codable {
  struct Variant: Codable {
    var name: String
    var metrics: JSONMetrics
    var nanoseconds: UInt64
    var repeats: [UInt64]?
    var expectations: [JSONExpectation]
  }

  var scale: Int
  var data: [EntityCount]
  var variants: [Variant]

  init(_ run: ScaledRun) {
    scale = run.scale
    data = run.data
    variants = run.variants.map { variant in
      Variant(
        name: variant.name, metrics: JSONMetrics(variant.metrics, variant.scopedMetrics),
        nanoseconds: variant.nanoseconds, repeats: variant.repeats.nonEmpty,
        expectations: variant.expectations.map(JSONExpectation.init))
    }
  }

  /// The decoded numbers.
  var run: ScaledRun {
    ScaledRun(
      scale: scale, data: data,
      variants: variants.map { variant in
        ScaledRun.Variant(
          name: variant.name, metrics: variant.metrics.plain, scopedMetrics: variant.metrics.scoped,
          nanoseconds: variant.nanoseconds, repeats: variant.repeats ?? [],
          expectations: variant.expectations.map(\.result))
      })
  }
}

extension Array {
  /// The array, or `nil` if it's empty, so that its key is omitted.
  var nonEmpty: [Element]? { isEmpty ? nil : self }
}

/// An executed step in the JSON file; its property names are the file's keys.
struct JSONStep: Codable {
  var text: String
  var name: String?
  var location: JSONLocation
  var summary: String
  /// For readers of the file, like `rows` to `misses`; `counters` contains all of them.
  var selects: Int
  var rows: Int
  var faults: Int
  var hits: Int
  var misses: Int
  var counters: JSONCounters
  var nanoseconds: UInt64
  /// The start of the step in nanoseconds, relative to the start of the variant.
  var offset: UInt64
  var fetch: JSONFetch?
  var groups: [JSONGroup]

  init(_ step: StepResult) {
    let counters = step.costs.counters
    text = step.text
    name = step.name
    location = JSONLocation(step.location)
    summary = step.summary
    selects = counters.selects
    rows = counters.rows
    faults = counters.faults
    hits = counters.hits
    misses = counters.misses
    self.counters = JSONCounters(counters)
    nanoseconds = step.costs.nanoseconds
    offset = step.offset
    fetch = step.fetch.map(JSONFetch.init)
    groups = step.groups.map(JSONGroup.init)
  }

  /// The decoded result.
  var result: StepResult {
    StepResult(
      text: text, name: name, location: location.site, summary: summary,
      costs: TimedCosts(counters: counters.counters, nanoseconds: nanoseconds), offset: offset,
      fetch: fetch?.fetch, groups: groups.map(\.group))
  }
}

/// SQLite's counters for a statement in the JSON file; its property names are the file's keys.
struct JSONWork: Codable {
  var vmSteps: Int
  var fullScanSteps: Int
  var sorts: Int
  var autoIndexRows: Int
  var functionCalls: Int
  var collationCalls: Int
  /// The pages read; `nil` in results of versions that didn't count them.
  var pagesRead: Int?
  var pagesWritten: Int?

  init(_ work: StatementWork) {
    vmSteps = work.vmSteps
    fullScanSteps = work.fullScanSteps
    sorts = work.sorts
    autoIndexRows = work.autoIndexRows
    functionCalls = work.functionCalls
    collationCalls = work.collationCalls
    pagesRead = work.pagesRead
    pagesWritten = work.pagesWritten
  }

  /// The decoded counts of SQLite.
  var work: StatementWork {
    StatementWork(
      vmSteps: vmSteps, fullScanSteps: fullScanSteps, sorts: sorts, autoIndexRows: autoIndexRows,
      functionCalls: functionCalls, collationCalls: collationCalls, pagesRead: pagesRead ?? 0,
      pagesWritten: pagesWritten ?? 0)
  }
}

/// A fetch in the JSON file: its entity, its options as in a line of the shell, and its name.
struct JSONFetch: Codable {
  private struct Option: Codable {
    var word: String
    var values: [String]
  }

  private enum CodingKeys: String, CodingKey {
    case entity, options, name
  }

  let fetch: Step

  init(_ fetch: Step) {
    self.fetch = fetch
  }

  init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    var words = ["fetch", LineWords.plain(try keys.decode(String.self, forKey: .entity))]
    for option in try keys.decode([Option].self, forKey: .options) {
      words += [option.word, option.values.joined(separator: ", ")]
    }
    if let name = try keys.decodeIfPresent(String.self, forKey: .name) { words += ["as", name] }
    do {
      fetch = try ShellLine.parse(words.joined(separator: " "), number: 1)
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: error.problem.message))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: CodingKeys.self)
    try keys.encode(fetch.subject, forKey: .entity)
    try keys.encode(
      fetch.options.map { Option(word: $0.word.rawValue, values: $0.value.texts) }, forKey: .options
    )
    try keys.encodeIfPresent(fetch.name, forKey: .name)
  }
}

extension RuleName: Codable {}

/// A finding in the JSON file; its property names are the file's keys.
struct JSONFinding: Codable {
  struct Tried: Codable {
    var metric: String
    var before: Int
    var after: Int
    var variant: String
  }

  /// For readers of the file: the rule and its subject.
  var name: String
  var rule: RuleName
  var subject: String
  var count: Int
  var what: String
  var location: JSONLocation?
  var sql: String?
  var now: String?
  /// For readers of the file: `swift` or `advice` on one line.
  var cure: String
  var swift: [String]
  var advice: String
  var fetch: JSONFetch?
  /// For readers of the file: `fetch` as a shell line.
  var step: String?
  var tried: Tried?

  init(_ finding: Finding) {
    name = finding.name
    rule = finding.rule
    subject = finding.subject
    count = finding.count
    what = finding.what
    location = finding.callSite.map(JSONLocation.init)
    sql = finding.sql
    now = finding.fix.now
    cure = finding.fix.text
    swift = finding.fix.swift
    advice = finding.fix.advice
    fetch = finding.fix.fetch.map(JSONFetch.init)
    step = finding.fix.step
    tried = finding.verification.map {
      Tried(metric: $0.measure, before: $0.before, after: $0.after, variant: $0.variant)
    }
  }

  /// The decoded finding.
  var finding: Finding {
    Finding(
      rule: rule, subject: subject, count: count, callSite: location?.site, what: what, sql: sql,
      fix: SuggestedFix(now: now, swift: swift, advice: advice, fetch: fetch?.fetch),
      verification: tried.map {
        VerifiedFix(measure: $0.metric, before: $0.before, after: $0.after, variant: $0.variant)
      })
  }
}

/// A statement in the JSON file; its property names are the file's keys.
struct JSONStatement: Codable {
  var number: Int
  var kind: StatementKind
  var sql: String
  var entity: String?
  var count: Int
  var rows: Int
  var nanoseconds: UInt64
  var location: JSONLocation?
  var plan: [String]
  var verdict: String
  /// For readers of the file: the names of the plan's notes.
  var remarks: [String]
  var work: JSONWork?
  var estimatedRows: Int?

  init(_ shape: StatementShape) {
    number = shape.number
    kind = shape.kind
    sql = shape.sql
    entity = shape.entity
    count = shape.count
    rows = shape.rows
    nanoseconds = shape.nanoseconds
    location = shape.firstCallSite.map(JSONLocation.init)
    plan = shape.plan
    verdict = shape.assessment
    remarks = shape.notes.map(\.name)
    work = shape.work.map(JSONWork.init)
    estimatedRows = shape.estimate?.rows
  }

  /// The decoded statement.
  var shape: StatementShape {
    var shape = StatementShape(
      number: number, kind: kind, sql: sql, entity: entity, count: count, rows: rows,
      nanoseconds: nanoseconds, firstCallSite: location?.site)
    shape.plan = plan
    shape.assessment = verdict
    shape.notes =
      remarks.isEmpty ? [] : PlanAssessment(sql: sql, lines: plan, count: count).notes
    shape.work = work?.work
    shape.estimate = estimatedRows.map(PlanEstimate.init)
    return shape
  }
}
