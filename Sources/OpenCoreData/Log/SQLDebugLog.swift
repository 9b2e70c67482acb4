import ManagedModel
package import ProfileEvents
import Synchronization

/// Writes events as SQLDebug's lines, in Core Data's exact format.
///
/// Levels: 1 the SQL and its times, 2 also the bound values and each fetch with its rows, 3 also
/// the objects of the rows, 4 also the query plans. Information that Core Data's log doesn't
/// contain, or whose format isn't publicly known, has separate lines that begin with `cdprof:`:
/// faults fulfilled from the row cache, times of saves, rows of plans.
/// `Documentation/log-formats.md` describes them all.
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
    /// The number of the last write transaction in each thread's current outermost event.
    var transactions: [UInt64: Int] = [:]
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
      if let earlier {
        // Each SELECT has a total of its own, even if one request needs two. Those of a save, which
        // is a transaction or contains one, have none.
        let isOfSave = state.transactions[event.thread].map { event.parent <= $0 } ?? false
        lines.end(earlier, hasTotal: !isOfSave)
      }
      lines.run(statement)
      if statement.kind == .transaction { state.transactions[event.thread] = event.parent }
      if statement.kind == .select {
        let select = SQLDebugSelect(
          event, logged: earlier.map { $0.logged + $0.duration } ?? 0)
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
    if event.parent == 0, event.kind != .statement {
      state.transactions[event.thread] = nil
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
    let level = requestedLevel(
      CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_SQL_DEBUG"])
    guard level > 0 else { return nil }
    return SQLDebugLog(level: level, showsBinds: true, write: writeToStandardError)
  }()

  /// Returns the level in arguments and variable; 0 for none, and for values that aren't numbers.
  static func requestedLevel(_ arguments: [String], _ variable: String?) -> Int {
    let flag = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug")
    if let flag, arguments.indices.contains(flag + 1), let level = Int(arguments[flag + 1]) {
      return max(0, level)
    }
    return max(0, Int(variable ?? "") ?? 0)
  }

  /// Writes one line to stderr; terminal control characters are escaped.
  ///
  /// A line that can't be written is lost: a closed pipe or a full disk doesn't stop the program.
  package static func writeToStandardError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((PrintableText.line(line) + "\n").utf8))
  }
}

/// Emits the statements that open or create a store, as events without a context.
///
/// Created only for a sink that requires `.opening`: they aren't part of the costs of a program's
/// work, and the counters exclude them. Any thread may use it.
struct StoreOpeningLogger: Sendable {
  private let hub: EventHub

  /// Creates the log, or returns `nil` if no sink requires it.
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
  /// Runs a statement's body and emits the statement, if a sink requires it; one that fails isn't
  /// emitted.
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

/// The lines of one event, in the formats of `Documentation/log-formats.md`.
struct SQLDebugLines {
  let level: Int
  let showsBinds: Bool
  private(set) var all: [String] = []

  init(level: Int, showsBinds: Bool) {
    self.level = level
    self.showsBinds = showsBinds
  }

  /// Writes which information the log has in addition to Core Data's, so that readers can
  /// distinguish "none" from "not logged".
  mutating func announce() {
    own("this log has row-cache hits and save times")
  }

  /// Writes a statement that ran, with its bound values.
  mutating func run(_ statement: StatementRecord) {
    for index in 0..<statement.intArrays {
      annotate("Bound intarray _Z_intarray\(index)")
      annotate("Bound intarray values.")
    }
    all.append("CoreData: sql: \(SQLDebugLines.oneLine(statement.sql, lineEnd: " "))")
    guard level >= 2 else { return }
    for (index, bind) in (statement.binds ?? []).enumerated() {
      let value = showsBinds ? SQLDebugLines.oneLine(bind) : "<private>"
      all.append("CoreData: details: SQLite bind[\(index)] = \(value)")
    }
  }

  mutating func connectionTime(_ duration: UInt64) {
    annotate("sql connection fetch time: \(SQLDebugLines.seconds(duration))")
  }

  /// Writes the total time of a SELECT, and its plan.
  mutating func total(of select: SQLDebugSelect, duration: UInt64) {
    annotate(
      "total fetch execution time: \(SQLDebugLines.seconds(duration)) for \(select.rows) rows.")
    explain(select)
  }

  /// Writes the end of a SELECT that another one of the same event follows.
  mutating func end(_ select: SQLDebugSelect, hasTotal: Bool) {
    if hasTotal { total(of: select, duration: select.duration) } else { explain(select) }
  }

  /// Writes the end of an event, with its last SELECT; `nil` if none is open.
  mutating func end(_ event: Event, with select: SQLDebugSelect?) {
    switch event.kind {
    case .storeOpening:
      annotate(
        "Connecting to sqlite database file at \"\(SQLDebugLines.oneLine(event.path ?? ""))\"")
    case .fetch:
      guard let select else { return }
      if select.isCount { count(event, select) } else { fetch(event, select) }
    case .batchLoad:
      if let select { fetch(event, select) }
    case .objectFault, .relationshipFault:
      fault(event, select)
    case .prefetch:
      guard let select else { return }
      total(of: select, in: event)
      annotate("Prefetching with key '\(event.relationship ?? "")'.  Got \(event.rows) rows.")
    case .transaction:
      // A save's own SELECT isn't a fetch: it has SQLite's time and no total one.
      if let select { explain(select) }
    case .save:
      if let select { explain(select) }
      own(
        "save execution time: \(SQLDebugLines.seconds(event.duration)) for \(event.rows) objects.")
    default:
      if let select { total(of: select, duration: select.duration) }
    }
  }

  private mutating func total(of select: SQLDebugSelect, in event: Event) {
    total(of: select, duration: event.duration - min(event.duration, select.logged))
  }

  private mutating func fetch(_ event: Event, _ select: SQLDebugSelect) {
    if level >= 2 {
      let address = SQLDebugLines.hexadecimal(event.id)
      let text = SQLDebugLines.oneLine(select.statement.sql, lineEnd: " ")
      let line =
        "fetch using NSSQLiteStatement <\(address)> on entity '\(event.entity ?? "")' "
        + "with sql text '\(text) ' returned \(select.rows) rows"
      if level >= 3, let found = select.statement.found {
        annotate("\(line) with values: (")
        for (index, object) in found.enumerated() {
          all.append(SQLDebugLines.value(object) + (index + 1 < found.count ? "," : ""))
        }
        all.append(")")
      } else {
        annotate(line)
      }
    }
    total(of: select, in: event)
  }

  private mutating func count(_ event: Event, _ select: SQLDebugSelect) {
    if level >= 3 {
      let request = event.request
      let predicate = request?.predicate.map { showsBinds ? $0 : "<private>" } ?? "(null)"
      let sort = request.map(\.sort).flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") }
      annotate(
        "count request <NSFetchRequest: \(SQLDebugLines.hexadecimal(event.id))> "
          + "(entity: \(event.entity ?? ""); predicate: (\(SQLDebugLines.oneLine(predicate))); "
          + "sortDescriptors: (\(sort ?? "(null)")); type: NSCountResultType;) "
          + "returned \(event.rows)")
    }
    annotate(
      "total count request execution time: \(SQLDebugLines.seconds(event.duration)) "
        + "for count of \(event.rows).")
    explain(select)
  }

  private mutating func fault(_ event: Event, _ select: SQLDebugSelect?) {
    if let select { total(of: select, in: event) }
    let isHit = event.source == .rowCache
    guard isHit || event.source == .database && select != nil else { return }
    let source = isHit ? "row cache" : "database"
    let key = Int(event.object?.primaryKey ?? 0)
    // Core Data prints the object ID's address or tagged value here; OpenCoreData prints only the
    // key.
    let object = "\(SQLDebugLines.hexadecimal(key)) <\(event.object?.uri ?? "")>"
    let text =
      event.kind == .objectFault
      ? "fault fulfilled from \(source) for : \(object)"
      : "to-many relationship fault \"\(event.relationship ?? "")\" for objectID \(object) "
        + "fulfilled from \(source).  Got \(event.rows) rows"
    if isHit { own(text) } else { annotate(text) }
  }

  /// Adds a statement's query plan, with the prefix `cdprof:`, because Core Data's log doesn't
  /// contain query plans.
  private mutating func explain(_ select: SQLDebugSelect) {
    guard level >= 4, let plan = select.statement.plan else { return }
    let text = SQLDebugLines.oneLine(select.statement.sql, lineEnd: " ")
    all.append("CoreData: details: SQLite: EXPLAIN QUERY PLAN \(text)")
    all += plan.map { "cdprof: plan: \($0)" }
  }

  private mutating func annotate(_ text: String) {
    all.append("CoreData: annotation: \(text)")
  }

  private mutating func own(_ text: String) {
    all.append("cdprof: annotation: \(text)")
  }

  /// Returns one object of a list of values.
  private static func value(_ found: StatementRecord.FoundObject) -> String {
    let object = found.object
    let address = hexadecimal(Int(object.primaryKey))
    return "    \"<\(found.className): \(address)> (entity: \(object.entity); "
      + "id: \(address) <\(object.uri)> ; data: <fault>)\""
  }

  private static func hexadecimal(_ number: Int) -> String {
    "0x" + String(number, radix: 16)
  }

  private static func seconds(_ nanoseconds: UInt64) -> String {
    String(format: "%.4fs", Double(nanoseconds) / 1e9)
  }

  /// Returns a string without line breaks and other control characters, so that no bound value or
  /// name can look like a line of the log.
  ///
  /// - Parameter lineEnd: The replacement for a line feed.
  static func oneLine(_ text: String, lineEnd: String = "\\n") -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { line, scalar in
      switch scalar {
      case "\n": line += lineEnd
      case "\r": line += lineEnd == " " ? " " : "\\r"
      case _ where isControl(scalar): line += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: line.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    PrintableText.isUnsafe(scalar) || scalar == "\n"
  }
}

/// A SELECT whose total time is still to be written: that of the event that requested it.
struct SQLDebugSelect {
  let statement: StatementRecord
  let entity: String?
  let rows: Int
  /// The duration of the SELECT itself, in nanoseconds.
  let duration: UInt64
  let thread: UInt64
  /// The total written for the same event's earlier SELECTs, in nanoseconds.
  let logged: UInt64

  init(_ event: Event, logged: UInt64) {
    statement = event.statement ?? StatementRecord(kind: .select, sql: "")
    entity = event.entity
    rows = event.rows
    duration = event.duration
    thread = event.thread
    self.logged = logged
  }

  /// Whether it's the SELECT of a count; a dictionary fetch that counts has a space after the
  /// parenthesis.
  var isCount: Bool {
    // A program's own store may write the function in lowercase.
    statement.sql.prefix(21).uppercased() == "SELECT COUNT(*) FROM "
      || statement.sql.hasPrefix("SELECT COUNT(DISTINCT t0.Z_PK) FROM ")
  }
}
