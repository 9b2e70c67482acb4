import ProfileEvents

/// The shape of the JSON file; its property names are the file's keys.
struct JSONDocument: Encodable {
  struct Entity: Encodable {
    var name: String
    var count: Int
  }

  struct Cover: Encodable {
    var id: String
    var source: String
  }

  struct Environment: Encodable {
    var cdprof: String
    var sqlite: String
    var swift: String
    var machine: String
    var build: String
  }

  var scenario: String
  var file: String
  var chapter: Int?
  var story: String
  var covers: [Cover]
  var seed: UInt64
  var scale: Int
  var holds: Bool
  var verdict: String
  var data: [Entity]
  var variants: [JSONVariant]
  var environment: Environment
  var command: String

  init(_ result: RunResult) {
    scenario = result.scenario
    file = result.file
    chapter = result.chapter
    story = result.story
    covers = result.covers.map { Cover(id: $0.id, source: $0.source.rawValue) }
    seed = result.seed
    scale = result.scale
    holds = result.holds
    verdict = result.verdict
    data = result.data.map { Entity(name: $0.name, count: $0.count) }
    variants = result.variants.map(JSONVariant.init)
    let environment = result.environment
    self.environment = Environment(
      cdprof: environment.cdprof, sqlite: environment.sqlite, swift: environment.swift,
      machine: environment.machine, build: environment.build)
    command = result.command
  }
}
