import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

/// The structure of the JSON file; its property names are the file's keys.
///
/// The file contains the complete result, so that every report can be generated from it.
struct JSONDocument: Codable {
  /// The value of `version`; files of other versions are rejected.
  static let version = 1

  var version: Int
  var scenario: String
  var file: String
  var chapter: Int?
  var story: String
  /// The author's sentence with its values; missing if there's none.
  var headline: String?
  /// The metric with the bars, such as `misses(Country)`; missing if the scenario has none.
  var metric: String?
  /// The questions with their computed answers; missing if the scenario has none.
  var predictions: [PredictionResult]?
  /// The exercise; missing if the scenario has none.
  var exercise: ExerciseText?
  var covers: [CatalogReference]
  var seed: UInt64
  var scale: Int
  /// For readers of the file; ignored when the file is read, and computed from the expectations.
  var holds: Bool
  /// For readers of the file, like `holds`.
  var verdict: String
  var data: [EntityCount]
  var variants: [JSONVariant]
  var scales: [JSONScale]?
  var environment: RunEnvironment
  /// The engine of the run; missing for SQLite.
  var engine: EngineDescription?
  var command: String

  init(_ result: RunResult) {
    version = JSONDocument.version
    scenario = result.scenario
    file = result.file
    chapter = result.chapter
    story = result.story
    headline = result.headline
    metric = result.metric?.description
    predictions = result.predictions.isEmpty ? nil : result.predictions
    exercise = result.exercise
    covers = result.covers
    seed = result.seed
    scale = result.scale
    holds = result.passes
    verdict = result.summary
    data = result.data
    variants = result.variants.map(JSONVariant.init)
    scales = result.scales.isEmpty ? nil : result.scales.map(JSONScale.init)
    environment = result.environment
    engine = result.engine
    command = result.command
  }

  /// The decoded result.
  var result: RunResult {
    var result = RunResult(
      scenario: scenario, file: file, chapter: chapter, story: story,
      covers: covers, seed: seed, scale: scale, data: data, variants: variants.map(\.result),
      scales: (scales ?? []).map(\.run), environment: environment, command: command)
    result.engine = engine
    result.headline = headline
    result.predictions = predictions ?? []
    result.exercise = exercise
    result.metric = metric.flatMap(ScopedMetric.init(word:))
    return result
  }
}
