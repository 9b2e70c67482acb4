import CEmbeddedFiles
import ManagedModel
package import RunResults
import ScenarioLanguage
import WorkbenchText

/// The result of a run as a self-contained HTML page.
///
/// Without `--watch`, the page doesn't load anything. It's complete without JavaScript; its script
/// switches tracks, asks the questions, and, from a server, runs the scenario. The page's policy
/// allows no other script (`PagePolicy`).
/// The first screen shows, in this order: whether the run passed, a summary, the cost of each
/// variant, the timeline, and findings with their fixes.
package enum HTMLReport {
  /// Returns the page as HTML; it's under a megabyte regardless of the number of events and steps,
  /// unless there are several hundred variants.
  ///
  /// - Throws: An error of the template's parser, which a test rules out.
  package static func page(_ result: RunResult) throws -> String {
    try page(result, in: nil, linking: .none)
  }

  /// Returns the page as HTML, which reloads when it's written again.
  ///
  /// - Throws: An error of the template's parser, which a test rules out.
  static func page(_ result: RunResult, reloading reload: PageReload) throws -> String {
    try page(result, in: nil, linking: .none, reloading: reload)
  }

  /// Returns the page of a lesson in a course.
  ///
  /// - Parameters:
  ///   - result: The result of the lesson's run.
  ///   - navigation: The links to other pages; `nil` for a page that isn't part of a course.
  ///   - terms: The terms to link where they're first used.
  ///   - live: What a server offers on the page; `nil` for a page in a file.
  ///   - reload: What reloads the page; `nil` if nothing does.
  /// - Throws: An error of the template's parser, which a test rules out.
  static func page(
    _ result: RunResult, in navigation: CourseNavigation?, linking terms: TermLinks,
    live: LiveLesson? = nil, reloading reload: PageReload? = nil
  ) throws -> String {
    var terms = terms
    var page = ReportPage(result, in: navigation, linking: &terms)
    page.live = live
    page.reload = reload
    return try PageTemplate.render(
      String(cString: embedded_report_html()), page,
      allowing: live == nil ? [] : LiveLesson.sources, nonce: reload?.nonce)
  }
}

/// The values of the template, formatted for display.
///
/// Strings are plain text, which the template escapes. The template names an optional property with
/// a leading dot, so that it doesn't use a property with the same name of an outer object instead.
struct ReportPage {
  /// The row count of an entity in the scenario's data.
  struct DataCount {
    var name: String
    var count: String
  }

  /// A behavior ID with its source.
  struct Cover {
    var id: String
    var mark: String
  }

  let title: String
  let file: String
  let chapter: Int?
  let holds: Bool
  let summary: String
  let unmet: [UnmetExpectations]
  let lesson: ReportHeadline
  let story: [TermLinks.Part]
  /// The links to other lessons; `nil` outside of a course.
  let course: CourseNavigation?
  /// What a server offers on the page; `nil` for a page in a file.
  var live: LiveLesson?
  /// What reloads the page when it's written again; `nil` if nothing does.
  var reload: PageReload?
  /// The questions; `nil` if the scenario has none.
  let predict: ReportPredictions?
  /// Whether the page asks before it shows the result.
  ///
  /// It doesn't if an expectation isn't met, because that's what the page must show first.
  let asks: Bool
  /// The task for the reader; `nil` if there's none.
  let exercise: ExerciseText?
  let data: [DataCount]
  let seed: String
  let scale: Int
  let table: ReportTable
  /// The variants' plans side by side; `nil` if they aren't what the scenario is about.
  let plans: ReportPlans?
  let tracks: ReportTracks
  /// The charts; `nil` for a run at a single scale.
  let curves: ReportCurves?
  let findings: [ReportFinding]
  /// The message to show if there are no findings.
  let noFindings: String
  /// The variants that are shown in detail.
  let variants: [ReportVariant]
  /// The number of the other variants; `nil` if there are none.
  let moreVariants: String?
  let covers: [Cover]
  let hasCovers: Bool
  let command: String
  let environment: RunEnvironment
  /// The engine of the run; `nil` for SQLite.
  let engine: String?
  /// The version of `cdprof` that ran the scenario.
  let version: String
  let isDebugBuild: Bool
  /// What made the times longer; `nil` if nothing did.
  let timeNote: String?

  init(
    _ result: RunResult, in navigation: CourseNavigation?, linking terms: inout TermLinks
  ) {
    let table = ReportTable(result)
    title = result.scenario
    file = result.file
    chapter = result.chapter
    holds = result.passes
    summary = result.summary
    unmet = UnmetExpectations.shown(of: result)
    lesson = ReportHeadline(result, lead: table.lead)
    story = terms.parts(of: result.story.joiningLines)
    course = navigation
    predict = ReportPredictions(result, of: navigation?.lesson)
    asks = result.passes && predict != nil
    exercise = result.exercise
    data = result.data.map { DataCount(name: $0.name, count: NumberText.grouped($0.count)) }
    seed = String(result.seed)
    scale = result.scale
    self.table = table
    plans = ReportPlans(result)
    tracks = ReportTracks(result)
    curves = ReportCurves(result, lead: table.lead)
    findings = ReportFinding.all(of: result)
    noFindings = ReportFinding.none(in: result)
    let detailed = result.detailedVariants
    let limits = ReportVariant.Limits(detailed.map { result.variants[$0] })
    variants = detailed.map { index in
      var shown = ReportVariant(result.variants[index], number: index + 1, limits)
      shown.whyParts = terms.parts(of: result.variants[index].why)
      return shown
    }
    let more = result.variants.count - detailed.count
    moreVariants = more > 0 ? NumberText.grouped(more) : nil
    covers = result.covers.map { Cover(id: $0.id, mark: $0.source.label) }
    hasCovers = !covers.isEmpty
    command = result.command
    environment = result.environment
    engine = result.engine?.text
    version = result.environment.cdprof
    isDebugBuild = result.environment.build == "debug"
    timeNote = result.environment.timeNote
  }

  /// Returns the number of rows of each list to show, so that all lists have about as many as a
  /// budget, but each at least ten.
  ///
  /// - Parameters:
  ///   - counts: The numbers of rows of the lists.
  ///   - most: The maximum number to return.
  ///   - budget: The number of rows of all lists.
  static func rows(of counts: [Int], atMost most: Int, budget: Int) -> Int {
    var limit = most
    while limit > 10, counts.reduce(0, { $0 + min($1, limit) }) > budget { limit -= 10 }
    return limit
  }
}
