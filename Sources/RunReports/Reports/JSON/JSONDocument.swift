package import Foundation
import ProfileEvents
package import RunResults
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

/// The complete result of a run as JSON.
///
/// Keys are sorted, and only times differ between two runs, so two files can be compared line by
/// line. An object or array without nested ones is written on one line.
package enum JSONReport {
  /// Returns a result as UTF-8 that ends with a line feed.
  ///
  /// - Throws: An `EncodingError`, which no result can cause.
  package static func data(_ result: RunResult) throws -> Data {
    try JSONOutput.flat(JSONDocument(result))
  }
}

/// The nonzero counters as an object of the JSON file.
struct JSONCounters: Codable {
  var counters: Counters

  init(_ counters: Counters) {
    self.counters = counters
  }

  private static var fields: [(name: String, path: WritableKeyPath<Counters, Int>)] {
    [
      ("fetches", \.fetches), ("saves", \.saves),
      ("saveRounds", \.savePasses), ("selects", \.selects), ("inserts", \.inserts),
      ("updates", \.updates), ("deletes", \.deletes), ("transactions", \.transactions),
      ("rows", \.rows), ("objectFaultHits", \.objectFaultHits),
      ("objectFaultMisses", \.objectFaultMisses),
      ("objectFaultsFromParent", \.objectFaultsFromParent),
      ("relationshipFaultHits", \.relationshipFaultHits),
      ("relationshipFaultMisses", \.relationshipFaultMisses),
      ("relationshipFaultsFromParent", \.relationshipFaultsFromParent),
      ("prefetches", \.prefetches), ("roundTrips", \.roundTrips),
    ]
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: JSONKey.self)
    counters = Counters()
    for key in container.allKeys {
      guard let field = JSONCounters.fields.first(where: { $0.name == key.stringValue }) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "unknown counter \(key.stringValue)")
      }
      counters[keyPath: field.path] = try container.decode(Int.self, forKey: key)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for field in JSONCounters.fields where counters[keyPath: field.path] != 0 {
      try container.encode(counters[keyPath: field.path], forKey: JSONKey(field.name))
    }
  }
}

/// Metrics as an object of the JSON file, with keys such as `selects` and `peak(Mood)`.
struct JSONMetrics: Codable {
  var plain: [Metric: Int]
  var scoped: [ScopedMetric: Int]

  init(_ plain: [Metric: Int], _ scoped: [ScopedMetric: Int]) {
    self.plain = plain
    self.scoped = scoped
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: JSONKey.self)
    (plain, scoped) = ([:], [:])
    for key in container.allKeys {
      let value = try container.decode(Int.self, forKey: key)
      guard let metric = ScopedMetric(word: key.stringValue) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "unknown metric \(key.stringValue)")
      }
      if metric.scope == .all { plain[metric.metric] = value } else { scoped[metric] = value }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for (metric, value) in plain {
      try container.encode(value, forKey: JSONKey(metric.rawValue))
    }
    for (scoped, value) in scoped {
      try container.encode(value, forKey: JSONKey(scoped.description))
    }
  }
}

/// A key that isn't fixed but depends on the data.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int? = nil

  init(_ text: String) {
    stringValue = text
  }

  init?(stringValue: String) {
    self.init(stringValue)
  }

  init?(intValue: Int) {
    nil
  }
}

extension ScopedMetric {
  /// Parses the format of `description`; returns `nil` for any other string.
  ///
  /// The names of steps and entities are written the same way; the name of an entity starts with an
  /// uppercase letter.
  init?(word: String) {
    guard let match = word.wholeMatch(of: /(\w+)(?:\((.+)\))?/),
      let metric = Metric(rawValue: String(match.1))
    else { return nil }
    guard let scope = match.2.map(String.init) else {
      self.init(metric)
      return
    }
    let parts = scope.split(separator: ".", maxSplits: 1).map(String.init)
    if parts.count == 2 {
      self.init(metric, .relationship(entity: parts[0], name: parts[1]))
    } else if scope.first?.isUppercase == true {
      self.init(metric, .entity(scope))
    } else {
      self.init(metric, .step(scope))
    }
  }
}
