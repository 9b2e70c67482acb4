package import ManagedModel
package import ProfileEvents
import SQLiteDriver
import StatementAnalysis
import WorkbenchText

/// The executions of a statement (one SQL text) in a log.
package struct LogStatement: Sendable, Equatable {
  /// The number of the statement, starting at 1, in the order of first appearance.
  package var number: Int
  /// The SQL text of the first execution in the log.
  package var sql: String
  /// Whether the statement is truncated.
  ///
  /// All truncated statements with the same beginning are counted together.
  package var isTruncated: Bool
  /// Whether this counts several statements: those of one kind that are beyond the maximum number
  /// of different statements.
  ///
  /// It has no bound values, no entity, and no plan.
  package var isOther = false
  package var kind: StatementKind
  /// The table that the statement reads or changes.
  package var table: String?
  /// The entity, if the log or a model contains it.
  package var entity: String?
  package var calls = 0
  /// The number of rows that were returned, according to the log.
  package var rows = 0
  /// The number of objects that count requests counted.
  package var counted = 0
  /// The total times, including nested fetches: Core Data's `total fetch execution time`.
  package var times = LogTimes()
  /// The total time without nested fetches, in microseconds.
  package var own = 0
  /// SQLite's time, in microseconds.
  package var connection = 0
  /// The number of executions that fulfilled an object fault.
  package var objectFaults = 0
  /// The number of executions that fulfilled a to-many relationship fault.
  package var relationshipFaults = 0
  /// The number of executions that were prefetches.
  package var prefetches = 0
  /// The line number of the first execution, starting at 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time of the first execution.
  ///
  /// Empty if the log has none.
  package var firstTime: LogTime
  package var lastTime: LogTime
  /// The bound values of the first execution that has some.
  package var binds: [String] = []
  /// The rows of the logged query plan (level 4).
  package var loggedPlan: [String] = []
  /// The query plan on the given store, line by line.
  ///
  /// Empty without a store.
  package var plan: [String] = []
  /// The assessment of the plan, in one sentence.
  ///
  /// Empty without a plan.
  package var assessment = ""

  package init(
    number: Int, sql: String, isTruncated: Bool, kind: StatementKind, table: String?,
    firstLine: Int, firstTime: LogTime
  ) {
    self.number = number
    self.sql = sql
    self.isTruncated = isTruncated
    self.kind = kind
    self.table = table
    self.firstLine = firstLine
    self.lastLine = firstLine
    self.firstTime = firstTime
    self.lastTime = firstTime
  }

  /// Counts an execution, and returns whether its bound values are to be recorded.
  mutating func begin(line: Int, time: LogTime) -> Bool {
    calls += 1
    lastLine = line
    lastTime = time
    return binds.isEmpty && !isOther
  }

  /// Records the total time and the rows of an execution.
  mutating func close(time: Int, own: Int, rows: Int, counted: Int) {
    times.add(time)
    self.own += own
    self.rows += rows
    self.counted += counted
  }

  /// Adds the executions of another statement with the same beginning.
  mutating func absorb(_ other: LogStatement) {
    calls += other.calls
    rows += other.rows
    counted += other.counted
    times.add(other.times)
    own += other.own
    connection += other.connection
    objectFaults += other.objectFaults
    relationshipFaults += other.relationshipFaults
    prefetches += other.prefetches
    if other.firstLine < firstLine {
      firstLine = other.firstLine
      firstTime = other.firstTime
    }
    if other.lastLine > lastLine {
      lastLine = other.lastLine
      lastTime = other.lastTime
    }
    if binds.isEmpty { binds = other.binds }
    if loggedPlan.isEmpty { loggedPlan = other.loggedPlan }
    entity = entity ?? other.entity
  }
}

/// The statements of a log, indexed by text.
struct LogShapes {
  private(set) var all: [LogStatement] = []
  /// The properties of the statements, which are determined once.
  private(set) var traits: [Traits] = []
  private var byText: [LogBytes: Int] = [:]
  private var byKey: [LogBytes: Int] = [:]
  /// The position of the first SELECT of each pattern, by the pattern's hash.
  private var patterns: [UInt64: Int] = [:]
  /// The indexes of the entries for statements beyond the limit.
  private var others: [String: Int] = [:]
  /// The sizes of the texts in `byKey` and `byText`, in bytes.
  private var sizes = (keys: 0, texts: 0)
  /// The maximum of each of the sizes.
  var sizeLimit = InputLimits.logSQL

  /// The properties that determine how a statement is counted.
  struct Traits {
    var isCount: Bool
    var isBatch: Bool
    var readsJoinRows: Bool
    /// Whether the log hides the statement as `<private>`.
    var isHidden: Bool
    /// Whether the statement is a SELECT on a table of the history or of mirroring to CloudKit,
    /// such as `ATRANSACTION` or `ANSCKEVENT`, from which Core Data also fetches.
    var readsInternalRows: Bool
    var verb: SQLText.Verb?
    /// The table in uppercase.
    var tableKey: String?
    /// The position of the first statement with the same text apart from literals.
    fileprivate(set) var pattern = 0
    /// The entity that the log named last for the statement.
    fileprivate(set) var loggedEntity: String?

    /// Returns the name of the entry for statements with these properties: `(other SELECT
    /// statements)`.
    func others(_ kind: StatementKind) -> String {
      if isCount { return "(other count requests)" }
      let verb = isHidden ? "hidden " : verb.map { "\($0.rawValue) " } ?? ""
      let purpose =
        switch (kind, isBatch, readsJoinRows) {
        case (.housekeeping, _, _): " of other tables"
        case (_, true, _): " of batches"
        case (_, _, true): " of join rows"
        default: ""
        }
      return "(other \(verb)statements\(purpose))"
    }
  }

  /// The length in bytes, including the class, at which the system log truncates a message.
  private static let systemLimit = 1_015...1_024

  subscript(index: Int) -> LogStatement {
    _read { yield all[index] }
    _modify { yield &all[index] }
  }

  /// Returns the index of the statement with a text, which is added if it's new.
  mutating func index(of text: LogBytes, line: Int, time: LogTime) -> Int {
    if let known = byText[text] { return known }
    let statement = SQLText(text)
    let key = statement.key
    let index = byKey[key] ?? add(statement, key, line, time, length: text.count)
    if byText.count < 2 * InputLimits.logStatements,
      sizes.texts + text.count <= sizeLimit
    {
      sizes.texts += text.count
      byText[LogBytes(Array(text.bytes)[...])] = index
    }
    return index
  }

  /// Records the entity that the log names for a statement.
  mutating func record(_ entity: String, of index: Int) {
    traits[index].loggedEntity = entity
  }

  /// Returns the index of the statement that a plan or another line repeats, or `nil` if it wasn't
  /// executed or is beyond the limit.
  func known(_ text: LogBytes) -> Int? {
    (byText[text] ?? byKey[SQLText(text).key]).flatMap { all[$0].isOther ? nil : $0 }
  }

  private mutating func add(
    _ statement: SQLText, _ key: LogBytes, _ line: Int, _ time: LogTime, length: Int
  ) -> Int {
    let table = statement.table
    let kind = statement.kind(table: table)
    var own = Traits(
      isCount: statement.isCount, isBatch: statement.isBatch,
      readsJoinRows: statement.readsJoinRows,
      isHidden: statement.verb == nil && statement.text.contains("<private>"),
      readsInternalRows: kind == .housekeeping && statement.verb == .select
        && table?.uppercased().first == "A",
      verb: statement.verb, tableKey: table?.uppercased())
    guard byKey.count < InputLimits.logStatements, sizes.keys + key.count <= sizeLimit else {
      return other(kind, own, line, time)
    }
    sizes.keys += key.count
    own.pattern = kind == .select ? pattern(of: statement) : all.count
    let length = length + "CoreData: sql: ".utf8.count
    byKey[key] = all.count
    all.append(
      LogStatement(
        number: all.count + 1, sql: statement.text.string,
        isTruncated: !statement.isComplete || LogShapes.systemLimit.contains(length), kind: kind,
        table: table, firstLine: line, firstTime: time))
    traits.append(own)
    return all.count - 1
  }

  /// Returns the position of the first SELECT with the same text apart from literals, which is the
  /// next one if the statement is the first.
  private mutating func pattern(of statement: SQLText) -> Int {
    let hash = LogBytes(NormalizedSQL.pattern(statement.text.string)).keyedHash
    let first = patterns[hash] ?? all.count
    patterns[hash] = first
    return first
  }

  /// Returns the index of the entry for all statements beyond the limit that are counted in the
  /// same way.
  private mutating func other(
    _ kind: StatementKind, _ own: Traits, _ line: Int, _ time: LogTime
  ) -> Int {
    let name = own.others(kind)
    if let known = others[name] { return known }
    others[name] = all.count
    var statement = LogStatement(
      number: all.count + 1, sql: name, isTruncated: false, kind: kind, table: nil, firstLine: line,
      firstTime: time)
    statement.isOther = true
    var own = own
    own.tableKey = nil
    own.pattern = all.count
    all.append(statement)
    traits.append(own)
    return all.count - 1
  }

  /// The statements, with each truncated one merged into the statement that it's the beginning of.
  ///
  /// A truncated text that is the beginning of several complete statements isn't merged.
  var merged: (statements: [LogStatement], positions: [Int]) {
    var statements = all
    var target = Array(all.indices)
    if all.contains(where: \.isTruncated) {
      let beginnings = StatementBeginnings(all)
      for index in all.indices where all[index].isTruncated {
        target[index] = beginnings.statement(beginningWith: index) ?? index
      }
    }
    for index in all.indices where target[index] != index {
      statements[target[index]].absorb(all[index])
    }
    let kept = all.indices.filter { target[$0] == $0 }
    var positions = [Int](repeating: 0, count: all.count)
    for (position, index) in kept.enumerated() { positions[index] = position }
    for index in all.indices where target[index] != index {
      positions[index] = positions[target[index]]
    }
    let result = kept.enumerated().map { position, index in
      var statement = statements[index]
      statement.number = position + 1
      return statement
    }
    return (result, positions)
  }
}

/// The texts of statements in byte order, in which those with the same beginning are adjacent.
private struct StatementBeginnings {
  private let keys: [LogBytes]
  /// The indexes of the statements, in the order of their texts.
  private let order: [Int]
  /// The positions of the statements in `order`.
  private var positions: [Int]
  /// The number of complete statements before each position.
  private var completeBefore = [0]
  /// The number of texts before each position that aren't the beginning of the next one.
  private var branchesBefore = [0]

  init(_ statements: [LogStatement]) {
    let keys = statements.map { SQLText(LogBytes($0.sql)).key }
    order = keys.indices.sorted { keys[$0].precedes(keys[$1]) }
    positions = [Int](repeating: 0, count: keys.count)
    for (position, index) in order.enumerated() {
      positions[index] = position
      let isBeginning =
        position + 1 < order.count && keys[order[position + 1]].starts(with: keys[index])
      completeBefore.append(completeBefore[position] + (statements[index].isTruncated ? 0 : 1))
      branchesBefore.append(branchesBefore[position] + (isBeginning ? 0 : 1))
    }
    self.keys = keys
  }

  /// Returns the only complete statement with the beginning that another one consists of; if
  /// there's none, the longest truncated one, of which all others are the beginning.
  ///
  /// **Cost:** in proportion to the logarithm of the number of statements.
  func statement(beginningWith index: Int) -> Int? {
    let key = keys[index]
    var start = positions[index] + 1
    while start < order.count, keys[order[start]] == key { start += 1 }
    let end = position(from: start) { keys[order[$0]].starts(with: key) }
    guard start < end else { return nil }
    switch completeBefore[end] - completeBefore[start] {
    case 0:
      return branchesBefore[end - 1] == branchesBefore[start] ? order[end - 1] : nil
    case 1:
      return order[position(from: start) { completeBefore[$0 + 1] == completeBefore[start] }]
    default:
      return nil
    }
  }

  /// Returns the first position from a start on that doesn't meet a condition, which all before it
  /// meet and none after it.
  private func position(from start: Int, where isMet: (Int) -> Bool) -> Int {
    var (low, high) = (start, order.count)
    while low < high {
      let middle = (low + high) / 2
      if isMet(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The entities of a log's tables, according to a model.
package struct LogTables {
  /// The tables by entity.
  private var tables: [String: String] = [:]
  /// The names of the root entities by their tables, in uppercase.
  private var roots: [String: String] = [:]

  /// Maps a model to tables as Core Data does for a new store.
  package init(_ model: NSManagedObjectModel) {
    var taken = HousekeepingTables.names
    for entity in model.entitiesInNumberingOrder() {
      let name = entity.name ?? ""
      if let parent = entity.superentity?.name {
        tables[name] = tables[parent]
      } else {
        let table = SQLNames.take(SQLNames.plain(name), from: &taken)
        tables[name] = table
        roots[table.uppercased()] = name
      }
    }
  }

  /// Returns the root entity of a table, or `nil` for join tables and tables that aren't in the
  /// model.
  package func entity(of table: String) -> String? {
    roots[table.uppercased()]
  }

  /// Returns the table of an entity, or `nil` if the entity isn't in the model.
  package func table(of entity: String) -> String? {
    tables[entity]
  }
}
