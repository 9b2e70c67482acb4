import ProfileEvents

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
          forKey: key, in: container, debugDescription: "there is no counter \(key.stringValue)")
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
