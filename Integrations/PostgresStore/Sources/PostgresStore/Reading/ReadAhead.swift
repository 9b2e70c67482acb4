import OpenCoreData

/// The batches of a fetch, whose rows are read together when the first one is needed.
///
/// The framework asks for the rows of a batch one after the other, so rows are kept for a second, and each is used
/// once.
struct ReadAhead {
  private var batches: [[Int64]] = []
  private var positions: [Int64: Int] = [:]
  private var rows: [Int64: StoredRow] = [:]
  private var lastRead = Date.distantPast

  private static let longestFetch = 1_000_000
  private static let lifetime = 1.0

  /// Creates one without batches.
  init() {}

  /// Splits the keys of a fetch into batches.
  init(_ keys: [Int64], batchSize: Int) {
    guard keys.count <= Self.longestFetch else { return }
    batches = stride(from: 0, to: keys.count, by: batchSize).map {
      Array(keys[$0..<min($0 + batchSize, keys.count)])
    }
    for (index, batch) in batches.enumerated() {
      for key in batch { positions[key] = index }
    }
  }

  /// Returns the keys of the batch with a key, once; nil if there is none.
  mutating func takeBatch(with key: Int64) -> [Int64]? {
    guard let index = positions[key] else { return nil }
    let batch = batches[index]
    batches[index] = []
    for key in batch { positions[key] = nil }
    return batch
  }

  /// Keeps the rows of a batch, instead of those of the previous one.
  mutating func keep(_ rows: [StoredRow]) {
    self.rows = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    lastRead = Date()
  }

  /// Returns a row that was read together with others, once; nil if there is none.
  ///
  /// - Parameter age: The maximum age in seconds; a negative one for any.
  mutating func takeRow(_ key: Int64, notOlderThan age: Double) -> StoredRow? {
    guard !rows.isEmpty else { return nil }
    let limit = age < 0 ? Self.lifetime : min(age, Self.lifetime)
    guard Date().timeIntervalSince(lastRead) < limit else {
      rows = [:]
      return nil
    }
    return rows.removeValue(forKey: key)
  }

  /// Forgets the rows, which may be outdated.
  mutating func forgetRows() { rows = [:] }
}
