/// The prepared statements of one connection, by text.
struct StatementCache {
  /// The entry of the cache for SQL.
  enum Found {
    /// A statement that isn't in use.
    case idle(Statement)
    /// A statement that is being bound or stepped.
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

  /// Looks up SQL.
  ///
  /// Asking for the same text as the time before costs no hashing.
  mutating func find(_ sql: String) -> Found {
    if latest >= slots.count || slots[latest].statement.sql != sql {
      guard let place = places[sql] else { return .absent }
      latest = place
    }
    uses &+= 1
    slots[latest].lastUse = uses
    return isIdle(latest) ? .idle(slots[latest].statement) : .taken
  }

  /// Keeps a statement whose text is not in the cache; the least recently used one makes room.
  mutating func insert(_ statement: Statement) {
    guard limit > 0 else { return }
    if slots.count >= limit { evict() }
    uses &+= 1
    latest = slots.count
    places[statement.sql] = latest
    slots.append(Slot(statement: statement, lastUse: uses))
  }

  /// Lets all statements go.
  ///
  /// Those that are still referenced live until they're released.
  mutating func removeAll() {
    slots.removeAll()
    places.removeAll()
    latest = 0
  }

  /// A statement that was released while in use is idle again: only the cache references it.
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
