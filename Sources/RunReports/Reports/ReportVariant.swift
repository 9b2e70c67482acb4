import ProfileEvents
import RunResults
import ScenarioLanguage
import StatementAnalysis
import WorkbenchText

/// The section of a variant, below the first screen.
struct ReportVariant {
  struct Expectation {
    var metric: String
    var formula: String
    var value: String
    var found: String
    var holds: Bool
    /// The reason why it wasn't evaluated; `nil` if it was.
    var obstacle: String?
    var mark: String
    var location: String
  }

  struct Step {
    var location: String
    var text: String
    var summary: String
    var selects: String
    var rows: String
    var faults: String
    var time: String
  }

  struct Stacks {
    var list: [Stack]
  }

  struct Stack {
    /// The events that the stack caused, such as `5,000 × fault Mood`.
    var head: String
    /// The functions, one per line, innermost first.
    var frames: String
  }

  /// The numbers of rows of each variant to show, fewer if there are many variants.
  struct Limits {
    /// The maximum number of steps, and of expectations, on the page; at about 700 and 300 bytes
    /// each, 400 kilobytes.
    private static let budget = 400

    /// The number of events of each kind.
    let events: Int
    let steps: Int
    let expectations: Int

    /// - Parameter variants: The variants that the page shows in detail.
    init(_ variants: [VariantResult]) {
      events = ReportEvents.limit(for: variants)
      steps = ReportPage.rows(
        of: variants.map(\.steps.count), atMost: Limits.budget, budget: Limits.budget)
      expectations = ReportPage.rows(
        of: variants.map(\.expectations.count), atMost: Limits.budget, budget: Limits.budget)
    }
  }

  /// The maximum number of statements to show.
  private static let shapeLimit = 60

  let name: String
  let anchor: String
  let passes: Bool
  /// The explanation, with links to terms.
  var whyParts: [TermLinks.Part] = []
  let hasWhy: Bool
  let differences: [String]
  /// The requests as Swift; `nil` if no step fetches.
  let request: String?
  let expectations: [Expectation]
  let moreExpectations: String?
  /// What Core Data does on Apple platforms; `nil` if no expectation's source is `ours`.
  let apple: String?
  let steps: [Step]
  let moreSteps: String?
  let statements: [ReportStatement]
  let moreStatements: String?
  let kinds: [ReportEvents]
  /// The call stacks; `nil` if none were recorded.
  let stacks: Stacks?
  /// The median and range of the times.
  let time: String
  /// The lines of the shell that run the variant's steps.
  let tries: [String]

  init(_ variant: VariantResult, number: Int, _ limits: Limits) {
    name = variant.name
    anchor = "variant-\(number)"
    passes = variant.passes
    hasWhy = !variant.why.isEmpty
    differences =
      variant.set.map { "set \($0)" } + variant.first.map { "first \($0)" }
      + variant.then.map { "then \($0)" }
    request =
      ReportVariant.lines(variant.requestSwift, atMost: limits.steps)
      .joined(separator: "\n").nonEmpty
    // Those that aren't met come first if not all are shown.
    let isCut = variant.expectations.count > limits.expectations
    let sorted =
      isCut
      ? variant.expectations.filter(\.isUnmet) + variant.expectations.filter { !$0.isUnmet }
      : variant.expectations
    expectations = sorted.prefix(limits.expectations).map { expectation in
      Expectation(
        metric: expectation.metric, formula: expectation.formulaText,
        value: expectation.expectedText,
        found: expectation.actualText, holds: expectation.isMet,
        obstacle: expectation.obstacle,
        mark: expectation.source.label, location: expectation.location.description)
    }
    moreExpectations = ReportVariant.more(sorted.count - expectations.count)
    let isOurs = variant.expectations.contains { $0.source == .ours }
    apple = isOurs ? variant.apple.nonEmpty ?? "not checked." : nil
    steps = variant.steps.prefix(limits.steps).map(ReportVariant.step)
    moreSteps = ReportVariant.more(variant.steps.count - steps.count)
    statements = variant.statements.prefix(ReportVariant.shapeLimit).map(ReportStatement.init)
    moreStatements = ReportVariant.more(variant.statements.count - statements.count)
    let shapes = Dictionary(
      variant.statements.map { ($0.sql, $0.number) }, uniquingKeysWith: { first, _ in first })
    kinds = variant.events.map { sample in
      ReportEvents(sample, begin: variant.begin, shapes: shapes, limit: limits.events)
    }
    stacks =
      variant.stacks.isEmpty
      ? nil
      : Stacks(
        list: variant.stacks.map { stack in
          Stack(
            head: "\(NumberText.grouped(stack.count)) × \(stack.kind.groupWord ?? "") "
              + stack.subject,
            frames: stack.frames.joined(separator: "\n"))
        })
    time = variant.spread.text
    tries = variant.steps.prefix(limits.steps).map(\.text) + (moreSteps == nil ? ["last"] : [])
  }

  /// Returns the number of rows that aren't shown, or `nil` if all are.
  private static func more(_ count: Int) -> String? {
    count > 0 ? NumberText.grouped(count) : nil
  }

  /// Returns the first lines, and one with the number of the others.
  private static func lines(_ lines: [String], atMost limit: Int) -> [String] {
    guard let more = more(lines.count - limit) else { return lines }
    return lines.prefix(limit) + ["// and \(more) more lines"]
  }

  private static func step(_ step: StepResult) -> Step {
    let counters = step.costs.counters
    return Step(
      location: step.location.description, text: step.text, summary: step.summary,
      selects: NumberText.grouped(counters.selects), rows: NumberText.grouped(counters.rows),
      faults: sum(ofFaults: counters), time: NumberText.time(step.costs.nanoseconds))
  }

  /// Returns the faults as a sum: `240 = 100 + 20 + 120 from the parent`.
  private static func sum(ofFaults counters: Counters) -> String {
    let parent = counters.faults - counters.hits - counters.misses
    return "\(NumberText.grouped(counters.faults)) = \(NumberText.grouped(counters.hits))"
      + " + \(NumberText.grouped(counters.misses))"
      + (parent == 0 ? "" : " + \(NumberText.grouped(parent)) from the parent")
  }
}

extension RunResult {
  /// The number of variants up to which a page shows all in detail.
  private static let detailLimit = 40
  /// The number of variants that a page shows in detail if there are more.
  private static let shownDetails = 20

  /// The positions of the variants that a page shows with a timeline and a section of their own, in
  /// ascending order: if not all are, those that don't pass, and then the first ones.
  var detailedVariants: [Int] {
    guard variants.count > RunResult.detailLimit else { return Array(variants.indices) }
    let failed = variants.indices.filter { !variants[$0].passes }
    let passed = variants.indices.filter { variants[$0].passes }
    return (failed + passed).prefix(RunResult.shownDetails).sorted()
  }
}

extension ExpectationResult {
  /// The formula as written; `exactly` for a list of names.
  fileprivate var formulaText: String {
    if case .names = expected { return "exactly" }
    return formula
  }
}

/// A statement with its query plan.
struct ReportStatement {
  /// The maximum size of SQL on the page, in characters; longer strings are truncated.
  private static let textLimit = 3_000

  let number: Int
  let count: String
  let rows: String
  let time: String
  /// SQLite's counters: VM steps, rows scanned, sorts.
  let work: [String]
  let estimate: String?
  let short: String
  let log: String
  let plan: String?
  let assessment: String?
  let location: String?

  init(_ shape: StatementShape) {
    number = shape.number
    count = NumberText.grouped(shape.count)
    rows = NumberText.counted(shape.rows, "row")
    time = NumberText.time(shape.nanoseconds)
    work = PlanText.work(shape.work, runs: shape.count)
    estimate = shape.estimate?.description
    short = ReportStatement.truncated(SQLAbbreviation.short(shape.sql))
    log = ReportStatement.truncated(shape.logLine)
    plan = shape.plan.joined(separator: "\n").nonEmpty
    assessment = shape.assessment.nonEmpty
    location = shape.firstCallSite?.description
  }

  private static func truncated(_ text: String) -> String {
    let shown = text.prefix(textLimit)
    let more = text.utf8.count - shown.utf8.count
    guard more > 0 else { return text }
    return "\(shown) … (\(NumberText.counted(more, "byte")) more)"
  }
}

extension SourceMark {
  /// The name of the source in reports: `Apple`, or the raw value.
  var label: String {
    self == .apple ? "Apple" : rawValue
  }
}
