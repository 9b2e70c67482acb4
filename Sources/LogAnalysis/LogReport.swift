import Foundation
package import ProfileEvents
import SQLiteDriver
package import StatementAnalysis
import WorkbenchText

/// The report of a log: its lines by kind, its statements, its findings, and its sections.
package struct LogReport: Sendable {
  /// The path of the file as it was given, or `-` for standard input.
  package var file: String
  /// The number of lines in the file.
  package var lines = 0
  /// The wrapping of lines that were rejoined, or `nil` if lines weren't wrapped.
  package var wrap: LogWrap?
  /// The number of lines by kind.
  ///
  /// Together with `unrecognized`, they add up to `lines`.
  package var kinds: [LogKind: Int] = [:]
  /// The number of lines from Core Data by class, including unrecognized lines but not the lines
  /// that continue them.
  package var classes: [LogClass: Int] = [:]
  /// The number of unrecognized lines from Core Data.
  package var unrecognized = 0
  /// The first unrecognized lines, grouped by text.
  package var unrecognizedLines: [LogSample] = []
  /// The first hundred errors, warnings, and faults, grouped by text.
  package var problems: [LogSample] = []
  /// The first time in the log, or an empty string.
  package var firstTime = ""
  package var lastTime = ""
  /// The files of opened stores.
  package var stores: [String] = []
  /// The statements, in the order of first appearance.
  package var statements: [LogStatement] = []
  /// The number of times without a statement, because the beginning of the log is truncated, or
  /// because several threads wrote lines that don't name them.
  package var unmatchedTimes = 0
  package var costs = LogCosts()
  /// The fault storms and fetch loops, largest first.
  package var storms: [LogStorm] = []
  package var sections: [LogSection] = []
  /// The number of sections beyond the limit.
  package var leftOutSections = 0
  /// The number of sections whose statements aren't kept, because there are too many.
  package var sectionsWithoutStatements = 0
  /// The number of sections in which tables, entities, and relationships aren't counted separately,
  /// because there are too many.
  package var sectionsWithoutSubjects = 0
  /// The hundred executions of fetches that took longest, in descending order.
  package var slowest: [LogExecution] = []
  /// The executions by time; `nil` if they weren't kept.
  package var timeline: LogTimeline?
  /// Whether the log contains faults fulfilled from the row cache.
  ///
  /// Core Data doesn't log them.
  package var logsHits = false
  /// The times of saves, if the log contains them.
  ///
  /// Core Data doesn't log them.
  package var saveTimes = LogTimes()

  package init(file: String) {
    self.file = file
  }

  /// The total time of all statements in microseconds, counting nothing twice.
  package var microseconds: Int { statements.reduce(0) { $0 + $1.own } }

  /// Returns microseconds in nanoseconds, or the greatest integer if the sum of many times exceeds
  /// it.
  package static func nanoseconds(_ microseconds: Int) -> UInt64 {
    let (product, isBeyond) = microseconds.multipliedReportingOverflow(by: 1_000)
    return UInt64(clamping: isBeyond ? Int.max : product)
  }

  /// The statements that took longest first; of equal times, those executed most often first.
  package var statementsByTime: [LogStatement] {
    statements.sorted { ($0.own, $0.calls, $1.number) > ($1.own, $1.calls, $0.number) }
  }

  /// Whether the log contains a line from Core Data, a query plan, or a section.
  package var isLog: Bool {
    !classes.isEmpty || !sections.isEmpty || kinds[.plan, default: 0] > 0
  }

  /// The number of lines from Core Data, including unrecognized lines.
  package var coreDataLines: Int {
    let others: [LogKind] = [.app, .blank, .metadata, .section]
    return lines - others.reduce(0) { $0 + kinds[$1, default: 0] }
  }
}

extension LogReport {
  /// The maximum number of statements to suggest indexes for: those that took longest, and then
  /// those executed most often.
  static let mostAdvised = 200

  /// The statements to find indexes for, with the logged bound values.
  ///
  /// Truncated statements and those beyond the limit are skipped. The advisor takes bound values
  /// that aren't in the log (level 1, or `<private>`) from the store.
  package var advisedStatements: [AdvisedStatement] {
    statementsByTime.filter {
      !$0.isTruncated && !$0.isOther && $0.kind != .transaction && $0.kind != .housekeeping
    }
    .prefix(LogReport.mostAdvised)
    .map { statement in
      AdvisedStatement(
        sql: statement.sql, binds: statement.boundValues, count: statement.calls,
        rows: statement.rows, entity: statement.entity)
    }
  }
}

extension LogStatement {
  /// Whether the log hides a bound value, as the system log does.
  var hidesBoundValues: Bool { binds.contains { $0.hasPrefix("<private") } }

  /// The bound values, one for each parameter, or `nil` if the log doesn't contain all of them.
  var boundValues: [SQLiteValue]? {
    guard !binds.isEmpty, !hidesBoundValues else { return nil }
    let wanted = SQLToken.all(in: LogBytes(sql)).count { $0.isSign("?") }
    guard binds.count == wanted else { return nil }
    return binds.map(BindText.value)
  }
}

extension LogReport {
  /// Determines the entities of tables according to a model, where the log doesn't contain them.
  package mutating func resolveEntities(with tables: LogTables) {
    for index in statements.indices where statements[index].entity == nil {
      statements[index].entity = statements[index].table.flatMap(tables.entity)
    }
    for index in storms.indices { storms[index].subject = named(storms[index], tables) }
    for section in sections.indices {
      for index in sections[section].storms.indices {
        sections[section].storms[index].subject = named(sections[section].storms[index], tables)
      }
    }
  }

  private func named(_ storm: LogStorm, _ tables: LogTables) -> String {
    storm.kind == .fetchLoop ? tables.entity(of: storm.subject) ?? storm.subject : storm.subject
  }

  /// Determines the query plans of the statements.
  ///
  /// **Cost**: one `EXPLAIN QUERY PLAN` for each statement that reads, updates, or deletes rows.
  /// Truncated statements and those beyond the limit have no plan.
  ///
  /// - Parameter reader: The reader of plans on the app's store.
  package mutating func explain(with reader: PlanReader) {
    for index in statements.indices
    where !statements[index].isTruncated && !statements[index].isOther {
      let statement = statements[index]
      guard [.select, .update, .delete].contains(statement.kind) else { continue }
      let shape = StatementShape(
        number: statement.number, kind: statement.kind, sql: statement.sql,
        count: statement.calls, rows: statement.rows, nanoseconds: 0
      )
      let lines = reader.lines(
        of: statement.sql, binds: statement.hidesBoundValues ? nil : statement.binds)
      if lines.first?.hasPrefix("no plan: ") == true {
        statements[index].plan = lines
      } else {
        let explained = shape.explained(by: lines, present: reader.present)
        (statements[index].plan, statements[index].assessment) = (
          explained.plan, explained.assessment
        )
      }
    }
  }
}

/// Lines with the same text: the first line and their number.
package struct LogSample: Sendable, Equatable {
  /// The line number of the first occurrence, starting at 1.
  package var line: Int
  package var logClass: LogClass
  package var text: String
  package var count: Int
}

/// A limited number of samples, in the order of first appearance.
struct LogSamples {
  private(set) var all: [LogSample] = []
  private var positions: [String: Int] = [:]
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  mutating func add(_ message: LogMessage) {
    // Long text doesn't need to be kept in full.
    let text = LogBytes(message.text.bytes.prefix(2_000)).string
    if let position = positions[text] {
      all[position].count += 1
    } else if all.count < limit {
      positions[text] = all.count
      all.append(
        LogSample(line: message.line, logClass: message.logClass, text: text, count: 1))
    }
  }
}

/// A section of a log, from `cdprof: begin NAME` to the next such line or `cdprof: end`.
package struct LogSection: Sendable, Equatable {
  package var name: String
  /// The line number of `begin`, starting at 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time of that line, as the log contains it.
  package var firstTime: String
  package var costs: LogCosts
  /// The fault storms and fetch loops, largest first.
  package var storms: [LogStorm]
  /// The number of executions in the section, by statement number.
  package var calls: [Int: Int]
  /// The counts of SELECTs, fetches, rows, misses, and prefetches, by statement number.
  package var reads: [Int: [Metric: Int]]
  /// Whether `calls` and `reads` are complete; otherwise, they're empty.
  package var keepsStatements: Bool
  /// Whether the costs have the counts of tables, entities, and relationships; otherwise, they have
  /// only totals.
  package var keepsSubjects: Bool

  package init(
    name: String, firstLine: Int, lastLine: Int, firstTime: String = "",
    costs: LogCosts = LogCosts(), storms: [LogStorm] = [], calls: [Int: Int] = [:],
    reads: [Int: [Metric: Int]] = [:], keepsStatements: Bool = true,
    keepsSubjects: Bool = true
  ) {
    self.name = name
    self.firstLine = firstLine
    self.lastLine = lastLine
    self.firstTime = firstTime
    self.costs = costs
    self.storms = storms
    self.calls = calls
    self.reads = reads
    self.keepsStatements = keepsStatements
    self.keepsSubjects = keepsSubjects
  }
}

/// An execution of a statement in a log.
package struct LogExecution: Sendable, Equatable {
  /// The number of the statement.
  package var statement: Int
  /// The line number of the statement, starting at 1.
  package var line: Int
  /// The time without nested fetches, in microseconds.
  package var microseconds: Int
}

/// A limited number of executions, those that took longest.
struct SlowestExecutions {
  /// The maximum number of executions.
  static let limit = 100

  private var all: [LogExecution] = []
  /// The index of the fastest execution, once there are as many as the limit.
  private var fastest = 0

  /// The executions, those that took longest first.
  var sorted: [LogExecution] {
    all.sorted { ($0.microseconds, $1.line) > ($1.microseconds, $0.line) }
  }

  /// Adds an execution if it's among the slowest; of equal ones, the first are kept.
  mutating func add(_ execution: LogExecution) {
    if all.count < SlowestExecutions.limit {
      all.append(execution)
    } else if execution.microseconds > all[fastest].microseconds {
      all[fastest] = execution
    } else {
      return
    }
    guard all.count == SlowestExecutions.limit else { return }
    let index = all.indices.min { all[$0].microseconds < all[$1].microseconds }
    fastest = index ?? 0
  }
}
