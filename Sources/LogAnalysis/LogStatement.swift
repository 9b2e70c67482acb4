package import OpenCoreData
package import ProfileEvents

/// All statements of a log with the same text, counted together.
package struct LogStatement: Sendable, Equatable {
  /// Counted from 1 in the order of first appearance.
  package var number: Int
  /// As the log has it where it stands first.
  package var sql: String
  /// Whether its end is missing; all that begin so and end nowhere are counted here.
  package var isCut: Bool
  package var kind: StatementKind
  /// The table whose rows it reads or changes.
  package var table: String?
  /// The entity, where the log or a model names it.
  package var entity: String?
  package var calls = 0
  /// Rows that it returned, as the log says.
  package var rows = 0
  /// Objects counted, of count requests.
  package var counted = 0
  /// In all, what happened inside included: Apple's `total fetch execution time`.
  package var times = LogTimes()
  /// In all, without the fetches inside, in microseconds.
  package var own = 0
  /// SQLite's part, in microseconds.
  package var connection = 0
  /// How many of them filled an object fault.
  package var objectFaults = 0
  /// How many of them filled a to-many fault.
  package var relationshipFaults = 0
  /// How many of them were prefetches.
  package var prefetches = 0
  /// The line of the first, counted from 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The times in front of the first and the last, as the log has them; empty without.
  package var firstTime: String
  package var lastTime: String
  /// The bound values of the first one that shows some.
  package var binds: [String] = []
  /// Rows of its plan, as the log has them (level 4).
  package var loggedPlan: [String] = []
  /// Its plan on the store that was given, line by line; empty without.
  package var plan: [String] = []
  /// What the plan means, in a sentence; empty without.
  package var verdict = ""

  package init(
    number: Int, sql: String, isCut: Bool, kind: StatementKind, table: String?, firstLine: Int,
    firstTime: String
  ) {
    self.number = number
    self.sql = sql
    self.isCut = isCut
    self.kind = kind
    self.table = table
    self.firstLine = firstLine
    self.lastLine = firstLine
    self.firstTime = firstTime
    self.lastTime = firstTime
  }

  /// Adds what another of the same beginning has.
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

/// The statements of a log by their text, found again quickly.
struct LogShapes {
  private(set) var all: [LogStatement] = []
  /// Set for shapes that are looked at again and again.
  private(set) var traits: [Traits] = []
  private var byText: [LogBytes: Int] = [:]
  private var byKey: [LogBytes: Int] = [:]

  /// What decides how a statement is counted.
  struct Traits {
    var isCount: Bool
    var isPage: Bool
    var readsLinks: Bool
    /// Whether the log says `<private>` in its place.
    var isHidden: Bool
    var verb: SQLText.Verb?
  }

  /// More different texts than any app has; those beyond are counted as one.
  private static let limit = 20_000
  /// The system's log cuts a message after so many bytes, its class included.
  private static let systemLimit = 1_015...1_024

  subscript(index: Int) -> LogStatement {
    get { all[index] }
    _modify { yield &all[index] }
  }

  /// The shape of a text; made when there is none.
  mutating func index(of text: LogBytes, line: Int, time: String) -> Int {
    if let known = byText[text] { return known }
    let statement = SQLText(text)
    let key = statement.key
    let index = byKey[key] ?? add(statement, key, line, time, length: text.count)
    if byText.count < 2 * LogShapes.limit { byText[LogBytes(Array(text.bytes)[...])] = index }
    return index
  }

  /// The shape of a text that a plan or another line repeats; nil when it was never run.
  func known(_ text: LogBytes) -> Int? {
    byText[text] ?? byKey[SQLText(text).key]
  }

  private mutating func add(
    _ statement: SQLText, _ key: LogBytes, _ line: Int, _ time: String, length: Int
  ) -> Int {
    guard all.count < LogShapes.limit else { return all.count - 1 }
    let isLast = all.count == LogShapes.limit - 1
    let table = statement.table
    let length = length + "CoreData: sql: ".utf8.count
    byKey[key] = all.count
    all.append(
      LogStatement(
        number: all.count + 1, sql: isLast ? "(other statements)" : statement.text.string,
        isCut: !statement.isComplete || LogShapes.systemLimit.contains(length),
        kind: statement.kind(table: table), table: table, firstLine: line, firstTime: time))
    traits.append(
      Traits(
        isCount: statement.isCount, isPage: statement.isPage, readsLinks: statement.readsLinks,
        isHidden: statement.verb == nil && statement.text.contains("<private>"),
        verb: statement.verb))
    return all.count - 1
  }

  /// All statements, the cut ones put to those whose beginning they are.
  ///
  /// A cut text that begins several whole ones could be any of them and stays by itself.
  var merged: (statements: [LogStatement], places: [Int]) {
    var statements = all
    var target = Array(all.indices)
    let keys = all.map { SQLText(LogBytes($0.sql)).key }
    for index in all.indices where all[index].isCut {
      let longer = all.indices.filter { other in
        other != index && keys[other].count > keys[index].count
          && keys[other].bytes.starts(with: keys[index].bytes)
      }
      let whole = longer.filter { !all[$0].isCut }
      if whole.count == 1 {
        target[index] = whole[0]
      } else if whole.isEmpty, let longest = longer.max(by: { keys[$0].count < keys[$1].count }) {
        let isOneChain = longer.allSatisfy { keys[longest].bytes.starts(with: keys[$0].bytes) }
        if isOneChain { target[index] = longest }
      }
    }
    for index in all.indices where target[index] != index {
      statements[target[index]].absorb(all[index])
    }
    let kept = all.indices.filter { target[$0] == $0 }
    var places = [Int](repeating: 0, count: all.count)
    for (place, index) in kept.enumerated() { places[index] = place }
    for index in all.indices where target[index] != index { places[index] = places[target[index]] }
    let result = kept.enumerated().map { place, index in
      var statement = statements[index]
      statement.number = place + 1
      return statement
    }
    return (result, places)
  }
}

/// Which entity's rows a table of a log has, by a model.
package struct LogTables {
  private let model: SQLModel

  /// Lays the model out as Core Data does.
  package init(_ model: NSManagedObjectModel) {
    self.model = SQLModel(model: model)
  }

  /// The entity at the root of a table; nil for a table of links, and for one that is not the
  /// model's.
  package func entity(of table: String) -> String? {
    let table = table.uppercased()
    return model.entities.first { $0.table.uppercased() == table && $0.superentity == nil }?.name
  }

  /// The table that has an entity's rows; nil for a name that is not the model's.
  package func table(of entity: String) -> String? {
    model.entity(named: entity)?.table
  }
}
