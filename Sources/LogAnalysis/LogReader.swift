package import WorkbenchText

/// Reads a log of Core Data's SQL line by line; no line is lost, and memory does not grow with it.
package struct LogReader {
  private var report: LogReport
  private var tally = LogAggregator()
  private var unrecognized = LogSamples(limit: 50)
  /// The message that the next line may continue.
  private var open: LogMessage?
  /// Whether the lines are those of a record that spans several lines.
  private var isInRecord = false
  /// Whether plan rows may come without a class.
  private var isExplaining = false

  /// Reads a whole log, as text or as gzip.
  ///
  /// - Parameter path: A file, or `-` for standard input.
  /// - Throws: `InvalidInputError` for a file that is missing or can't be read, and for one without a line
  ///   of Core Data's.
  package static func read(_ path: String) throws(InvalidInputError) -> LogReport {
    let lines = try LogLines(path: path)
    let report = try read(lines, of: path)
    guard !report.isLog else { return report }
    let name = path == InputFile.standardInput ? "standard input" : path
    let run = "run the app with `-com.apple.CoreData.SQLDebug 1` and give what it printed"
    guard report.lines > 0 else {
      throw InvalidInputError(kind: .unusable, message: "\(name) is empty", nextStep: run)
    }
    throw InvalidInputError(
      kind: .unusable,
      message: lines.isBinary
        ? "\(name) isn't a log: it contains binary data"
        : "\(name) isn't a log of Core Data's SQL: none of its "
          + "\(NumberText.counted(report.lines, "line")) is Core Data's",
      nextStep: lines.isBinary ? "give a log as text, or compressed with gzip" : run)
  }

  /// Reads what is left of a log's lines, whether they are a log's or not.
  ///
  /// - Parameter path: as it was given; the report names it.
  /// - Throws: `InvalidInputError` for a read that fails.
  package static func read(
    _ lines: LogLines, of path: String
  ) throws(InvalidInputError) -> LogReport {
    var reader = LogReader(file: path)
    var mender = WrappedLineJoiner { lines.next() }
    while let (line, pieces) = mender.next() {
      reader.take(line, on: pieces)
    }
    if let problem = lines.problem { throw problem }
    reader.report.wrap = mender.wrap
    return reader.finish()
  }

  /// Begins an empty log.
  package init(file: String) {
    report = LogReport(file: file)
  }

  /// Takes the next line, without its end.
  ///
  /// - Parameter pieces: On how many lines of the file it stands, where it was broken at a column.
  package mutating func take(_ bytes: ArraySlice<UInt8>, on pieces: Int = 1) {
    takeLine(bytes)
    guard pieces > 1 else { return }
    report.lines += pieces - 1
    report.kinds[.continuation, default: 0] += pieces - 1
  }

  private mutating func takeLine(_ bytes: ArraySlice<UInt8>) {
    report.lines += 1
    let line = LogLine(bytes)
    if line.beginsRecord {
      isInRecord = true
    } else if line.message != nil || bytes.first == UInt8(ascii: "}") {
      isInRecord = false
    }
    guard let (logClass, text) = line.message else {
      takeUnmarked(line)
      return
    }
    flush()
    report.classes[logClass, default: 0] += 1
    let message = LogMessage(
      line: report.lines, logClass: logClass, text: text, time: line.time, lane: line.lane)
    note(message.time)
    guard let kind = LogKind(logClass, text), !LogAggregator.isBeyondLimits(text) else {
      report.unrecognized += 1
      unrecognized.add(message)
      isExplaining = false
      open = message
      return
    }
    report.kinds[kind, default: 0] += 1
    isExplaining = kind == .explain || kind == .plan
    if kind == .section {
      tally.mark(message)
    } else {
      open = message
    }
  }

  /// The report, once the last line was taken.
  package mutating func finish() -> LogReport {
    flush()
    tally.settle()
    tally.endSection(at: report.lines)
    let (statements, places) = tally.shapes.merged
    report.statements = statements.map { statement in
      var statement = statement
      let known =
        statement.table.flatMap { tally.entities[$0.uppercased()] } ?? LogAggregator.several
      if statement.entity == nil, known != LogAggregator.several { statement.entity = known }
      return statement
    }
    report.costs = tally.whole.costs
    report.storms = LogReader.placed(tally.whole.storms.found, places)
    report.sections = tally.sections.map { section in
      var section = section
      section.storms = LogReader.placed(section.storms, places)
      section.calls = section.calls.reduce(into: [:]) {
        $0[places[$1.key] + 1, default: 0] += $1.value
      }
      return section
    }
    report.complaints = tally.complaints.all
    report.unrecognizedLines = unrecognized.all
    report.stores = tally.stores
    report.tellsHits = tally.tellsHits
    report.saveTimes = tally.saveTimes
    report.unmatchedTimes = tally.unmatched
    return report
  }

  /// Storms with the numbers that their statements have in the report.
  private static func placed(_ storms: [LogStorm], _ places: [Int]) -> [LogStorm] {
    storms.map { storm in
      var storm = storm
      storm.statement = places[storm.statement] + 1
      return storm
    }
  }

  private mutating func takeUnmarked(_ line: LogLine) {
    let text = line.text
    let kind: LogKind
    if text.trimmed.isEmpty {
      flush()
      kind = .blank
    } else if LogReader.isMetadata(text) {
      kind = .metadata
    } else if isInRecord, !line.beginsRecord {
      complete(by: text)
      kind = .app
    } else if open?.accepts(text) == true {
      open?.add(text)
      kind = .continuation
    } else if LogKind.isPlanRow(text.trimmed), isExplaining || LogReader.isDrawn(text) {
      flush()
      tally.take(
        LogMessage(
          line: report.lines, logClass: .details, text: text.trimmed, time: LogTime(), lane: ""),
        .plan)
      kind = .plan
    } else if SQLText.isFragment(text) {
      kind = .continuation
    } else {
      kind = .app
      pass()
    }
    report.kinds[kind, default: 0] += 1
  }

  /// A further key of the record whose message is open, which may be its time or its thread.
  private mutating func complete(by key: LogBytes) {
    if let time = LogRecord.time(key), open?.time.text.isEmpty == true {
      open?.time = time
      note(time)
    }
    if let thread = LogRecord.thread(key), open?.lane.isEmpty == true { open?.lane = thread }
  }

  /// An app's line: a message that lacks its end may still go on behind a few of them.
  private mutating func pass() {
    isExplaining = false
    open?.passed += 1
    if let message = open, message.passed > 3 || !message.wantsMore { flush() }
  }

  private mutating func flush() {
    guard let message = open else { return }
    open = nil
    guard let kind = LogKind(message.logClass, message.text) else { return }
    tally.take(message, kind)
  }

  private mutating func note(_ time: LogTime) {
    guard !time.text.isEmpty else { return }
    if report.firstTime.isEmpty { report.firstTime = time.text }
    report.lastTime = time.text
  }

  /// `Type: Notice | Timestamp: … | Process: … | Category: sql`: Xcode's line below a message.
  private static func isMetadata(_ text: LogBytes) -> Bool {
    let line = text.withoutIndent
    return (line.starts(with: "Type: ") || line.starts(with: "Timestamp: "))
      && line.contains(" | ")
  }

  /// Whether a plan's row is drawn as SQLite draws it: `|--SCAN t0`, `0|0|0|SCAN TABLE …`.
  private static func isDrawn(_ text: LogBytes) -> Bool {
    let line = text.withoutIndent
    guard let first = line.first else { return false }
    return line.starts(with: "|--") || line.starts(with: "`--")
      || line.trimmed.bytes.elementsEqual("QUERY PLAN".utf8)
      || first.isDigit && line.bytes.contains(UInt8(ascii: "|"))
  }
}
