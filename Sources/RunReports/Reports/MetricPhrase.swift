import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// A metric as the predicate of a sentence: `fetches 20 rows of Mood`, `fires no faults`.
struct MetricPhrase {
  let verb: String
  let one: String
  let many: String
  /// The words after the noun, with a space before them.
  let end: String

  init(_ scoped: ScopedMetric) {
    let (verb, noun, end) = MetricPhrase.words(for: scoped.metric)
    let scope = scoped.scopeName
    let isEntity = scope?.first?.isUppercase == true
    let owner = isEntity && noun == "object" ? scope.map { "\($0) " } ?? "" : ""
    self.verb = verb
    one = owner + noun
    many = one + (noun.hasSuffix("miss") || noun.hasSuffix("x") ? "es" : "s")
    let rest = owner.isEmpty ? scope.map { isEntity ? " of \($0)" : " in \($0)" } ?? "" : ""
    self.end = rest + end
  }

  /// Returns a number with its noun: `20 rows`, `1 row`, `no rows`.
  func object(_ number: Int) -> String {
    switch number {
    case 0: "no \(many)"
    case 1: "1 \(one)"
    default: "\(NumberText.grouped(number)) \(many)"
    }
  }

  /// Returns the verb, the noun in singular, and the words at the end.
  private static func words(for metric: Metric) -> (verb: String, noun: String, end: String) {
    switch metric {
    case .fetches: ("executes", "fetch request", "")
    case .saves: ("performs", "save", "")
    case .selects: ("runs", "SELECT", "")
    case .inserts: ("inserts", "row", "")
    case .updates: ("updates", "row", "")
    case .deletes: ("deletes", "row", "")
    case .transactions: ("commits", "transaction", "")
    case .rows: ("fetches", "row", "")
    case .scanned: ("scans", "row", "")
    case .sorts: ("performs", "temp B-tree sort", "")
    case .calls: ("makes", "function call", "")
    case .faults: ("fires", "fault", "")
    case .hits: ("has", "row-cache hit", "")
    case .misses: ("has", "row-cache miss", "")
    case .prefetches: ("prefetches", "relationship", "")
    case .roundtrips: ("makes", "round trip", "")
    case .registered: ("leaves", "object", " registered")
    case .peak: ("registers", "object", " at its peak")
    case .vmsteps, .pageins, .pageouts, .filepages, .walpages, .freepages: pageWords(for: metric)
    case .migrations, .ddl, .dml, .migratedrows, .copiedtables, .addedcolumns, .createdindexes,
      .instances:
      migrationWords(for: metric)
    case .time: ("takes", "nanosecond", "")
    }
  }

  private static func pageWords(
    for metric: Metric
  ) -> (verb: String, noun: String, end: String) {
    switch metric {
    case .vmsteps: ("takes", "VM step", "")
    case .pageins: ("reads", "page", "")
    case .pageouts: ("writes", "page", "")
    case .walpages: ("leaves", "page", " in the WAL")
    case .freepages: ("leaves", "free page", "")
    default: ("leaves", "page", " in the file")
    }
  }

  private static func migrationWords(
    for metric: Metric
  ) -> (verb: String, noun: String, end: String) {
    switch metric {
    case .ddl: ("runs", "DDL statement", "")
    case .dml: ("runs", "DML statement", "")
    case .migratedrows: ("migrates", "row", "")
    case .copiedtables: ("copies", "table", "")
    case .addedcolumns: ("adds", "column", "")
    case .createdindexes: ("creates", "index", "")
    case .instances: ("creates", "instance", "")
    default: ("runs", "migration", "")
    }
  }
}

extension ScopedMetric {
  /// The scope as written, without its parentheses.
  var scopeName: String? {
    switch scope {
    case .all: nil
    case .entity(let name), .context(let name), .step(let name): name
    case .relationship(let entity, let name): "\(entity).\(name)"
    }
  }

  /// Returns the unit to show after a number: the heading, in the singular for 1 without a scope.
  func unit(of number: Int) -> String {
    guard scope == .all else { return heading }
    let words = metric.counted(number).split(separator: " ", maxSplits: 1)
    return words.last.map(String.init) ?? heading
  }

  /// The heading of the metric's column: `misses (Country)`, `peak Mood`.
  var heading: String {
    guard let name = scopeName else { return metric.heading }
    if case .entity = scope, metric == .peak || metric == .registered {
      return "\(metric.rawValue) \(name)"
    }
    return "\(metric.heading) (\(name))"
  }
}
