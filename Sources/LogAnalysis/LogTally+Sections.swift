extension LogTally {
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
  /// have, was sent by a save or a merge for itself; behind the last one the log may be cut off.
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
