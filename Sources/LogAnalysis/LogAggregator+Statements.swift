import ProfileEvents

extension LogAggregator {
  /// Counts an execution of a statement.
  mutating func run(_ message: LogMessage, _ thread: inout ThreadState) {
    confirm(&thread)
    let index = shapes.index(of: message.text, line: message.line, time: message.time.text)
    let traits = shapes.traits[index]
    shapes[index].calls += 1
    section?.part.calls[index, default: 0] += 1
    shapes[index].lastLine = message.line
    shapes[index].lastTime = message.time.text
    thread.last = index
    thread.wantsBinds = shapes[index].binds.isEmpty && !shapes[index].isOther
    let table = traits.tableKey
    let open = LogNesting.Open(
      statement: index, line: message.line, time: message.time, isCount: traits.isCount, ordinal: 0)
    thread.hidden = traits.isHidden ? open : nil
    guard !traits.isHidden else { return }
    if ![.select, .housekeeping].contains(shapes[index].kind) {
      timeline?.add(change: index, at: message)
    }
    switch shapes[index].kind {
    case .select: begin(open, &thread)
    case .insert: change(.inserts, table, message.line, &thread)
    case .update: change(.updates, table, message.line, &thread)
    case .delete: change(.deletes, table, message.line, &thread)
    case .transaction: transaction(traits.verb, message.line, &thread)
    case .housekeeping: break
    }
  }

  /// Begins a SELECT.
  private mutating func begin(_ open: LogNesting.Open, _ thread: inout ThreadState) {
    var open = open
    ordinal += 1
    open.ordinal = ordinal
    count { $0.reads[open.statement, default: Reads()].selects += 1 }
    if let lost = thread.nesting.begin(open) { fetched(lost, 0) }
  }

  /// Counts a statement that the log hides as a SELECT, because the time of a fetch follows it.
  private mutating func reveal(_ thread: inout ThreadState, isCount: Bool) {
    guard var open = thread.hidden else { return }
    thread.hidden = nil
    open.isCount = isCount
    shapes[open.statement].kind = .select
    begin(open, &thread)
  }

  private mutating func change(
    _ metric: Metric, _ table: String?, _ line: Int, _ thread: inout ThreadState
  ) {
    thread.settledLine = line
    for open in thread.nesting.abandonUnanswered() { fetched(open, 0) }
    thread.hasWritten = true
    count { $0.costs.count(metric, table: table) }
  }

  /// Counts a transaction, which is a save if it changed rows of entities.
  ///
  /// A batch request looks the same.
  private mutating func transaction(_ verb: SQLText.Verb?, _ line: Int, _ thread: inout ThreadState)
  {
    thread.settledLine = line
    switch verb {
    case .commit, .end:
      count { $0.costs.count(.transactions, table: nil) }
      if thread.hasWritten, !logsHits { count { $0.costs.count(.saves, table: nil) } }
      fallthrough
    case .rollback:
      thread.isInTransaction = false
      thread.hasWritten = false
    default:
      for open in thread.nesting.abandonUnanswered() { fetched(open, 0) }
      thread.isInTransaction = true
      thread.hasWritten = false
    }
  }

  /// Records SQLite's time of a SELECT.
  mutating func answer(_ text: LogBytes, _ thread: inout ThreadState) {
    guard let time = LogAggregator.microseconds(text) else { return }
    confirm(&thread)
    reveal(&thread, isCount: false)
    guard let open = thread.nesting.answer(time) else {
      unmatched += 1
      return
    }
    shapes[open.statement].connection += time
  }

  /// Records the time of a request that doesn't return rows, such as a pragma or a batch request.
  mutating func execute(_ text: LogBytes, _ thread: inout ThreadState) {
    guard let time = LogAggregator.microseconds(text) else { return }
    guard let last = thread.last else {
      unmatched += 1
      return
    }
    shapes[last].times.add(time)
    shapes[last].own += time
    count { $0.costs.microseconds += time }
  }

  /// Records the total time of a fetch and closes it.
  mutating func close(_ message: LogMessage, isCount: Bool, _ thread: inout ThreadState) {
    guard let time = LogAggregator.microseconds(message.text) else { return }
    confirm(&thread)
    reveal(&thread, isCount: isCount)
    thread.settledLine = message.line
    logsTotals = true
    guard let closed = thread.nesting.close(time, isCount: isCount) else {
      unmatched += 1
      return
    }
    let index = closed.open.statement
    let rows = message.text.after("s for ") ?? message.text.after("s. for ")
    shapes[index].times.add(time)
    let own = max(0, time - closed.open.inner)
    shapes[index].own += own
    slowest.add(LogExecution(statement: index, line: closed.open.line, microseconds: own))
    count { $0.costs.microseconds += own }
    timeline?.add(closed, rows: isCount ? 1 : rows?.leadingNumber ?? 0, at: message)
    if isCount {
      shapes[index].counted += rows?.after("count of ")?.leadingNumber ?? 0
      shapes[index].rows += 1
      count(rows: 1, of: index)
    } else if let rows = rows?.leadingNumber {
      shapes[index].rows += rows
      count(rows: rows, of: index)
    }
    thread.nesting.closed = closed
  }

  private mutating func count(rows: Int, of statement: Int) {
    count { $0.reads[statement, default: Reads()].add(rows: rows) }
  }

  /// Counts the last closed SELECT as a fetch, because it was neither a fault nor a prefetch.
  mutating func confirm(_ thread: inout ThreadState) {
    guard let closed = thread.nesting.closed else { return }
    thread.nesting.closed = nil
    fetched(closed.open, closed.total)
  }

  /// Counts a fetch, unless it loads a batch or the join rows of a prefetch.
  mutating func fetched(_ open: LogNesting.Open, _ time: Int) {
    let traits = shapes.traits[open.statement]
    guard !traits.isBatch, !traits.readsJoinRows else { return }
    count { $0.reads[open.statement, default: Reads()].fetches += 1 }
    // Different statements aren't a repetition.
    guard !shapes[open.statement].isOther else { return }
    let occurrence = FaultStormDetector.Occurrence(
      kind: .fetchLoop, subject: subject(of: open.statement), statement: open.statement,
      line: open.line, time: open.time, ordinal: open.ordinal, microseconds: time)
    count { $0.storms.add(occurrence) }
  }

  /// Returns the entity of a statement, or its table if the entity is unknown.
  private func subject(of statement: Int) -> String {
    if let entity = shapes[statement].entity { return entity }
    guard let table = shapes[statement].table else { return "?" }
    let entity = shapes.traits[statement].tableKey.flatMap { entities[$0] }
    return entity.flatMap { $0 == LogAggregator.several ? nil : $0 } ?? table
  }
}
