import OpenCoreData

/// Rows that were read together, because the framework asks for them one after the other.
///
/// They're kept for a second, and each is used once.
struct ReadAhead {
  private var rows: [RowIdentity: StoredRow] = [:]
  private var lastRead = Date.distantPast

  private static let lifetime = 1.0

  /// Keeps rows, instead of earlier ones.
  mutating func keep(_ rows: [StoredRow]) {
    self.rows = Dictionary(rows.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
    lastRead = Date()
  }

  /// Returns a row that was read together with others, once; nil if there is none.
  ///
  /// - Parameter age: The maximum age in seconds; a negative one for any.
  mutating func takeRow(_ row: RowIdentity, notOlderThan age: Double) -> StoredRow? {
    guard !rows.isEmpty else { return nil }
    let limit = age < 0 ? Self.lifetime : min(age, Self.lifetime)
    guard Date().timeIntervalSince(lastRead) < limit else {
      rows = [:]
      return nil
    }
    return rows.removeValue(forKey: row)
  }

  /// Forgets the rows, which may be outdated.
  mutating func forgetRows() { rows = [:] }
}
