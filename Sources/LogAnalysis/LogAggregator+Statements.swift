import ProfileEvents

extension LogAggregator {
  /// Counts an execution of a statement.
  mutating func run(_ message: LogMessage) {
    confirm()
    let index = shapes.index(of: message.text, line: message.line, time: message.time)
    countCall(of: index)
    thread.last = index
    thread.wantsBinds = shapes[index].begin(line: message.line, time: message.time)
    thread.hasBound = false
    let open = LogNesting.Open(
      statement: index, line: message.line, time: message.time,
      isCount: shapes.traits[index].isCount, ordinal: 0)
    thread.internalSelect = shapes.traits[index].readsInternalRows ? open : nil
    guard !shapes.traits[index].isHidden else {
      thread.hidden = open
      return
    }
    thread.hidden = nil
    switch shapes[index].kind {
    case .select: return begin(open)
    case .housekeeping: return
    case .insert: change(.inserts, by: index, message.line)
    case .update: change(.updates, by: index, message.line)
    case .delete: change(.deletes, by: index, message.line)
    case .transaction: transaction(shapes.traits[index].verb, message.line)
    }
    timeline?.add(change: index, at: message)
  }

  /// Begins a SELECT.
  private mutating func begin(_ open: LogNesting.Open) {
    var open = open
    ordinal += 1
    thread.ordinal += 1
    open.ordinal = thread.ordinal
    // The log can show only later that it's a SELECT.
    counting(open) { tally in
      tally.countReads(of: open.statement) { $0.selects += 1 }
    }
    if let lost = thread.nesting.begin(open) { fetched(lost, 0) }
  }

  /// Counts a statement that the log hides as a SELECT, because the time of a fetch follows it.
  private mutating func reveal(isCount: Bool) {
    guard var open = thread.hidden else { return }
    thread.hidden = nil
    open.isCount = isCount
    shapes[open.statement].kind = .select
    begin(open)
  }

  /// Begins a SELECT on a table of the history or of mirroring to CloudKit, because its time
  /// follows; it's timed, but not counted.
  private mutating func beginInternal() {
    guard let open = thread.internalSelect else { return }
    thread.internalSelect = nil
    if let lost = thread.nesting.begin(open) { fetched(lost, 0) }
  }

  private mutating func change(
    _ metric: Metric, by statement: Int, _ line: Int
  ) {
    let table = shapes.traits[statement].tableKey
    thread.settledLine = line
    for open in thread.nesting.abandonUnanswered() { fetched(open, 0) }
    thread.hasWritten = true
    count { $0.costs.count(metric, table: table) }
  }

  /// Counts a transaction, which is a save if it changed rows of entities.
  ///
  /// A batch request looks the same.
  private mutating func transaction(_ verb: SQLText.Verb?, _ line: Int) {
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
  mutating func answer(_ message: LogMessage) {
    guard let time = message.measurement.microseconds else { return }
    confirm()
    reveal(isCount: false)
    beginInternal()
    guard let statement = thread.nesting.answer(time) else {
      unmatched += 1
      return
    }
    shapes[statement].connection += time
  }

  /// Records the time of a request that doesn't return rows, such as a pragma or a batch request.
  mutating func execute(_ message: LogMessage) {
    guard let time = message.measurement.microseconds else { return }
    guard let last = thread.last else {
      unmatched += 1
      return
    }
    shapes[last].times.add(time)
    shapes[last].own += time
    count { $0.costs.microseconds += time }
  }

  /// Records the total time of a fetch and closes it.
  mutating func close(_ message: LogMessage, isCount: Bool) {
    guard let time = message.measurement.microseconds else { return }
    confirm()
    reveal(isCount: isCount)
    if isCount, thread.internalSelect?.isCount == true { beginInternal() }
    thread.settledLine = message.line
    logsTotals = true
    guard let closed = thread.nesting.close(time, isCount: isCount) else {
      unmatched += 1
      return
    }
    let index = closed.open.statement
    let own = max(0, time - closed.open.inner)
    let rows = isCount ? 1 : message.measurement.rows
    let counted = isCount ? message.measurement.counted ?? 0 : 0
    shapes[index].close(time: time, own: own, rows: rows ?? 0, counted: counted)
    slowest.add(LogExecution(statement: index, line: closed.open.line, microseconds: own))
    counting(closed.open) { tally in tally.count { $0.costs.microseconds += own } }
    timeline?.add(closed, rows: rows ?? 0, at: message)
    guard case .select = shapes[index].kind else { return }
    if let rows {
      counting(closed.open) { tally in tally.countReads(of: index) { $0.add(rows: rows) } }
    }
    thread.nesting.closed = closed
  }

  /// Counts the last closed SELECT as a fetch, because it was neither a fault nor a prefetch.
  mutating func confirm() {
    // It's copied only if there is one.
    guard thread.nesting.closed != nil, let closed = thread.nesting.takeClosed() else { return }
    fetched(closed.open, closed.total)
  }

  /// Counts a fetch of rows of entities, unless it loads a batch or the join rows of a prefetch.
  mutating func fetched(_ open: LogNesting.Open, _ time: Int) {
    let statement = open.statement
    guard !open.isCounted, isFetch(statement) else { return }
    countReads(of: open.statement) { $0.fetches += 1 }
    // Different statements aren't a repetition; the log can hide them, or truncate them before
    // their table.
    guard shapes.traits[statement].tableKey != nil else { return }
    let occurrence = RepeatedStatementDetector.Occurrence(
      kind: .fetchLoop, subject: subject(of: open.statement),
      statement: shapes.traits[statement].pattern, thread: thread.name, line: open.line,
      time: open.time, ordinal: open.ordinal, microseconds: time)
    count { $0.storms.add(occurrence) }
  }

  /// Returns whether a statement that's neither a fault nor a prefetch is a fetch.
  func isFetch(_ statement: Int) -> Bool {
    guard case .select = shapes[statement].kind else { return false }
    return !shapes.traits[statement].isBatch && !shapes.traits[statement].readsJoinRows
  }

  /// Returns the entity of a statement, or its table if the entity is unknown.
  private mutating func subject(of statement: Int) -> String {
    if statement < subjects.count, let known = subjects[statement] { return known }
    let subject =
      shapes[statement].entity ?? entityOfTable(of: statement) ?? shapes[statement].table
    while subjects.count <= statement { subjects.append(nil) }
    subjects[statement] = subject ?? "?"
    return subject ?? "?"
  }

  private func entityOfTable(of statement: Int) -> String? {
    let entity = shapes.traits[statement].tableKey.flatMap { entities[$0] }
    return entity == LogAggregator.several ? nil : entity
  }
}

extension LogAggregator {
  /// Records the entity of a statement, from `… on entity 'Person' with sql text …` or
  /// `(entity: Word; …`.
  mutating func name(_ text: LogBytes) {
    let entity =
      text.starts(with: "fetch using")
      ? LogAggregator.quoted(text) : text.after("(entity: ")?.before(";").string
    guard let entity, let named = statement(in: text), !shapes[named].isOther,
      shapes[named].entity != entity
    else { return }
    shapes[named].entity = entity
    subjects = []
    recordEntity(entity, named)
  }

  /// Returns the statement that a fetch's result repeats: the last one, except that those of its
  /// prefetches can be in between.
  private func statement(in text: LogBytes) -> Int? {
    guard let sql = text.after("with sql text '") else { return thread.last }
    let written = SQLText(sql.before("' returned "))
    if let known = shapes.known(written.text) { return known }
    // Either can be truncated.
    return thread.last.flatMap { last in
      let (one, other) = (written.key, SQLText(LogBytes(shapes[last].sql)).key)
      return one.starts(with: other) || other.starts(with: one) ? last : nil
    }
  }

  /// Records the entity of a table.
  ///
  /// A table of several entities has no single entity.
  mutating func recordEntity(_ entity: String?, _ statement: Int) {
    guard let entity, shapes.traits[statement].loggedEntity != entity, !entity.isEmpty,
      !entity.hasPrefix("<"), let table = shapes.traits[statement].tableKey
    else { return }
    shapes.record(entity, of: statement)
    if let known = entities[table], known != entity {
      entities[table] = LogAggregator.several
    } else {
      entities[table] = entity
    }
    subjects = []
  }
}
