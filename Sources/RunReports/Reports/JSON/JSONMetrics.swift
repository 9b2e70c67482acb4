import ProfileEvents
import ScenarioLanguage

/// The nonzero counters as an object of the JSON file.
struct JSONCounters: Codable {
  var counters: Counters

  init(_ counters: Counters) {
    self.counters = counters
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: JSONKey.self)
    counters = Counters()
    for key in container.allKeys {
      guard let field = Counters.fields.first(where: { $0.name == key.stringValue }) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "unknown counter \(key.stringValue)")
      }
      counters[keyPath: field.path] = try container.decode(Int.self, forKey: key)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for field in Counters.fields where counters[keyPath: field.path] != 0 {
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
