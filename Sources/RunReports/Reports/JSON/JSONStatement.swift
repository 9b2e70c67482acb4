import ProfileEvents
import Profiling
import ScenarioLanguage
import StatementAnalysis

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
    remarks = shape.remarks.map(\.name)
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
    shape.remarks = PlanAssessment(sql: sql, lines: plan, count: count).remarks
    shape.work = work?.work
    shape.estimate = estimatedRows.map(PlanEstimate.init)
    return shape
  }
}
