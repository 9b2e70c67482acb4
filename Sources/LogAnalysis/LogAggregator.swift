import ProfileEvents

/// Counts what the messages of a log say.
struct LogAggregator {
  /// One thread's part.
  struct Lane {
    var nesting = LogNesting()
    /// The statement run last, whatever it was.
    var last: Int?
    /// The statement run last where the log says `<private>`: a fetch, if the time of one follows.
    var hidden: LogNesting.Open?
    /// The line of the last total time, change, end of a transaction or save: no SELECT before it is truncated there.
    var settledLine = 0
    /// Whether the values bound to it are still to be noted.
    var wantsBinds = false
    /// Whether a write transaction is open.
    var isInTransaction = false
    /// Whether it has changed rows of entities.
    var hasWritten = false
  }

  /// A part that is counted by itself.
  struct Part {
    var costs = LogCosts()
    var storms = FaultStormDetector()
    /// By the statement: how often it was run.
    var calls: [Int: Int] = [:]
  }

  var shapes = LogShapes()
  var whole = Part()
  /// The section that is open.
  var section: (name: String, line: Int, time: String, part: Part)?
  var sections: [LogSection] = []
  var lanes: [String: Lane] = [:]
  var stores: [String] = []
  var complaints = LogSamples(limit: 100)
  var entities: [String: String] = [:]
  /// Whether the log has lines for faults that the row cache fills.
  var tellsHits = false
  var saveTimes = LogTimes()
  /// Whether the log has the total times of fetches.
  var tellsTotals = false
  /// Times that no statement was open for.
  var unmatched = 0
  /// SELECTs on rows so far.
  var ordinal = 0
  /// The statement whose plan is being read.
  var explained: Int?

  /// Takes a message that is over.
  mutating func take(_ message: LogMessage, _ kind: LogKind) {
    var lane = lanes[message.lane] ?? Lane()
    lanes[message.lane] = nil
    defer { keep(lane, message.lane) }
    if kind != .plan { explained = nil }
    switch kind {
    case .sql: run(message, &lane)
    case .bind: bind(message.text, &lane)
    case .connectionTime: answer(message.text, &lane)
    case .fetchTime, .countTime: close(message, isCount: kind == .countTime, &lane)
    case .executionTime: execute(message.text, &lane)
    case .objectFault, .relationshipFault: fault(message, kind, &lane)
    case .prefetch: prefetch(message.text, &lane)
    case .fetchResult, .countResult: name(message.text, &lane)
    case .explain:
      explained =
        message.text.after("EXPLAIN QUERY PLAN ").flatMap { shapes.known($0.trimmed) }
        ?? lane.last
      // Each run has its plan in the log; the latest is kept.
      if let explained { shapes[explained].loggedPlan = [] }
    case .plan: plan(message.logClass == .cdprof ? message.text.after("plan: ") : message.text)
    case .connecting: connect(message.text)
    case .rowCacheHit: hit(message.text)
    case .saveTime:
      lane.settledLine = message.line
      save(message.text)
    case .ours: tellsHits = tellsHits || message.text.contains("row-cache hits")
    case .error, .warning, .fault: complaints.add(message)
    default: break
    }
  }

  private mutating func keep(_ lane: Lane, _ name: String) {
    // A log of days has seen many threads; those that wait for nothing are forgotten.
    if lanes.count > 2_000 {
      lanes = lanes.filter { !$0.value.nesting.isIdle || $0.value.isInTransaction }
    }
    lanes[name] = lane
  }

  /// Counts for the whole log and for the section that is open.
  mutating func count(_ body: (inout Part) -> Void) {
    body(&whole)
    guard var open = section else { return }
    // Taken out while it changes, so that its dictionaries are not copied.
    section = nil
    body(&open.part)
    section = open
  }

  /// A save of OpenCoreData's, which tells each one: no transaction has to stand for it.
  private mutating func save(_ text: LogBytes) {
    LogAggregator.microseconds(text).map { saveTimes.add($0) }
    if tellsHits { count { $0.costs.count(.saves, table: nil) } }
  }

  private mutating func plan(_ text: LogBytes?) {
    guard let text, let explained, !text.starts(with: "QUERY PLAN"),
      shapes[explained].loggedPlan.count < 100
    else { return }
    shapes[explained].loggedPlan.append(text.string)
  }

  private mutating func connect(_ text: LogBytes) {
    guard
      let path = text.after("\"").map({ LogBytes($0.bytes.prefix { $0 != UInt8(ascii: "\"") }) })
    else { return }
    if !stores.contains(path.string), stores.count < 100 { stores.append(path.string) }
  }

  private func bindText(_ text: LogBytes) -> String? {
    text.after(" = ")?.trimmed.string
  }

  private mutating func bind(_ text: LogBytes, _ lane: inout Lane) {
    guard lane.wantsBinds, let last = lane.last, let value = bindText(text) else { return }
    shapes[last].binds.append(value)
  }

  /// The longest time that a line may report, a day, in microseconds.
  ///
  /// A line with a longer one isn't understood.
  private static let longest = 86_400_000_000
  /// The most rows that a line may report.
  private static let mostRows = 1_000_000_000

  /// Whether a line reports a time or rows beyond the limits.
  static func isBeyondLimits(_ text: LogBytes) -> Bool {
    if let start = text.lastRange(of: "time: ")?.upperBound,
      text.bytes[start...].first?.isDigit == true, microseconds(text) == nil
    {
      return true
    }
    let rows = text.after("s for ") ?? text.after("s. for ")
    let number = rows?.after("count of ")?.leadingNumber ?? rows?.leadingNumber ?? 0
    return !(0...mostRows).contains(number)
  }

  /// `0.0002s`, `0.4789s.`, behind the last `time: `, in microseconds; nil for none, and for one that's
  /// beyond the limit.
  static func microseconds(_ text: LogBytes) -> Int? {
    guard let start = text.lastRange(of: "time: ")?.upperBound else { return nil }
    var number = 0
    var places = -1
    for byte in text.bytes[start...] {
      if byte.isDigit {
        guard number <= LogAggregator.longest else { return nil }
        if places < 6 { number = number * 10 + Int(byte - UInt8(ascii: "0")) }
        if places >= 0, places < 6 { places += 1 }
      } else if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ","), places < 0 {
        places = 0
      } else {
        break
      }
    }
    for _ in max(0, places)..<6 where number <= LogAggregator.longest { number *= 10 }
    return number <= LogAggregator.longest ? number : nil
  }
}

extension LogAggregator {
  /// Begins or ends a section: the text behind `cdprof:`.
  mutating func mark(_ message: LogMessage) {
    settle()
    endSection(at: message.line)
    guard message.text.starts(with: "begin"), let name = message.text.after("begin")?.trimmed else {
      return
    }
    section = (name.string, message.line, message.time.text, Part())
  }

  /// Ends the section that is open.
  mutating func endSection(at line: Int) {
    guard let open = section else { return }
    section = nil
    sections.append(
      LogSection(
        name: open.name, firstLine: open.line, lastLine: line, firstTime: open.time,
        costs: open.part.costs, storms: open.part.storms.found, calls: open.part.calls))
  }

  /// Counts what waits for its next line: nothing of it comes any more.
  ///
  /// A fetch has a total time. A SELECT that SQLite has answered and that has none, while later ones
  /// have, was sent by a save or a merge for itself; behind the last one the log may be truncated.
  mutating func settle() {
    for name in lanes.keys.sorted() {
      guard var lane = lanes[name] else { continue }
      confirm(&lane)
      for open in lane.nesting.abandon()
      where open.connection == nil || !tellsTotals || open.line > lane.settledLine {
        fetched(open, 0)
      }
      lanes[name] = lane
    }
  }
}

extension LogNesting {
  /// Whether nothing is open.
  var isIdle: Bool { closed == nil && openCount == 0 }
}

extension LogAggregator {
  /// A fault was filled; the statement before it did so, if it came from the database.
  mutating func fault(_ message: LogMessage, _ kind: LogKind, _ lane: inout Lane) {
    let entity = LogAggregator.entity(in: message.text)
    guard message.text.contains("from database") else {
      hit(message.text)
      return
    }
    let closed = lane.nesting.closed ?? lane.nesting.closeUntimed(after: 0)
    lane.nesting.closed = nil
    var subject = entity ?? "?"
    if kind == .objectFault {
      count { $0.costs.count(.misses, entity: entity) }
    } else {
      subject += "." + (LogAggregator.quoted(message.text) ?? "?")
      let relationship = subject
      count { $0.costs.count(.misses, relationship: relationship) }
    }
    guard let closed else { return }
    let statement = closed.open.statement
    if kind == .objectFault {
      shapes[statement].objectFaults += 1
      learn(entity, statement)
    } else {
      shapes[statement].relationshipFaults += 1
    }
    let sighting = FaultStormDetector.Sighting(
      kind: .faultStorm, subject: subject, statement: statement, line: closed.open.line,
      time: closed.open.time, ordinal: closed.open.ordinal, microseconds: closed.total)
    count { $0.storms.see(sighting) }
  }

  /// A fault fulfilled from the row cache, which only OpenCoreData's log contains.
  mutating func hit(_ text: LogBytes) {
    tellsHits = true
    let entity = LogAggregator.entity(in: text)
    guard text.contains("relationship fault") else {
      count { $0.costs.count(.hits, entity: entity) }
      return
    }
    let relationship = "\(entity ?? "?").\(LogAggregator.quoted(text) ?? "?")"
    count { $0.costs.count(.hits, relationship: relationship) }
  }

  /// The SELECT before was a prefetch.
  ///
  /// `Prefetching with key 'attachments'.  Got 1581 rows.`
  mutating func prefetch(_ text: LogBytes, _ lane: inout Lane) {
    let closed = lane.nesting.closed ?? lane.nesting.closeUntimed(after: 0)
    lane.nesting.closed = nil
    if let closed { shapes[closed.open.statement].prefetches += 1 }
    let key = LogAggregator.quoted(text)
    count { $0.costs.count(.prefetches, relationship: key) }
  }

  /// `… on entity 'Person' with sql text …`, `(entity: Word; …`: what the statement was for.
  mutating func name(_ text: LogBytes, _ lane: inout Lane) {
    let entity =
      text.starts(with: "fetch using")
      ? LogAggregator.quoted(text) : text.after("(entity: ")?.before(";").string
    guard let last = lane.last, let entity else { return }
    shapes[last].entity = entity
    learn(entity, last)
  }

  /// Notes whose rows a table has; of a hierarchy's table that is not known.
  private mutating func learn(_ entity: String?, _ statement: Int) {
    guard let entity, !entity.isEmpty, !entity.hasPrefix("<"),
      let table = shapes[statement].table?.uppercased()
    else { return }
    if let known = entities[table], known != entity {
      entities[table] = LogAggregator.several
    } else {
      entities[table] = entity
    }
  }

  /// Instead of an entity's name: the table has rows of several.
  static let several = ""

  /// The entity of an object ID's URI: `<x-coredata://STORE/Country/p4>`.
  static func entity(in text: LogBytes) -> String? {
    guard let path = text.after("x-coredata://")?.after("/") else { return nil }
    let name = path.bytes.prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") && !$0.isBlank
    }
    return name.isEmpty ? nil : LogBytes(name).string
  }

  /// What is between the first pair of quotes, single or double.
  static func quoted(_ text: LogBytes) -> String? {
    guard
      let start = text.bytes.firstIndex(where: {
        $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"")
      }),
      let end = text.bytes[(start + 1)...].firstIndex(of: text.bytes[start])
    else { return nil }
    return LogBytes(text.bytes[(start + 1)..<end]).string
  }
}
