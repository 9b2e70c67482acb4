import ManagedModel
import ProfileEvents

/// The lines of one event, in the formats of `Documentation/log-formats.md`.
struct SQLDebugLines {
  let level: Int
  let showsBinds: Bool
  private(set) var all: [String] = []

  init(level: Int, showsBinds: Bool) {
    self.level = level
    self.showsBinds = showsBinds
  }

  /// Writes which information the log has in addition to Core Data's, so that readers can distinguish "none"
  /// from "not logged".
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

  /// Writes the end of an event, with its last SELECT; nil if none is open.
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
    total(of: select, duration: event.duration - min(event.duration, select.told))
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
    // Core Data prints the object ID's address or tagged value here; OpenCoreData prints only the key.
    let object = "\(SQLDebugLines.hexadecimal(key)) <\(event.object?.uri ?? "")>"
    let text =
      event.kind == .objectFault
      ? "fault fulfilled from \(source) for : \(object)"
      : "to-many relationship fault \"\(event.relationship ?? "")\" for objectID \(object) "
        + "fulfilled from \(source).  Got \(event.rows) rows"
    if isHit { own(text) } else { annotate(text) }
  }

  /// Query plans are in no public log, so they have the `cdprof:` prefix.
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
  let told: UInt64

  init(_ event: Event, told: UInt64) {
    statement = event.statement ?? StatementRecord(kind: .select, sql: "")
    entity = event.entity
    rows = event.rows
    duration = event.duration
    thread = event.thread
    self.told = told
  }

  /// Whether it's the SELECT of a count; a dictionary fetch that counts has a space after the parenthesis.
  var isCount: Bool {
    statement.sql.hasPrefix("SELECT COUNT(*) FROM ")
      || statement.sql.hasPrefix("SELECT COUNT(DISTINCT t0.Z_PK) FROM ")
  }
}
