import ManagedModel
package import ProfileEvents
import Synchronization

/// Writes events as SQLDebug's lines, in Apple's exact shapes.
///
/// Levels: 1 the SQL and its times, 2 the bound values and each fetch with its rows as well, 3 the
/// objects of the rows too, 4 the query plans. Each has all lines of those below it. What Apple's log
/// does not say, and where nobody has seen how it says it, has lines of our own, which begin with
/// `cdprof:`: faults that the row cache filled, times of saves, rows of plans.
/// `Documentation/log-formats.md` has them all.
///
/// A line is a line: control characters inside a text are written as `\n` and the like. The lines of one
/// event stand together, whatever other threads do.
package final class SQLDebugLog: EventSink {
  /// 0 to 4; 0 writes nothing.
  package let level: Int
  /// Whether bound values are written as they are; `<private>` stands in their place otherwise.
  package let showsBinds: Bool
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// What is still to be written, by the number of the event that asked.
  private struct State {
    var open: [Int: SQLDebugSelect] = [:]
    var hasBegun = false
  }

  /// Makes a log.
  ///
  /// - Parameters:
  ///   - showsBinds: Values are the user's data; they are kept back unless asked for.
  ///   - write: Gets one line at a time, without a line feed, and must not cause events.
  package init(
    level: Int, showsBinds: Bool = false, write: @escaping @Sendable (String) -> Void
  ) {
    self.level = level
    self.showsBinds = showsBinds
    self.write = write
  }

  /// What the level needs beyond the cheap fields of events.
  package var detail: EventDetail {
    var detail: EventDetail = level >= 1 ? [.opening] : []
    if level >= 2 { detail.insert(.binds) }
    if level >= 3 { detail.insert(.rows) }
    if level >= 4 { detail.insert(.plans) }
    return detail
  }

  /// Writes the lines of one event.
  package func record(_ event: Event) {
    guard level > 0 else { return }
    state.withLock { state in
      for line in lines(of: event, &state) { write(line) }
    }
  }

  private func lines(of event: Event, _ state: inout State) -> [String] {
    var lines = SQLDebugLines(level: level, showsBinds: showsBinds)
    if !state.hasBegun, event.kind != .storeOpening { lines.announce() }
    if event.kind == .statement, let statement = event.statement {
      let earlier = statement.kind == .select ? state.open[event.parent] : nil
      // Each SELECT has a total of its own, even where one request needs two.
      if let earlier { lines.total(of: earlier, duration: earlier.duration) }
      lines.run(statement)
      if statement.kind == .select {
        let select = SQLDebugSelect(
          event, told: earlier.map { $0.told + $0.duration } ?? 0)
        if !select.isCount { lines.connectionTime(event.duration) }
        if event.parent == 0 {
          lines.total(of: select, duration: select.duration)
        } else {
          state.open[event.parent] = select
        }
      }
    } else {
      lines.end(event, with: state.open.removeValue(forKey: event.id))
    }
    if !state.hasBegun, event.kind == .storeOpening { lines.announce() }
    state.hasBegun = true
    if event.parent == 0, event.kind != .statement, !state.open.isEmpty {
      // What failed inside is not told, and its SELECTs never get their total.
      state.open = state.open.filter { $0.key < event.id || $0.value.thread != event.thread }
    }
    return lines.all
  }
}

extension SQLDebugLog {
  /// The log that the process asks for, on standard error: by the argument
  /// `-com.apple.CoreData.SQLDebug N`, which is Apple's, or by `CDPROF_SQL_DEBUG=N` in the environment.
  ///
  /// Bound values are written, as Apple's log does: whoever starts a program with level 2 asks for them.
  static let requestedByArguments: SQLDebugLog? = {
    let level = askedFor(
      CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_SQL_DEBUG"])
    guard level > 0 else { return nil }
    return SQLDebugLog(level: level, showsBinds: true, write: writeToStandardError)
  }()

  /// The level that arguments and variable ask for; 0 for none, and for what isn't a number.
  static func askedFor(_ arguments: [String], _ variable: String?) -> Int {
    let flag = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug")
    if let flag, arguments.indices.contains(flag + 1), let level = Int(arguments[flag + 1]) {
      return max(0, level)
    }
    return max(0, Int(variable ?? "") ?? 0)
  }

  /// Writes one line to standard error; what would act on a terminal is escaped.
  package static func writeToStandardError(_ line: String) {
    FileHandle.standardError.write(Data((PrintableText.line(line) + "\n").utf8))
  }
}

/// Tells the statements by which a store is opened or made, as events of no context.
///
/// Made only for a sink that asks for `.opening`: they are no part of what a program's work costs, and
/// the counters leave them out. Any thread may use it.
struct StoreOpeningLogger: Sendable {
  private let hub: EventHub

  /// Nil when nobody asks.
  init?(_ hub: EventHub) {
    guard hub.detail.contains(.opening) else { return nil }
    self.hub = hub
  }

  /// Tells a statement that has run.
  ///
  /// - Parameter begin: nanoseconds of `MonotonicClock`; now for one whose time nobody took.
  func tell(_ sql: String, _ kind: StatementKind = .housekeeping, begin: UInt64? = nil) {
    let now = MonotonicClock.now()
    let begin = begin ?? now
    var event = Event(
      id: hub.nextID(), parent: 0, kind: .statement, begin: begin, duration: now - begin,
      thread: MonotonicClock.threadID())
    event.statement = StatementRecord(kind: kind, sql: sql)
    hub.emit(event)
  }
}

extension Optional<StoreOpeningLogger> {
  /// Runs what a statement does and tells it, if somebody asks; one that fails is not told.
  func telling<R>(
    _ sql: String, _ kind: StatementKind = .housekeeping, _ body: () throws -> R
  ) rethrows -> R {
    guard let teller = self else { return try body() }
    let begin = MonotonicClock.now()
    let result = try body()
    teller.tell(sql, kind, begin: begin)
    return result
  }
}
