import ProfileEvents

/// One variant in the JSON file; its property names are the file's keys.
struct JSONVariant: Encodable {
  struct Step: Encodable {
    var text: String
    var location: String
    var summary: String
    var selects: Int
    var rows: Int
    var faults: Int
    var hits: Int
    var misses: Int
    var nanoseconds: UInt64
  }

  struct Expectation: Encodable {
    var metric: String
    var law: String
    var relation: String
    var expected: ExpectationValue
    var found: ExpectationValue
    var holds: Bool
    var source: String
    var location: String
    var differences: [String]
  }

  struct Finding: Encodable {
    struct Tried: Encodable {
      var metric: String
      var before: Int
      var after: Int
      var variant: String
    }

    var name: String
    var rule: String
    var subject: String
    var count: Int
    var location: String?
    var sql: String?
    var now: String?
    var cure: String
    var step: String?
    var tried: Tried?
  }

  struct Statement: Encodable {
    var number: Int
    var kind: String
    var sql: String
    var entity: String?
    var count: Int
    var rows: Int
    var nanoseconds: UInt64
    var location: String?
    var plan: [String]
    var verdict: String
  }

  var name: String
  var why: String
  var holds: Bool
  var set: [String]
  var first: [String]
  var then: [String]
  var request: [String]
  var metrics: [String: Int]
  var nanoseconds: UInt64
  var steps: [Step]
  var expectations: [Expectation]
  var findings: [Finding]
  var statements: [Statement]

  init(_ result: VariantResult) {
    name = result.name
    why = result.why
    holds = result.holds
    set = result.set
    first = result.first
    then = result.then
    request = result.requestSwift
    metrics = [:]
    for (metric, value) in result.metrics { metrics[metric.rawValue] = value }
    for (scoped, value) in result.scopedMetrics { metrics[scoped.description] = value }
    nanoseconds = result.nanoseconds
    steps = result.steps.map(Step.init)
    expectations = result.expectations.map(Expectation.init)
    findings = result.findings.map(Finding.init)
    statements = result.statements.map(Statement.init)
  }
}

extension JSONVariant.Step {
  fileprivate init(_ step: StepResult) {
    let counters = step.costs.counters
    self.init(
      text: step.text, location: step.location.description, summary: step.summary,
      selects: counters.selects, rows: counters.rows, faults: counters.faults,
      hits: counters.hits, misses: counters.misses, nanoseconds: step.costs.nanoseconds)
  }
}

extension JSONVariant.Expectation {
  fileprivate init(_ result: ExpectationResult) {
    self.init(
      metric: result.metric, law: result.law, relation: result.relation.rawValue,
      expected: result.expected, found: result.found, holds: result.holds,
      source: result.source.rawValue, location: result.location.description,
      differences: result.differences)
  }
}

extension JSONVariant.Finding {
  fileprivate init(_ finding: Finding) {
    self.init(
      name: finding.name, rule: finding.rule.rawValue, subject: finding.subject,
      count: finding.count, location: finding.callSite?.description, sql: finding.sql,
      now: finding.cure.now, cure: finding.cure.text, step: finding.cure.step,
      tried: finding.tried.map {
        Tried(
          metric: $0.metric.rawValue, before: $0.before, after: $0.after, variant: $0.variant)
      })
  }
}

extension JSONVariant.Statement {
  fileprivate init(_ shape: StatementShape) {
    self.init(
      number: shape.number, kind: shape.kind.rawValue, sql: shape.sql, entity: shape.entity,
      count: shape.count, rows: shape.rows, nanoseconds: shape.nanoseconds,
      location: shape.firstCallSite?.description, plan: shape.plan, verdict: shape.verdict)
  }
}
