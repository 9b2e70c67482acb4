/// The prepared statements of one connection, by text.
struct StatementCache {
  /// What the cache has for a text.
  enum Found {
    /// A statement nobody uses.
    case idle(Statement)
    /// A statement somebody is binding or stepping.
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

  /// Looks a text up.
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
  /// Those still held elsewhere live until they are dropped.
  mutating func removeAll() {
    slots.removeAll()
    places.removeAll()
    latest = 0
  }

  /// A statement that was dropped while in use is idle again: nobody but the cache holds it.
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
