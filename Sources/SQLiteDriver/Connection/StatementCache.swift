/// The prepared statements of a connection, by SQL.
struct StatementCache {
  /// The result of a cache lookup.
  enum Found {
    /// A statement that is available.
    case idle(Statement)
    /// A statement that is in use.
    case taken
    case absent
  }

  private struct Slot {
    var statement: Statement
    var lastUse: UInt64
  }

  private let limit: Int
  private var slots: [Slot] = []
  private var places: [String: Int] = [:]
  private var latest = 0
  private var uses: UInt64 = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// Looks up the statement for SQL.
  ///
  /// **Cost:** no hashing if the SQL is the same as in the previous lookup.
  mutating func find(_ sql: String) -> Found {
    if latest >= slots.count || slots[latest].statement.sql != sql {
      guard let place = places[sql] else { return .absent }
      latest = place
    }
    uses &+= 1
    slots[latest].lastUse = uses
    return isIdle(latest) ? .idle(slots[latest].statement) : .taken
  }

  /// Adds a statement whose SQL isn't in the cache, and removes the least recently used one if
  /// necessary.
  mutating func insert(_ statement: Statement) {
    guard limit > 0 else { return }
    if slots.count >= limit { evict() }
    uses &+= 1
    latest = slots.count
    places[statement.sql] = latest
    slots.append(Slot(statement: statement, lastUse: uses))
  }

  /// Removes all statements.
  ///
  /// Those that are still referenced stay valid until they're released.
  mutating func removeAll() {
    slots.removeAll()
    places.removeAll()
    latest = 0
  }

  /// Returns whether a statement is available, which includes one that was released while in use:
  /// only the cache references it.
  private mutating func isIdle(_ place: Int) -> Bool {
    slots[place].statement.state != .inUse
      || isKnownUniquelyReferenced(&slots[place].statement)
  }

  private mutating func evict() {
    guard let oldest = slots.indices.min(by: { slots[$0].lastUse < slots[$1].lastUse }) else {
      return
    }
    places[slots[oldest].statement.sql] = nil
    let last = slots.removeLast()
    if oldest < slots.count {
      slots[oldest] = last
      places[last.statement.sql] = oldest
    }
  }
}
