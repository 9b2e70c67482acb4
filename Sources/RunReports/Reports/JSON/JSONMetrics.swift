import ProfileEvents
import ScenarioLanguage

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
          forKey: key, in: container, debugDescription: "there is no metric \(key.stringValue)")
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
  /// A step's name and an entity's are written alike; the first letter tells them apart, as an entity's
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
