import Profiling
import ScenarioLanguage
import WorkbenchText

/// Everything the template names, already in words; it decides nothing any more.
///
/// Texts are plain: the template escapes them. Only what is built of digits (bars, paths) goes in
/// unescaped. A property that may be absent is named with a leading dot in the template, so that
/// the outer object's property of the same name isn't used instead.
struct ReportPage {
  /// One count of the scenario's data.
  struct DataCount {
    var name: String
    var count: String
  }

  /// A catalog id with its source mark.
  struct Cover {
    var id: String
    var mark: String
  }

  let title: String
  let file: String
  let chapter: Int?
  let holds: Bool
  let verdict: String
  let misses: [ReportMiss]
  let lesson: ReportSummary
  let story: String
  let question: String
  let data: [DataCount]
  let seed: String
  let scale: Int
  let table: ReportTable
  let tracks: ReportTracks
  /// Nil for a run at one scale.
  let curves: ReportCurves?
  let findings: [ReportFinding]
  /// What to say where there are none.
  let noFindings: String
  let variants: [ReportVariant]
  let covers: [Cover]
  let command: String
  let environment: RunEnvironment
  let isDebugBuild: Bool

  init(_ result: RunResult) {
    let table = ReportTable(result)
    let story = ReportStory(result.story)
    title = result.scenario
    file = result.file
    chapter = result.chapter
    holds = result.holds
    verdict = result.verdict
    misses = ReportMiss.all(of: result)
    lesson = ReportSummary(result, lead: table.lead)
    self.story = story.told
    question = story.question
    data = result.data.map { DataCount(name: $0.name, count: NumberText.grouped($0.count)) }
    seed = String(result.seed)
    scale = result.scale
    self.table = table
    tracks = ReportTracks(result)
    curves = ReportCurves(result, lead: table.lead)
    findings = ReportFinding.all(of: result)
    noFindings = ReportFinding.none(in: result)
    let limit = ReportEvents.limit(for: result)
    variants = result.variants.enumerated().map { index, variant in
      ReportVariant(variant, number: index + 1, of: result, eventLimit: limit)
    }
    covers = result.covers.map { Cover(id: $0.id, mark: $0.source.label) }
    command = result.command
    environment = result.environment
    isDebugBuild = result.environment.build == "debug"
  }
}
