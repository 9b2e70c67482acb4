import ManagedModel
package import ProfileEvents
import Synchronization

/// Writes events as SQLDebug's lines, in Core Data's exact format.
///
/// Levels: 1 the SQL and its times, 2 also the bound values and each fetch with its rows, 3 also the
/// objects of the rows, 4 also the query plans. Information that Core Data's log doesn't contain, or
/// whose format isn't publicly known, has separate lines that begin with `cdprof:`: faults fulfilled
/// from the row cache, times of saves, rows of plans. `Documentation/log-formats.md` describes them
/// all.
///
/// Each entry is one line: control characters inside of a string are written as `\n` and so on.
/// The lines of one event are contiguous, whatever other threads do.
package final class SQLDebugLog: EventSink {
  /// 0 to 4; 0 writes nothing.
  package let level: Int
  /// Whether bound values are written; otherwise `<private>` is.
  package let showsBinds: Bool
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// The pending lines, by the number of the event that requested them.
  private struct State {
    var open: [Int: SQLDebugSelect] = [:]
    var hasBegun = false
  }

  /// Creates a log.
  ///
  /// - Parameters:
  ///   - showsBinds: Whether to write bound values, which are the user's data.
  ///   - write: Called with one line at a time, without a line feed; must not cause events.
  package init(
    level: Int, showsBinds: Bool = false, write: @escaping @Sendable (String) -> Void
  ) {
    self.level = level
    self.showsBinds = showsBinds
    self.write = write
  }

  /// The details of events that the level requires.
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
      // Each SELECT has a total of its own, even if one request needs two.
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
      // Nested events that failed aren't emitted, and their SELECTs never get a total.
      state.open = state.open.filter { $0.key < event.id || $0.value.thread != event.thread }
    }
    return lines.all
  }
}

extension SQLDebugLog {
  /// The log that the process's arguments or environment request, on stderr: by Apple's argument
  /// `-com.apple.CoreData.SQLDebug N`, or by `CDPROF_SQL_DEBUG=N` in the environment.
  ///
  /// Bound values are written, as in Core Data's log: level 2 explicitly requests them.
  static let requestedByArguments: SQLDebugLog? = {
    let level = askedFor(
      CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_SQL_DEBUG"])
    guard level > 0 else { return nil }
    return SQLDebugLog(level: level, showsBinds: true, write: writeToStandardError)
  }()

  /// Returns the level in arguments and variable; 0 for none, and for values that aren't numbers.
  static func askedFor(_ arguments: [String], _ variable: String?) -> Int {
    let flag = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug")
    if let flag, arguments.indices.contains(flag + 1), let level = Int(arguments[flag + 1]) {
      return max(0, level)
    }
    return max(0, Int(variable ?? "") ?? 0)
  }

  /// Writes one line to stderr; terminal control characters are escaped.
  package static func writeToStandardError(_ line: String) {
    FileHandle.standardError.write(Data((PrintableText.line(line) + "\n").utf8))
  }
}

/// Emits the statements that open or create a store, as events without a context.
///
/// Created only for a sink that requires `.opening`: they aren't part of the costs of a program's
/// work, and the counters exclude them. Any thread may use it.
struct StoreOpeningLogger: Sendable {
  private let hub: EventHub

  /// Nil if no sink requires it.
  init?(_ hub: EventHub) {
    guard hub.detail.contains(.opening) else { return nil }
    self.hub = hub
  }

  /// Emits a statement that has run.
  ///
  /// - Parameter begin: Nanoseconds of `MonotonicClock`; now for a statement that wasn't timed.
  func log(_ sql: String, _ kind: StatementKind = .housekeeping, begin: UInt64? = nil) {
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
  /// Runs a statement's body and emits the statement, if a sink requires it; one that fails isn't emitted.
  func logging<R>(
    _ sql: String, _ kind: StatementKind = .housekeeping, _ body: () throws -> R
  ) rethrows -> R {
    guard let logger = self else { return try body() }
    let begin = MonotonicClock.now()
    let result = try body()
    logger.log(sql, kind, begin: begin)
    return result
  }
}
