import ProfileEvents
import StatementAnalysis
import WorkbenchText

/// A statement's shape with its plan.
struct ReportStatement {
  /// Longer texts are cut; nobody reads on, and the page must stay small.
  private static let textLimit = 3_000

  let number: Int
  let count: String
  let rows: String
  let time: String
  /// VM steps, rows scanned, sorts: what SQLite counted.
  let work: [String]
  let estimate: String?
  let short: String
  let log: String
  let plan: String?
  let verdict: String?
  let location: String?

  init(_ shape: StatementShape) {
    number = shape.number
    count = NumberText.grouped(shape.count)
    rows = NumberText.counted(shape.rows, "row")
    time = NumberText.time(shape.nanoseconds)
    work = PlanText.work(shape.work, runs: shape.count)
    estimate = shape.estimate?.description
    short = ReportStatement.cut(SQLAbbreviation.short(shape.sql))
    log = ReportStatement.cut(shape.logLine)
    plan = shape.plan.joined(separator: "\n").nonEmpty
    verdict = shape.verdict.nonEmpty
    location = shape.firstCallSite?.description
  }

  private static func cut(_ text: String) -> String {
    let more = text.utf8.count - textLimit
    guard more > 0 else { return text }
    return "\(text.prefix(textLimit)) … (\(NumberText.counted(more, "byte")) more)"
  }
}
