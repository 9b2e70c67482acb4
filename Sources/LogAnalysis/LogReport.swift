package import Foundation
package import ProfileEvents
import SQLiteDriver
package import ScenarioLanguage
package import StatementAnalysis

/// What a log says: every line of it counted, its statements by shape, its storms and sections.
package struct LogReport: Sendable {
  /// The file as it was given; `-` for standard input.
  package var file: String
  /// Lines of the file.
  package var lines = 0
  /// Where its lines were broken, and put together again; nil where they were not.
  package var wrap: LogWrap?
  /// Lines by kind; with `unrecognized` they are all lines.
  package var kinds: [LogKind: Int] = [:]
  /// Lines of Core Data's by what follows `CoreData:`, understood or not; without the lines
  /// that continue them.
  package var classes: [LogClass: Int] = [:]
  /// Lines of Core Data's that are not understood.
  package var unrecognized = 0
  /// The first of them, by their text.
  package var unrecognizedLines: [LogSample] = []
  /// Errors, warnings and faults by their text, the first hundred.
  package var complaints: [LogSample] = []
  /// The time in front of the first and the last line that has one; empty without.
  package var firstTime = ""
  package var lastTime = ""
  /// Files of stores that were opened.
  package var stores: [String] = []
  /// In the order of first appearance.
  package var statements: [LogStatement] = []
  /// Times that belong to no statement of the log: its beginning is truncated.
  package var unmatchedTimes = 0
  package var costs = LogCosts()
  /// The largest first.
  package var storms: [LogStorm] = []
  package var sections: [LogSection] = []
  /// Whether the log has lines for faults fulfilled from the row cache; Apple's has none.
  package var tellsHits = false
  /// What saves took, where the log says so; Apple's does not.
  package var saveTimes = LogTimes()

  package init(file: String) {
    self.file = file
  }

  /// Times of all statements, nothing counted twice, in microseconds.
  package var microseconds: Int { statements.reduce(0) { $0 + $1.own } }

  /// Whether anything in it is Core Data's, a plan, or a section that a program marked.
  package var isLog: Bool {
    !classes.isEmpty || !sections.isEmpty || kinds[.plan, default: 0] > 0
  }

  /// Lines that are Core Data's, the unrecognized among them.
  package var coreDataLines: Int {
    let others: [LogKind] = [.app, .blank, .metadata, .section]
    return lines - others.reduce(0) { $0 + kinds[$1, default: 0] }
  }
}

extension LogReport {
  /// Statements that indexes are looked for at most: those that took longest, then those run most often.
  static let mostAdvised = 200

  /// Tries indexes for the statements of the log on a copy of a store, which is not changed.
  ///
  /// Values that the log lacks (level 1, or `<private>`) are taken from the store. Cut statements are
  /// left out.
  /// - Throws: the file system's `NSError`; `SQLiteError` when the file isn't a store.
  package func advice(on store: URL) throws -> IndexAdvice {
    try IndexAdvisor(storeURL: store).advice(on: advisedStatements)
  }

  /// The statements to look for indexes for, with what the log says was bound.
  var advisedStatements: [AdvisedStatement] {
    statements.filter { !$0.isCut && $0.kind != .transaction && $0.kind != .housekeeping }
      .sorted { ($0.own, $0.calls, $1.number) > ($1.own, $1.calls, $0.number) }
      .prefix(LogReport.mostAdvised)
      .map { statement in
        AdvisedStatement(
          sql: statement.sql, binds: statement.boundValues, count: statement.calls,
          entity: statement.entity)
      }
  }
}

extension LogStatement {
  /// What was bound, one value for each placeholder; nil when the log does not say, or not all.
  var boundValues: [SQLiteValue]? {
    guard !binds.isEmpty, !binds.contains(where: { $0.hasPrefix("<private") }) else { return nil }
    let wanted = SQLToken.all(in: LogBytes(sql)).count { $0.isSign("?") }
    guard binds.count == wanted else { return nil }
    return binds.map(BindText.value)
  }
}

extension LogReport {
  /// Names the entities of tables by a model, where the log does not.
  package mutating func name(by tables: LogTables) {
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

  /// Asks SQLite how it would run the statements on a store, of which no byte changes.
  ///
  /// Cost: one `EXPLAIN QUERY PLAN` for each statement that reads or changes rows; cut ones have no
  /// plan.
  /// - Throws: `SQLiteError` when the file cannot be opened.
  package mutating func explain(on store: URL) throws {
    let reader = try PlanReader(storeURL: store)
    for index in statements.indices where !statements[index].isCut {
      let statement = statements[index]
      guard [.select, .update, .delete].contains(statement.kind) else { continue }
      let shape = StatementShape(
        number: statement.number, kind: statement.kind, sql: statement.sql,
        count: statement.calls, rows: statement.rows, nanoseconds: 0
      )
      let isHidden = statement.binds.contains("<private>")
      let lines = reader.lines(of: statement.sql, binds: isHidden ? nil : statement.binds)
      if lines.first?.hasPrefix("no plan: ") == true {
        // The error repeats the statement below its sentence.
        statements[index].plan = lines.prefix(1).map { String($0.prefix { $0 != "\n" }) }
      } else {
        let explained = shape.explained(by: lines)
        (statements[index].plan, statements[index].verdict) = (explained.plan, explained.verdict)
      }
    }
  }
}

/// Lines of a log that have the same text: the first, and how many.
package struct LogSample: Sendable, Equatable {
  /// Where it first occurs, counted from 1.
  package var line: Int
  package var logClass: LogClass
  package var text: String
  package var count: Int
}

/// Samples in the order of first appearance, no more than a reader reads.
struct LogSamples {
  private(set) var all: [LogSample] = []
  private var places: [String: Int] = [:]
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  mutating func add(_ message: LogMessage) {
    // Addresses differ from line to line of one kind; a long text need not be kept whole.
    let text = LogBytes(message.text.bytes.prefix(2_000)).string
    if let place = places[text] {
      all[place].count += 1
    } else if all.count < limit {
      places[text] = all.count
      all.append(
        LogSample(line: message.line, logClass: message.logClass, text: text, count: 1))
    }
  }
}

/// A part of a log between `cdprof: begin NAME` and the next such line, or `cdprof: end`.
package struct LogSection: Sendable, Equatable {
  package var name: String
  /// The line that begins it, counted from 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time in front of that line, as the log has it.
  package var firstTime: String
  package var costs: LogCosts
  /// The largest first.
  package var storms: [LogStorm]
  /// By the number of a statement: how often it was run here.
  package var calls: [Int: Int]

  package init(
    name: String, firstLine: Int, lastLine: Int, firstTime: String = "",
    costs: LogCosts = LogCosts(), storms: [LogStorm] = [], calls: [Int: Int] = [:]
  ) {
    self.name = name
    self.firstLine = firstLine
    self.lastLine = lastLine
    self.firstTime = firstTime
    self.costs = costs
    self.storms = storms
    self.calls = calls
  }
}

/// What a part of a log cost, in the words of the metric catalog.
package struct LogCosts: Sendable, Equatable {
  /// All of it together.
  package internal(set) var all: [Metric: Int] = [:]
  /// Statements and rows by the table in upper case.
  package internal(set) var byTable: [String: [Metric: Int]] = [:]
  /// Object faults by the entity's name.
  package internal(set) var byEntity: [String: [Metric: Int]] = [:]
  /// Relationship faults by `Entity.relationship`, prefetches by the relationship alone.
  package internal(set) var byRelationship: [String: [Metric: Int]] = [:]
  /// Times of the statements, nothing counted twice, in microseconds.
  package internal(set) var microseconds = 0

  package init() {}

  subscript(metric: Metric) -> Int { all[metric, default: 0] }

  mutating func count(_ metric: Metric, _ amount: Int = 1, table: String?) {
    all[metric, default: 0] += amount
    if let table { byTable[table.uppercased(), default: [:]][metric, default: 0] += amount }
  }

  mutating func count(_ metric: Metric, entity: String?) {
    all[metric, default: 0] += 1
    if let entity { byEntity[entity, default: [:]][metric, default: 0] += 1 }
  }

  mutating func count(_ metric: Metric, relationship: String?) {
    all[metric, default: 0] += 1
    if let relationship { byRelationship[relationship, default: [:]][metric, default: 0] += 1 }
  }
}

extension LogCosts {
  /// The number of a metric; `faults` are hits and misses.
  package func value(of metric: Metric) -> Int {
    metric == .faults ? self[.hits] + self[.misses] : self[metric]
  }

  /// The number of a metric within a scope.
  ///
  /// - Parameter table: The table of an entity's rows; nil when it is not known.
  package func value(of scoped: ScopedMetric, table: (String) -> String?) -> Int {
    if case .entity(let name) = scoped.scope {
      let rows = table(name).flatMap { byTable[$0.uppercased()] }
      return number(scoped.metric, in: byEntity[name], or: rows)
    }
    if case .relationship(let entity, let name) = scoped.scope {
      let key = scoped.metric == .prefetches ? name : "\(entity).\(name)"
      return number(scoped.metric, in: byRelationship[key], or: nil)
    }
    return value(of: scoped.metric)
  }

  private func number(
    _ metric: Metric, in first: [Metric: Int]?, or second: [Metric: Int]?
  ) -> Int {
    func one(_ metric: Metric) -> Int {
      first?[metric] ?? second?[metric] ?? 0
    }
    return metric == .faults ? one(.hits) + one(.misses) : one(metric)
  }
}

extension Metric {
  /// Whether a log has lines to count it by.
  ///
  /// - Parameter hits: Whether the log has lines for the row cache's hits, as OpenCoreData's can.
  package func isAvailableInLogs(withHits hits: Bool) -> Bool {
    let told: Set<Metric> = [
      .fetches, .saves, .selects, .inserts, .updates, .deletes, .transactions, .rows, .misses,
      .prefetches,
    ]
    return told.contains(self) || hits && (self == .faults || self == .hits)
  }
}
