/// What a query plan means for the cost of a statement.
package struct PlanVerdict: Sendable, Equatable {
  /// From best to worst.
  package enum Rating: String, Sendable, Comparable {
    case keyLookup
    case indexSearch
    case scan
    case scanAndSort
    case filteringScan
    case automaticIndex

    package static func < (one: Rating, other: Rating) -> Bool { one.rank < other.rank }

    private var rank: Int {
      switch self {
      case .keyLookup: 0
      case .indexSearch: 1
      case .scan: 2
      case .scanAndSort: 3
      case .filteringScan: 4
      case .automaticIndex: 5
      }
    }
  }

  package let rating: Rating
  private let count: Int
  private let index: String?
  private let sorts: Bool

  /// Reads a plan.
  ///
  /// - Parameters:
  ///   - sql: The statement, which says whether a scan filters or was asked for.
  ///   - lines: The plan, as `EXPLAIN QUERY PLAN` draws it or without its tree.
  ///   - count: How often the statement ran.
  package init(sql: String = "", lines: [String], count: Int) {
    let steps = lines.map { line in String(line.drop { " |`-".contains($0) }) }
      .filter { !$0.contains("_Z_intarray") && !$0.contains("VIRTUAL TABLE") }
    let scans = steps.filter { $0.hasPrefix("SCAN ") && $0 != "SCAN CONSTANT ROW" }
    self.count = count
    sorts = steps.contains { $0.hasPrefix("USE TEMP B-TREE") }
    index = steps.lazy.compactMap(PlanVerdict.indexName).first
    if steps.contains(where: { $0.contains("AUTOMATIC ") }) {
      rating = .automaticIndex
    } else if !scans.isEmpty {
      let filters = sql.contains(" WHERE ")
      rating = filters ? .filteringScan : sorts ? .scanAndSort : .scan
    } else if steps.contains(where: { $0.contains(" INDEX ") }) {
      rating = .indexSearch
    } else {
      rating = .keyLookup
    }
  }

  /// The verdict in a sentence or two.
  package var sentence: String {
    switch rating {
    case .keyLookup where count >= FaultStorm.threshold:
      "The best plan there is, and no index can help: one of these is cheap, "
        + "\(NumberText.grouped(count)) of them are the cost."
    case .keyLookup:
      "The best plan there is: rows looked up by primary key." + sorting
    case .indexSearch:
      "Finds its rows through \(index ?? "an index")." + sorting
    case .scan:
      "Reads every row, as asked: nothing filters."
    case .scanAndSort:
      "Reads every row, as asked, and sorts them; an index on the sort keys would save the sorting."
    case .filteringScan:
      "Reads every row to keep some of them; an index on the compared columns would help." + sorting
    case .automaticIndex:
      "SQLite builds an index for this one statement each time it runs; a lasting one would help."
    }
  }

  /// The verdict as half a sentence, to stand behind a number.
  package var phrase: String {
    switch rating {
    case .keyLookup where count >= FaultStorm.threshold:
      "the plan is perfect (primary key), the number is the cost"
    case .keyLookup: "the plan is perfect (primary key)"
    case .indexSearch: "the plan uses \(index ?? "an index")"
    case .scan: "the plan reads every row, as asked"
    case .scanAndSort: "the plan reads every row and sorts them"
    case .filteringScan: "the plan reads every row to keep some"
    case .automaticIndex: "the plan builds an index each time"
    }
  }

  private var sorting: String { sorts ? " Then sorts what it found." : "" }

  /// `USING INDEX NAME (`, `USING COVERING INDEX NAME`.
  private static func indexName(_ step: String) -> String? {
    let words = step.split(separator: " ")
    guard let place = words.firstIndex(of: "INDEX"), place + 1 < words.count else { return nil }
    return String(words[place + 1])
  }
}
