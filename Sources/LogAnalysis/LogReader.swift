package import WorkbenchText

/// Reads a Core Data SQL log line by line.
///
/// Every line is counted, and memory use doesn't grow with the log.
package struct LogReader {
  private var report: LogReport
  private var tally = LogAggregator()
  /// The number of lines of each kind, and of messages of each class, by position.
  private var kinds = [Int](repeating: 0, count: LogKind.allCases.count)
  private var classes = [Int](repeating: 0, count: LogClass.allCases.count)
  private var unrecognized = LogSamples(limit: 50)
  /// The last message, which the next line can continue while it's open.
  private var message = LogMessage(line: 0, logClass: .message, text: LogBytes(""))
  private var isOpen = false
  /// Whether the next line can be an object in the list of the open message.
  private var isInList = false
  /// The record that spans several lines to which the lines belong; `nil` if they belong to none.
  private var record: LogRecord.Keys?
  /// Whether rows of a query plan can appear without a class.
  private var isExplaining = false
  /// The prefix of the last message, with its time and thread.
  private var last = (prefix: LogBytes(""), time: LogTime(), thread: LogThread.unknown)
  /// The first and the last time in the log.
  private var times = (first: LogTime(), last: LogTime())

  /// Reads a log, as text or compressed with gzip or, if the system has its library, Zstandard.
  ///
  /// - Parameters:
  ///   - path: The path of a file, or `-` for standard input.
  ///   - tracing: Whether to keep the executions for a trace.
  /// - Throws: `InvalidInputError` if the file doesn't exist, can't be read, or has no line from
  ///   Core Data.
  package static func read(
    _ path: String, tracing: Bool = false
  ) throws(InvalidInputError) -> LogReport {
    let lines = try LogLines(path: path)
    let report = try read(lines, of: path, tracing: tracing)
    try check(report, isBinary: lines.isBinary)
    return report
  }

  /// Checks that a line of a log is from Core Data.
  ///
  /// - Throws: `InvalidInputError` if none is.
  static func check(_ report: LogReport, isBinary: Bool) throws(InvalidInputError) {
    guard !report.isLog else { return }
    let name = InputFile.name(report.file)
    let run = "run the app with `-com.apple.CoreData.SQLDebug 1` and use its output"
    guard report.lines > 0 else {
      throw InvalidInputError(kind: .unusable, message: "\(name) is empty", nextStep: run)
    }
    throw InvalidInputError(
      kind: .unusable,
      message: isBinary
        ? "\(name) isn't a log: it contains binary data"
        : "\(name) isn't a Core Data SQL log: it contains "
          + "\(NumberText.counted(report.lines, "line")), none from Core Data",
      nextStep: isBinary ? "use a log as text, or compressed with gzip or zstd" : run)
  }

  /// Reads the remaining lines, even if none is from Core Data.
  ///
  /// - Parameters:
  ///   - lines: The lines to read.
  ///   - path: The path as it was given, for the report.
  ///   - tracing: Whether to keep the executions for a trace.
  /// - Throws: `InvalidInputError` if reading fails.
  package static func read(
    _ lines: LogLines, of path: String, tracing: Bool = false
  ) throws(InvalidInputError) -> LogReport {
    let report = read(of: path, tracing: tracing) { lines.next() }
    if let problem = lines.problem { throw problem }
    return report
  }

  /// Reads lines, and rejoins those that were wrapped.
  ///
  /// - Parameters:
  ///   - path: The path as it was given, for the report.
  ///   - tracing: Whether to keep the executions for a trace.
  ///   - next: Returns the next line, and `nil` at the end.
  static func read(
    of path: String, tracing: Bool = false, _ next: @escaping () -> ArraySlice<UInt8>?
  ) -> LogReport {
    var reader = LogReader(file: path)
    if tracing { reader.tally.timeline = LogTimeline() }
    var joiner = WrappedLineJoiner(next)
    if joiner.wrap == nil {
      while let line = joiner.physicalLine() { reader.takeLine(line) }
    } else {
      while let (line, lineCount) = joiner.next() { reader.take(line, on: lineCount) }
    }
    reader.report.wrap = joiner.wrap
    return reader.finish()
  }

  /// Creates a reader with an empty report.
  package init(file: String) {
    report = LogReport(file: file)
  }

  /// Processes the next line.
  ///
  /// - Parameters:
  ///   - bytes: The line, without its line terminator.
  ///   - lineCount: The number of lines in the file that the line was wrapped into.
  package mutating func take(_ bytes: ArraySlice<UInt8>, on lineCount: Int = 1) {
    takeLine(bytes)
    guard lineCount > 1 else { return }
    report.lines += lineCount - 1
    kinds[LogKind.continuation.position] += lineCount - 1
  }

  private mutating func takeLine(_ bytes: ArraySlice<UInt8>) {
    report.lines += 1
    if takeListed(LogBytes(bytes)) { return }
    if let standard = StandardLine(bytes) {
      if record != nil { endRecord() }
      let start = bytes.startIndex
      takeMessage(
        standard.logClass, LogBytes(bytes[(start + standard.text)..<(start + standard.end)]),
        prefix: LogBytes(bytes[..<(start + standard.mark)]))
      return
    }
    let records = LogRecord.records(in: bytes)
    guard records.isEmpty else {
      // Each counts as a line.
      report.lines -= 1
      for record in records { takeLine(record) }
      return
    }
    let line = LogLine(bytes)
    takeKey(of: line)
    if let (logClass, text) = line.message {
      takeMessage(logClass, text, prefix: line.prefix)
    } else if line.beginsRecord {
      // It's one of the app's unless the category is Core Data's.
      kinds[LogKind.app.position] += 1
      pass()
    } else {
      takeUnmarked(line)
    }
  }

  /// Adds a line to the record that spans several lines, or ends it.
  private mutating func takeKey(of line: LogLine) {
    if let key = line.key {
      let isNext = line.beginsRecord && record?.hasMessage == true
      if isNext || record?.contains(key) != true {
        endRecord()
        record = LogRecord.Keys(beginningWith: key)
      }
      record?.add(key, line, on: report.lines)
    } else if line.message != nil || record?.isEnded(by: line.text) == true {
      endRecord()
    }
  }

  /// Ends a record, and processes its message if only the category determines the class.
  private mutating func endRecord() {
    guard let ended = record else { return }
    record = nil
    guard let (message, line) = ended.unclassified, let logClass = ended.logClass else { return }
    kinds[LogKind.app.position] -= 1
    let (named, text) = LogLine.classified(message.trimmed)
    takeMessage(named ?? logClass, text, prefix: ended.prefix, on: line)
    flush()
  }

  /// Processes an object in the list of a fetch or the list's end, and returns whether the line is
  /// one of them.
  private mutating func takeListed(_ line: LogBytes) -> Bool {
    guard isInList, record?.hasMessage != true, let listed = LogLine.listed(line),
      message.brackets > 0
    else { return false }
    message.addObject(line, isWhole: listed == .whole)
    kinds[LogKind.continuation.position] += 1
    return true
  }

  /// - Parameter line: The number of its line; `nil` for the current line.
  private mutating func takeMessage(
    _ logClass: LogClass, _ text: consuming LogBytes, prefix: LogBytes, on line: Int? = nil
  ) {
    flush()
    classes[logClass.position] += 1
    if prefix != last.prefix {
      let thread = LogLine.thread(in: prefix)
      last = (prefix, LogTime(in: prefix), LogThread(thread))
      tally.timeline?.name(last.thread, thread)
      note(last.time)
    }
    message = LogMessage(
      line: line ?? report.lines, logClass: logClass, text: text, time: last.time,
      thread: last.thread)
    message.classify()
    isExplaining = message.kind == .explain || message.kind == .plan
    isInList = message.kind == .fetchResult && message.listsObjects
    isOpen = message.kind != .section
    guard let kind = message.kind else {
      report.unrecognized += 1
      unrecognized.add(message)
      return
    }
    kinds[kind.position] += 1
    if kind == .section { tally.mark(message) }
  }

  /// Returns the report.
  ///
  /// Call this method after the last line.
  package mutating func finish() -> LogReport {
    endRecord()
    flush()
    (report.firstTime, report.lastTime) = (times.first.text, times.last.text)
    for kind in LogKind.allCases where kinds[kind.position] > 0 {
      report.kinds[kind] = kinds[kind.position]
    }
    for logClass in LogClass.allCases where classes[logClass.position] > 0 {
      report.classes[logClass] = classes[logClass.position]
    }
    tally.countPendingSelects()
    tally.endSection(at: report.lines)
    let (statements, positions) = tally.shapes.merged
    report.statements = statements.map { statement in
      var statement = statement
      let known =
        statement.table.flatMap { tally.entities[$0.uppercased()] } ?? LogAggregator.several
      if statement.entity == nil, known != LogAggregator.several { statement.entity = known }
      return statement
    }
    report.costs = tally.costs
    report.storms = LogReader.renumbered(tally.whole.storms.found, positions)
    report.sections = tally.sections.map { section in
      var section = section
      section.storms = LogReader.renumbered(section.storms, positions)
      section.calls = section.calls.reduce(into: [:]) {
        $0[positions[$1.key] + 1, default: 0] += $1.value
      }
      section.reads = section.reads.reduce(into: [:]) {
        $0[positions[$1.key] + 1, default: [:]].merge($1.value, uniquingKeysWith: +)
      }
      return section
    }
    report.leftOutSections = tally.leftOutSections
    report.sectionsWithoutStatements = tally.sectionsWithoutStatements
    report.sectionsWithoutSubjects = tally.sectionsWithoutSubjects
    report.slowest = tally.slowest.sorted.map { execution in
      var execution = execution
      execution.statement = positions[execution.statement] + 1
      return execution
    }
    report.timeline = tally.timeline?.renumbered(positions)
    report.problems = tally.problems.all
    report.unrecognizedLines = unrecognized.all
    report.stores = tally.stores
    report.logsHits = tally.logsHits
    report.saveTimes = tally.saveTimes
    report.unmatchedTimes = tally.unmatched
    return report
  }

  /// Returns findings with the numbers that their statements have in the report.
  private static func renumbered(_ storms: [LogStorm], _ positions: [Int]) -> [LogStorm] {
    storms.map { storm in
      var storm = storm
      storm.statement = positions[storm.statement] + 1
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
      complete(
        time: text.after("Timestamp: ").map { LogTime(in: $0.before(" | ")) },
        thread: text.after("TID: ")?.before(" | ").trimmed)
      kind = .metadata
    } else if let record, record.hasMessage {
      if record.unclassified == nil {
        complete(time: LogRecord.time(text), thread: LogRecord.thread(text))
      }
      kind = .app
    } else if isOpen, message.accepts(text) {
      message.add(text)
      isInList = message.listsObjects
      kind = .continuation
    } else if LogKind.isPlanRow(text.trimmed), isExplaining || LogReader.isDrawn(text) {
      flush()
      tally.take(
        LogMessage(line: report.lines, logClass: .details, text: text.trimmed), .plan)
      kind = .plan
    } else if SQLText.isFragment(text) {
      kind = .continuation
    } else {
      kind = .app
      pass()
    }
    kinds[kind.position] += 1
  }

  /// Adds the time and the thread of the open message, which a later line contains: a key of its
  /// record, or what Xcode prints below it.
  private mutating func complete(time: LogTime?, thread: LogBytes?) {
    guard isOpen else { return }
    if message.time.isEmpty, let time {
      message.time = time
      note(time)
    }
    if message.thread == .unknown, let thread {
      message.thread = LogThread(thread)
      tally.timeline?.name(message.thread, thread)
    }
  }

  /// Processes a line of the app.
  ///
  /// An incomplete message can continue after a few of them.
  private mutating func pass() {
    isExplaining = false
    isInList = false
    guard isOpen else { return }
    message.passed += 1
    if message.passed > 3 || !message.isIncomplete { flush() }
  }

  private mutating func flush() {
    guard isOpen else { return }
    isOpen = false
    isInList = false
    // A line that continues the message can complete the words that determine its kind.
    if message.continued > 0 { message.classify() }
    if let kind = message.kind { tally.take(message, kind) }
  }

  private mutating func note(_ time: LogTime) {
    guard !time.isEmpty else { return }
    if times.first.isEmpty { times.first = time }
    times.last = time
  }

  /// Returns whether a line is the metadata that Xcode prints below a message:
  /// `Type: Notice | Timestamp: … | Process: … | Category: sql | TID: 0x1a2b`.
  private static func isMetadata(_ text: LogBytes) -> Bool {
    let line = text.withoutIndent
    return (line.starts(with: "Type: ") || line.starts(with: "Timestamp: "))
      && line.contains(" | ")
  }

  /// Returns whether a line is a plan row in SQLite's format: `|--SCAN t0`, `0|0|0|SCAN TABLE …`.
  private static func isDrawn(_ text: LogBytes) -> Bool {
    let line = text.withoutIndent
    guard let first = line.first else { return false }
    return line.starts(with: "|--") || line.starts(with: "`--")
      || line.trimmed.bytes.elementsEqual("QUERY PLAN".utf8)
      || first.isDigit && line.bytes.contains(UInt8(ascii: "|"))
  }
}
