import ProfileEvents

/// The shape of one statement in a log's JSON.
struct LogStatementJSON: Encodable {
  let number: Int
  let sql: String
  let cut: Bool
  let kind: String
  let table: String?
  let entity: String?
  let calls: Int
  /// Calls of which the log has a time.
  let timed: Int
  let rows: Int
  let counted: Int?
  let total: Double
  let own: Double
  let connection: Double
  let mean: Double
  let p95: Double
  let max: Double
  let objectFaults: Int
  let relationshipFaults: Int
  let prefetches: Int
  let firstLine: Int
  let lastLine: Int
  let firstTime: String?
  let lastTime: String?
  /// Nil when they are kept back.
  let binds: [String]?
  let loggedPlan: [String]?
  let plan: [String]?
  let verdict: String?

  init(_ statement: LogStatement, showsBinds: Bool) {
    let times = statement.times
    number = statement.number
    sql = statement.sql
    cut = statement.isCut
    kind = statement.kind.rawValue
    table = statement.table
    entity = statement.entity
    calls = statement.calls
    timed = times.count
    rows = statement.rows
    counted = statement.counted == 0 ? nil : statement.counted
    total = Double(times.total) / 1e6
    own = Double(statement.own) / 1e6
    connection = Double(statement.connection) / 1e6
    mean = times.mean / 1e6
    p95 = Double(times.percentile(95)) / 1e6
    max = Double(times.largest) / 1e6
    objectFaults = statement.objectFaults
    relationshipFaults = statement.relationshipFaults
    prefetches = statement.prefetches
    firstLine = statement.firstLine
    lastLine = statement.lastLine
    firstTime = statement.firstTime.isEmpty ? nil : statement.firstTime
    lastTime = statement.lastTime.isEmpty ? nil : statement.lastTime
    binds = showsBinds ? statement.binds : nil
    loggedPlan = statement.loggedPlan.isEmpty ? nil : statement.loggedPlan
    plan = statement.plan.isEmpty ? nil : statement.plan
    verdict = statement.verdict.isEmpty ? nil : statement.verdict
  }
}
