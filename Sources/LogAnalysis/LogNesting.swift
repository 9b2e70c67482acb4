/// The fetches of one thread that are open: begun by their statement, not yet closed by their time.
///
/// A prefetch runs inside its fetch, so the time that comes last belongs to the statement that came
/// first. The innermost fetch that SQLite has answered is the one that a total time closes.
struct LogNesting {
  /// A statement whose times are still to come.
  struct Open {
    var statement: Int
    var line: Int
    var time: LogTime
    var isCount: Bool
    /// How many SELECTs came before it.
    var ordinal: Int
    /// SQLite's part in microseconds, once the log has said it.
    var connection: Int?
    /// Microseconds of the fetches inside.
    var inner = 0
  }

  /// A statement whose time is known, until the next line says what it was for.
  struct Closed {
    var open: Open
    /// In microseconds.
    var total: Int
  }

  /// The outermost first.
  private var open: [Open] = []
  /// The last that was closed and may still be named a fault or a prefetch.
  var closed: Closed?

  var openCount: Int { open.count }

  /// More open at once than any framework nests; the oldest then lost its time.
  private static let limit = 64

  /// Begins a SELECT.
  ///
  /// - Returns: one that will not be closed any more.
  mutating func begin(_ statement: Open) -> Open? {
    open.append(statement)
    return open.count > LogNesting.limit ? open.removeFirst() : nil
  }

  /// SQLite's time for the innermost statement that has none.
  mutating func answer(_ microseconds: Int) -> Open? {
    guard
      let place = open.lastIndex(where: { $0.connection == nil && !$0.isCount })
        ?? open.lastIndex(where: { $0.connection == nil })
    else { return nil }
    open[place].connection = microseconds
    return open[place]
  }

  /// Takes the statement that a total time closes; nil when none is open.
  mutating func close(_ microseconds: Int, isCount: Bool) -> Closed? {
    let place =
      isCount
      ? open.lastIndex(where: \.isCount)
      : open.lastIndex(where: { $0.connection != nil && !$0.isCount })
        ?? open.lastIndex(where: { !$0.isCount })
    guard let place = place ?? open.indices.last else { return nil }
    let statement = open.remove(at: place)
    // The fetch around it is one that began before and that SQLite has answered.
    if let outer = open[..<place].lastIndex(where: { $0.connection != nil }) {
      open[outer].inner += microseconds
    }
    return Closed(open: statement, total: microseconds)
  }

  /// Takes the innermost statement without a time: for a fault whose times were cut off.
  mutating func closeUntimed(after line: Int) -> Closed? {
    guard let last = open.last, last.line > line else { return nil }
    open.removeLast()
    return Closed(open: last, total: 0)
  }

  /// Takes all that are open, the outermost first.
  mutating func abandon() -> [Open] {
    defer { open = [] }
    return open
  }

  /// Takes those that SQLite has not answered: a change of rows comes after them.
  mutating func abandonUnanswered() -> [Open] {
    let lost = open.filter { $0.connection == nil }
    if !lost.isEmpty { open.removeAll { $0.connection == nil } }
    return lost
  }
}
