import ProfileEvents

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
