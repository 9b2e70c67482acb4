import ProfileEvents
import RunResults
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// The query plans of the variants side by side: which statement scans, which searches, and which
/// index it uses.
struct ReportPlans {
  /// A variant with the SELECTs that not all variants run with the same plan.
  struct Variant {
    var name: String
    var anchor: String
    var statements: [Statement]
    /// The number of statements beyond those, as text; `nil` if there are none.
    var more: String?
  }

  /// A statement, with the rows that it returned and visited.
  struct Statement {
    var sql: String
    var plan: String
    var work: [String]
    var assessment: String?
  }

  let variants: [Variant]

  /// The maximum number of statements for each variant.
  private static let limit = 3

  /// Returns `nil` unless an expectation is about a plan or its scans or sorts, and variants have
  /// different plans.
  init?(_ result: RunResult) {
    guard ReportPlans.isExpected(in: result), result.variants.count > 1 else { return nil }
    let selects = result.variants.map { variant in
      variant.statements.filter { $0.kind == .select && !$0.plan.isEmpty }
    }
    let plans = selects.map { Set($0.map(Key.init)) }
    let shared = plans.dropFirst().reduce(plans[0]) { $0.intersection($1) }
    guard plans.contains(where: { $0 != shared }) else { return nil }
    variants = result.detailedVariants.map { index in
      let own = selects[index].filter { !shared.contains(Key($0)) }
      let shown = own.isEmpty ? selects[index] : own
      let more = shown.count - ReportPlans.limit
      return Variant(
        name: result.variants[index].name, anchor: "variant-\(index + 1)",
        statements: shown.prefix(ReportPlans.limit).map(Statement.init),
        more: more > 0 ? NumberText.grouped(more) : nil)
    }
  }

  private static func isExpected(in result: RunResult) -> Bool {
    let measures: [Metric] = [.scanned, .sorts]
    return result.variants.contains { variant in
      variant.expectations.contains { $0.relation == .plan }
    } || ReportMetrics(result).named.contains { measures.contains($0.metric) }
  }

  /// A statement with its plan.
  private struct Key: Hashable {
    var sql: String
    var plan: [String]

    init(_ shape: StatementShape) {
      sql = shape.sql
      plan = shape.plan
    }
  }
}

extension ReportPlans.Statement {
  fileprivate init(_ shape: StatementShape) {
    let statement = ReportStatement(shape)
    sql = statement.short
    plan = statement.plan ?? ""
    work =
      [NumberText.counted(shape.rows, "row returned", "rows returned")]
      + PlanText.work(shape.work, runs: shape.count)
    assessment = statement.assessment
  }
}
