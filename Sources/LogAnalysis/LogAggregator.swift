import ProfileEvents
import WorkbenchText

/// Counts the events that the messages of a log report.
struct LogAggregator {
  /// The state of one thread.
  struct ThreadState {
    let name: LogThread
    var nesting = LogNesting()
    /// The number of the thread's SELECTs so far, plus that of all SELECTs before its state was
    /// created.
    ///
    /// So the SELECTs of a thread whose state was removed are far apart.
    var ordinal = 0
    /// The last statement, of any kind.
    var last: Int?
    /// The last statement if the log hides it as `<private>`.
    ///
    /// It's a fetch if the time of a fetch follows.
    var hidden: LogNesting.Open?
    /// The last statement if it's a SELECT on a table of the history or of mirroring to CloudKit.
    ///
    /// If it's a fetch, SQLite's time or the time of a count follows.
    var internalSelect: LogNesting.Open?
    /// The line of the last total time, change of rows, end of a transaction, or save.
    ///
    /// SELECTs before it aren't truncated by the end of the log.
    var settledLine = 0
    /// Whether to record the values bound to the last statement.
    var wantsBinds = false
    /// Whether values bound to the last statement were recorded.
    var hasBound = false
    /// Whether a write transaction is open.
    var isInTransaction = false
    /// Whether the transaction changed rows of entities.
    var hasWritten = false
    /// Whether a message of the thread followed the last mark of a section.
    var isActive = false
  }

  /// A part of the log that is counted separately.
  struct Part {
    var costs = LogCosts()
    var storms = RepeatedStatementDetector()
    /// The number of executions, by statement.
    var calls: [Int: Int] = [:]
    /// What is counted for each execution of a SELECT, by statement.
    ///
    /// Only in sections, each of which executes few of the log's statements.
    var reads: [Int: Reads] = [:]
  }

  struct OpenSection {
    var name = ""
    var line = 0
    var time = ""
    var part = Part()
  }

  /// The counts of a SELECT, which are added to those of its table at the end.
  struct Reads {
    var selects = 0
    var fetches = 0
    private(set) var misses = 0
    var prefetches = 0
    /// The number of rows, or `nil` if the log doesn't contain it.
    private(set) var rows: Int?
    /// The subject of the statement's first fault, nearly always that of all its faults.
    private(set) var subject: FaultSubject?
    /// The number of misses of `subject`, which are added to the costs at the end.
    private(set) var subjectMisses = 0

    mutating func add(rows more: Int) {
      rows = (rows ?? 0) + more
    }

    /// Counts a miss, in the costs if its subject is another than that of the first.
    mutating func miss(_ missed: FaultSubject, _ costs: inout LogCosts) {
      misses += 1
      if subject == nil { subject = missed }
      if subject == missed { subjectMisses += 1 } else { missed.count(1, in: &costs) }
    }

    /// The counts that aren't 0.
    var counts: [Metric: Int] {
      [
        .selects: selects, .fetches: fetches, .rows: rows ?? 0, .misses: misses,
        .prefetches: prefetches,
      ].filter { $0.value > 0 }
    }
  }

  var shapes = LogShapes()
  private(set) var whole = Part()
  /// What is counted for each execution of a SELECT in the log, by statement.
  var reads: [Reads] = []
  /// The open section, if there is one.
  var section = OpenSection()
  var isInSection = false
  var sections: [LogSection] = []
  /// The states of all threads, in the order of first appearance.
  private(set) var threads = [ThreadState(name: .unknown)]
  /// The positions of the threads.
  private var positions: [LogThread: Int] = [.unknown: 0]
  /// The position of the thread of the last message.
  var current = 0
  /// The positions of the threads with messages since the last mark of a section.
  var active: [Int] = []
  /// The number of threads beyond which those that aren't waiting for a line are removed.
  private var threadLimit = 2_000
  /// The size of the bound values that are kept, in bytes.
  private var bindSize = 0
  /// The maximum of that size.
  var bindLimit = InputLimits.logBinds
  /// The number of sections beyond the limit.
  var leftOutSections = 0
  /// The number of statements that are kept for sections, added up.
  var sectionStatements = 0
  /// The maximum of that number.
  var sectionStatementLimit = InputLimits.sectionStatements
  /// The number of sections whose statements aren't kept.
  var sectionsWithoutStatements = 0
  /// The number of tables, entities, and relationships that are kept for sections, added up.
  var sectionSubjects = 0
  /// The maximum of that number.
  var sectionSubjectLimit = InputLimits.sectionSubjects
  /// The number of sections whose tables, entities, and relationships aren't kept.
  var sectionsWithoutSubjects = 0
  var stores: [String] = []
  var problems = LogSamples(limit: 100)
  var entities: [String: String] = [:]
  /// The results of `subject(of:)`, by statement, while `entities` doesn't change.
  var subjects: [String?] = []
  /// Whether the log contains faults fulfilled from the row cache.
  var logsHits = false
  var saveTimes = LogTimes()
  var slowest = SlowestExecutions()
  /// Whether the log contains the total times of fetches.
  var logsTotals = false
  /// The number of times without an open statement.
  var unmatched = 0
  /// The sum of all times, in microseconds, which no other sum exceeds.
  var measured = 0
  /// The number of SELECTs on entity tables and join tables so far.
  var ordinal = 0
  /// The executions for a trace; `nil` if none is written.
  var timeline: LogTimeline?
  /// The statement whose query plan is being read.
  var explained: Int?

  /// Processes a complete message.
  mutating func take(_ message: LogMessage, _ kind: LogKind) {
    enter(message.thread)
    if !thread.isActive {
      thread.isActive = true
      active.append(current)
    }
    guard measure(message) else {
      unmatched += 1
      return
    }
    if kind != .plan { explained = nil }
    switch kind {
    case .sql: run(message)
    case .bind: bind(message.text)
    case .connectionTime: answer(message)
    case .fetchTime, .countTime: close(message, isCount: kind == .countTime)
    case .executionTime: execute(message)
    case .objectFault, .relationshipFault: fault(message, kind)
    case .prefetch: prefetch(message.text)
    case .fetchResult, .countResult: name(message.text)
    case .explain:
      explained =
        message.text.after("EXPLAIN QUERY PLAN ").flatMap { shapes.known($0.trimmed) }
        ?? thread.last.flatMap { shapes[$0].isOther ? nil : $0 }
      // Each execution logs its plan. Keep the latest.
      if let explained { shapes[explained].loggedPlan = [] }
    case .plan: plan(message.logClass == .cdprof ? message.text.after("plan: ") : message.text)
    case .connecting: connect(message.text)
    case .rowCacheHit: hit(message.text)
    case .saveTime:
      thread.settledLine = message.line
      save(message)
    case .cdprof: logsHits = logsHits || message.text.contains("row-cache hits")
    case .error, .warning, .fault: problems.add(message)
    default: break
    }
  }

  /// Adds the time of a message to the sum, and returns whether the sum is a 64-bit integer.
  private mutating func measure(_ message: LogMessage) -> Bool {
    guard let time = message.measurement.microseconds else { return true }
    let (sum, isBeyond) = measured.addingReportingOverflow(time)
    if !isBeyond { measured = sum }
    return !isBeyond
  }

  /// The state of the current thread, which is changed in place.
  var thread: ThreadState {
    _read { yield threads[current] }
    _modify { yield &threads[current] }
  }

  /// Makes a thread the current one.
  private mutating func enter(_ name: LogThread) {
    guard name != thread.name else { return }
    if let known = positions[name] {
      current = known
      return
    }
    if threads.count > threadLimit { removeIdleThreads() }
    current = threads.count
    positions[name] = current
    threads.append(ThreadState(name: name, ordinal: ordinal))
  }

  /// Removes the threads that aren't waiting for a line, because a long log contains many.
  ///
  /// If many remain, the next removal is after as many new ones, so that the time for each thread
  /// doesn't grow with their number.
  private mutating func removeIdleThreads() {
    threads.removeAll { $0.nesting.isIdle && !$0.isInTransaction }
    if 2 * threads.count > InputLimits.logThreads {
      current = 0
      countPendingSelects()
      threads = []
    }
    positions = [:]
    for (position, thread) in threads.enumerated() { positions[thread.name] = position }
    active = threads.indices.filter { threads[$0].isActive }
    threadLimit = max(2_000, 2 * threads.count)
  }

  /// Counts an event for the log and for the open section.
  mutating func count(_ body: (inout Part) -> Void) {
    body(&whole)
    if isInSection { body(&section.part) }
  }

  /// Counts an execution of a statement in the open section.
  mutating func countCall(of statement: Int) {
    if isInSection { section.part.calls[statement, default: 0] += 1 }
  }

  /// Counts something for each execution of a SELECT, for the log and for the open section.
  mutating func countReads(of statement: Int, _ body: (inout Reads) -> Void) {
    while reads.count <= statement { reads.append(Reads()) }
    body(&reads[statement])
    if isInSection { body(&section.part.reads[statement, default: Reads()]) }
  }

  /// Counts a miss of a statement's execution, for the log and for the open section.
  mutating func countMiss(of subject: FaultSubject, by statement: Int) {
    while reads.count <= statement { reads.append(Reads()) }
    reads[statement].miss(subject, &whole.costs)
    if isInSection {
      section.part.reads[statement, default: Reads()].miss(subject, &section.part.costs)
    }
  }

  /// The costs of the log, including those of its SELECTs.
  var costs: LogCosts { costs(whole.costs, of: reads.enumerated()) }

  func costs(
    _ others: LogCosts, of reads: some Sequence<(offset: Int, element: Reads)>
  ) -> LogCosts {
    var costs = others
    for (statement, reads) in reads {
      let table = shapes.traits[statement].tableKey
      if reads.selects > 0 { costs.count(.selects, reads.selects, table: table) }
      if reads.fetches > 0 { costs.count(.fetches, reads.fetches, table: table) }
      if let rows = reads.rows { costs.count(.rows, rows, table: table) }
      reads.subject?.count(reads.subjectMisses, in: &costs)
    }
    return costs
  }

  /// Records a save that OpenCoreData logs.
  ///
  /// Transactions aren't counted as saves then.
  private mutating func save(_ message: LogMessage) {
    message.measurement.microseconds.map { saveTimes.add($0) }
    if logsHits { count { $0.costs.count(.saves, table: nil) } }
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

  private mutating func bind(_ text: LogBytes) {
    guard thread.wantsBinds, let last = thread.last, let value = bindText(text),
      // Another thread can have begun the same statement.
      thread.hasBound || shapes[last].binds.isEmpty
    else { return }
    thread.hasBound = true
    bindSize += value.utf8.count + MemoryLayout<String>.stride
    guard bindSize <= bindLimit else { return }
    shapes[last].binds.append(value)
  }
}

extension LogNesting {
  /// Whether no statement is open.
  var isIdle: Bool { closed == nil && openCount == 0 }
}
