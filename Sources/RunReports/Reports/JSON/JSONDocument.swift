package import Foundation
import ProfileEvents
package import Profiling
import ScenarioLanguage
import WorkbenchText

/// The shape of the JSON file; its property names are the file's keys.
///
/// It contains all of a result, so that every report can be made from the file.
struct JSONDocument: Codable {
  /// Written to `version`; a file of another one is refused.
  static let version = 1

  var version: Int
  var scenario: String
  var file: String
  var chapter: Int?
  var story: String
  var covers: [CatalogReference]
  var seed: UInt64
  var scale: Int
  /// For readers of the file; computed from the expectations when it is read back.
  var holds: Bool
  /// As `holds`.
  var verdict: String
  var data: [EntityCount]
  var variants: [JSONVariant]
  var scales: [JSONScale]?
  var environment: RunEnvironment
  var command: String

  init(_ result: RunResult) {
    version = JSONDocument.version
    scenario = result.scenario
    file = result.file
    chapter = result.chapter
    story = result.story
    covers = result.covers
    seed = result.seed
    scale = result.scale
    holds = result.holds
    verdict = result.verdict
    data = result.data
    variants = result.variants.map(JSONVariant.init)
    scales = result.scales.isEmpty ? nil : result.scales.map(JSONScale.init)
    environment = result.environment
    command = result.command
  }

  /// What was written.
  var result: RunResult {
    RunResult(
      scenario: scenario, file: file, chapter: chapter, story: story,
      covers: covers, seed: seed, scale: scale, data: data, variants: variants.map(\.result),
      scales: (scales ?? []).map(\.run), environment: environment, command: command)
  }
}

/// The result of a run for machines: everything that a report is made of.
///
/// Keys are sorted and times are the only numbers that differ between two runs, so two files can be
/// compared line by line. An object or list without nested ones is on one line.
package enum JSONReport {
  /// The whole result as UTF-8 text that ends with a newline.
  ///
  /// - Throws: `EncodingError`, which no value of a result can cause.
  package static func data(_ result: RunResult) throws -> Data {
    try JSONOutput.flat(JSONDocument(result))
  }
}

/// Counters that are not 0, by name, as one object of the JSON file.
struct JSONCounters: Codable {
  var counters: Counters

  init(_ counters: Counters) {
    self.counters = counters
  }

  private static var fields: [(name: String, path: WritableKeyPath<Counters, Int>)] {
    [
      ("fetches", \.fetches), ("saves", \.saves),
      ("saveRounds", \.saveRounds), ("selects", \.selects), ("inserts", \.inserts),
      ("updates", \.updates), ("deletes", \.deletes), ("transactions", \.transactions),
      ("rows", \.rows), ("objectFaultHits", \.objectFaultHits),
      ("objectFaultMisses", \.objectFaultMisses),
      ("objectFaultsFromParent", \.objectFaultsFromParent),
      ("relationshipFaultHits", \.relationshipFaultHits),
      ("relationshipFaultMisses", \.relationshipFaultMisses),
      ("relationshipFaultsFromParent", \.relationshipFaultsFromParent),
      ("prefetches", \.prefetches),
    ]
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: JSONKey.self)
    counters = Counters()
    for key in container.allKeys {
      guard let field = JSONCounters.fields.first(where: { $0.name == key.stringValue }) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "there's no counter \(key.stringValue)")
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

/// Metrics by their words, `selects` and `peak(Mood)`, as one object of the JSON file.
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
          forKey: key, in: container, debugDescription: "there's no metric \(key.stringValue)")
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

/// A key that is a word of the data.
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
  /// Reads what `description` writes; nil for another text.
  ///
  /// A step's name and an entity's are written alike; the first letter distinguishes them, as an entity's
  /// is a capital one.
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
