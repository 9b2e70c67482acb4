import WorkbenchText

extension LogAggregator {
  /// Begins or ends a section according to the text after `cdprof:`.
  mutating func mark(_ message: LogMessage) {
    countOpenSelects()
    endSection(at: message.line)
    guard message.text.starts(with: "begin"), let name = message.text.after("begin")?.trimmed else {
      return
    }
    section = OpenSection(
      name: LogBytes(name.bytes.prefix(InputLimits.logName)).string, line: message.line,
      time: message.time.text)
    isInSection = true
  }

  /// Ends the open section.
  mutating func endSection(at line: Int) {
    guard isInSection else { return }
    let open = section
    (section, isInSection) = (OpenSection(), false)
    guard sections.count < InputLimits.logSections else {
      leftOutSections += 1
      return
    }
    let statements = max(open.part.calls.count, open.part.reads.count)
    let keepsStatements = sectionStatements + statements <= sectionStatementLimit
    if keepsStatements {
      sectionStatements += statements
    } else {
      sectionsWithoutStatements += 1
    }
    var costs = costs(
      open.part.costs, of: open.part.reads.lazy.map { (offset: $0.key, element: $0.value) })
    let keepsSubjects = sectionSubjects + costs.subjects <= sectionSubjectLimit
    if keepsSubjects {
      sectionSubjects += costs.subjects
    } else {
      costs.removeSubjects()
      sectionsWithoutSubjects += 1
    }
    sections.append(
      LogSection(
        name: open.name, firstLine: open.line, lastLine: line, firstTime: open.time, costs: costs,
        storms: open.part.storms.found, calls: keepsStatements ? open.part.calls : [:],
        reads: keepsStatements ? open.part.reads.mapValues(\.counts) : [:],
        keepsStatements: keepsStatements, keepsSubjects: keepsSubjects))
  }

  /// Counts the SELECTs that still wait for another line, at the end of the log.
  mutating func countPendingSelects() {
    let last = current
    defer { current = last }
    for position in threads.indices {
      current = position
      confirm()
      for open in thread.nesting.abandon() where isLikelyFetch(open) { fetched(open, 0) }
    }
  }

  /// Counts the SELECTs that wait for another line at the mark of a section.
  ///
  /// The line can follow: another thread can print a mark while they run. **Cost:** linear in the
  /// number of threads with messages since the last mark.
  private mutating func countOpenSelects() {
    let last = current
    defer { current = last }
    for position in active {
      current = position
      thread.isActive = false
      if let closed = thread.nesting.closed {
        fetched(closed.open, closed.total)
        thread.nesting.closed?.open.isCounted = true
      }
      for open in thread.nesting.abandon() where isLikelyFetch(open) {
        fetched(open, 0)
        thread.nesting.keep(open)
      }
    }
    active = []
  }

  /// Returns whether a SELECT that waits for another line is a fetch.
  ///
  /// A fetch has a total time. A SELECT for which SQLite's time is logged, but not a total time,
  /// while later SELECTs have one, is part of a save or a merge and isn't a fetch. The log can be
  /// truncated after the last total time.
  private func isLikelyFetch(_ open: LogNesting.Open) -> Bool {
    open.connection == nil || !logsTotals || open.line > thread.settledLine
  }

  /// Counts what belongs to a SELECT: in the open section only if the SELECT began in it.
  mutating func counting(_ open: LogNesting.Open, _ body: (inout LogAggregator) -> Void) {
    let wasInSection = isInSection
    if open.line < section.line { isInSection = false }
    body(&self)
    isInSection = wasInSection
  }

  /// Removes a fetch that was counted at the mark of a section, because it was a fault or a
  /// prefetch.
  mutating func uncount(_ open: LogNesting.Open) {
    guard open.isCounted, isFetch(open.statement) else { return }
    reads[open.statement].fetches -= 1
  }
}
