import Profiling
import ScenarioLanguage
import WorkbenchText

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
  let misses: [ReportMiss]
  let lesson: ReportSummary
  let story: String
  let question: String
  let data: [DataCount]
  let seed: String
  let scale: Int
  let table: ReportTable
  let tracks: ReportTracks
  /// The charts; nil for a run at a single scale.
  let curves: ReportCurves?
  let findings: [ReportFinding]
  /// The message to show if there are no findings.
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
    holds = result.passes
    summary = result.summary
    misses = ReportMiss.all(of: result)
    lesson = ReportSummary(result, lead: table.lead)
    self.story = story.text
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
