import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// The shape of the JSON file; its property names are the file's keys.
///
/// It holds all that a result has, so that every report can be made of the file alone.
struct JSONDocument: Codable {
  /// Written to `version`; a file of another one is refused.
  static let version = 1

  struct Entity: Codable {
    var name: String
    var count: Int
  }

  struct Cover: Codable {
    var id: String
    var source: SourceMark
  }

  struct Environment: Codable {
    var cdprof: String
    var sqlite: String
    var swift: String
    var machine: String
    var build: String
  }

  var version: Int
  var scenario: String
  var file: String
  var chapter: Int?
  var story: String
  var covers: [Cover]
  var seed: UInt64
  var scale: Int
  /// For readers of the file; computed from the expectations when it is read back.
  var holds: Bool
  /// As `holds`.
  var verdict: String
  var data: [Entity]
  var variants: [JSONVariant]
  var scales: [JSONScale]?
  var environment: Environment
  var command: String

  init(_ result: RunResult) {
    version = JSONDocument.version
    scenario = result.scenario
    file = result.file
    chapter = result.chapter
    story = result.story
    covers = result.covers.map { Cover(id: $0.id, source: $0.source) }
    seed = result.seed
    scale = result.scale
    holds = result.holds
    verdict = result.verdict
    data = result.data.map(Entity.init)
    variants = result.variants.map(JSONVariant.init)
    scales = result.scales.isEmpty ? nil : result.scales.map(JSONScale.init)
    let environment = result.environment
    self.environment = Environment(
      cdprof: environment.cdprof, sqlite: environment.sqlite, swift: environment.swift,
      machine: environment.machine, build: environment.build)
    command = result.command
  }

  /// What was written.
  var result: RunResult {
    RunResult(
      scenario: scenario, file: file, chapter: chapter, story: story,
      covers: covers.map { CatalogueReference(id: $0.id, source: $0.source) }, seed: seed,
      scale: scale, data: data.map(\.entityCount), variants: variants.map(\.result),
      scales: (scales ?? []).map(\.run),
      environment: RunEnvironment(
        cdprof: environment.cdprof, sqlite: environment.sqlite, swift: environment.swift,
        machine: environment.machine, build: environment.build),
      command: command)
  }
}

extension JSONDocument.Entity {
  init(_ entity: EntityCount) {
    self.init(name: entity.name, count: entity.count)
  }

  /// What was written.
  var entityCount: EntityCount { EntityCount(name: name, count: count) }
}
