package import SQLiteDriver

/// What a query plan means for the cost of a statement.
package struct PlanVerdict: Sendable, Equatable {
  /// From best to worst.
  package enum Rating: String, Sendable, Comparable {
    case keyLookup
    case indexSearch
    case partialIndex
    case entityIndex
    case scan
    case scanAndSort
    case filteringScan
    case automaticIndex

    package static func < (one: Rating, other: Rating) -> Bool { one.rank < other.rank }

    private var rank: Int {
      switch self {
      case .keyLookup: 0
      case .indexSearch: 1
      case .partialIndex: 2
      case .entityIndex: 3
      case .scan: 4
      case .scanAndSort: 5
      case .filteringScan: 6
      case .automaticIndex: 7
      }
    }
  }

  package let rating: Rating
  /// What the plan hides, in plan order.
  package let remarks: [PlanRemark]
  private let count: Int
  private let index: String?
  private let sorts: Bool
  /// Whether the statement stops before the last row.
  private let isLimited: Bool
  /// Whether the condition compares no column, only what functions make of columns.
  private let isOfFunctions: Bool

  /// Reads a plan that was printed.
  ///
  /// - Parameters:
  ///   - sql: The statement, which says whether a scan filters or was asked for.
  ///   - lines: The plan, as `EXPLAIN QUERY PLAN` draws it or without its tree.
  ///   - count: How often the statement ran.
  package init(sql: String = "", lines: [String], count: Int) {
    let drawn = lines.map { line in
      QueryPlan(lines: [line]).roots.isEmpty && !line.contains("--") ? "|--\(line)" : line
    }
    self.init(sql: sql, plan: QueryPlan(lines: drawn), count: count)
  }

  /// Reads a plan.
  ///
  /// - Parameter count: How often the statement ran.
  package init(sql: String = "", plan: QueryPlan, count: Int) {
    self.count = count
    remarks = PlanRemark.all(in: plan, of: sql)
    sorts = plan.usesTempBTree
    isLimited = sql.contains(" LIMIT ")
    isOfFunctions = PlanVerdict.comparesFunctionsAlone(sql)
    let entity = remarks.lazy.compactMap { remark in
      if case .entityIndex(let name) = remark { name } else { nil }
    }.first
    index = entity ?? plan.indexes.first
    if plan.usesAutomaticIndex {
      rating = .automaticIndex
    } else if remarks.contains(where: \.isFullScan) {
      let filters = sql.contains(" WHERE ")
      rating = filters ? .filteringScan : sorts ? .scanAndSort : .scan
    } else if entity != nil {
      rating = .entityIndex
    } else if plan.isFullScan {
      rating = .partialIndex
    } else {
      rating = plan.indexes.isEmpty ? .keyLookup : .indexSearch
    }
  }

  /// The verdict in a sentence or two.
  package var sentence: String {
    let hidden = remarks.filter { !isSaid($0) }.map(\.sentence)
    return ([judgement] + hidden).joined(separator: " ")
  }

  private var judgement: String {
    switch rating {
    case .keyLookup where count >= FaultStorm.threshold:
      "The best plan there is, and no index can help: one of these is cheap, "
        + "\(NumberText.grouped(count)) of them are the cost."
    case .keyLookup:
      "The best plan there is: rows looked up by primary key." + sorting
    case .indexSearch:
      "Finds its rows through \(index ?? "an index")." + sorting
    case .partialIndex: remarks.first(where: \.isPartialScan).map { $0.sentence + sorting } ?? ""
    case .entityIndex:
      "Goes through \(index ?? "an index"), which finds every row of the entity and checks the "
        + "condition on each; an index on the compared columns would help." + sorting
    case .scan where isLimited:
      "Reads rows one after the other\(index.map { ", by \($0)" } ?? ""), and stops at the limit."
    case .scan:
      "Reads every row\(index.map { ", by \($0)" } ?? ""), as asked: nothing filters."
    case .scanAndSort:
      "Reads every row, as asked, and sorts them; an index on the sort keys would save the sorting."
    case .filteringScan where isOfFunctions:
      "Reads every row to keep some of them; the condition is a function, which no index answers."
        + sorting
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
    case .partialIndex: "the plan reads every entry of \(index ?? "a partial index")"
    case .entityIndex: "the plan reads every row of the entity"
    case .scan where isLimited: "the plan reads rows in their order, up to the limit"
    case .scan: "the plan reads every row, as asked"
    case .scanAndSort: "the plan reads every row and sorts them"
    case .filteringScan: "the plan reads every row to keep some"
    case .automaticIndex: "the plan builds an index each time"
    }
  }

  /// Whether what stands behind WHERE has calls of Core Data's functions and no column beside them.
  private static func comparesFunctionsAlone(_ sql: String) -> Bool {
    guard let start = sql.firstRange(of: " WHERE ")?.upperBound else { return false }
    let rest = sql[start...]
    let ends = [" ORDER BY ", " GROUP BY ", " LIMIT "].compactMap { rest.firstRange(of: $0) }
    let condition = rest[..<(ends.map(\.lowerBound).min() ?? rest.endIndex)]
    let others = condition.replacing(/NSCoreData\w*\([^()]*\)/, with: "")
    return others != condition && !others.contains(/\bt\d+\.Z/)
  }

  private var sorting: String { sorts ? " Then sorts what it found." : "" }

  /// Whether the judgement itself says what the remark says.
  private func isSaid(_ remark: PlanRemark) -> Bool {
    switch remark {
    case .fullScan(_, let index): rating == .scan || index == nil && rating <= .filteringScan
    case .tempBTree(let purpose): purpose == "ORDER BY" && rating != .automaticIndex
    case .automaticIndex: true
    case .entityIndex: rating == .entityIndex
    case .partialScan: rating == .partialIndex && remark == remarks.first(where: \.isPartialScan)
    case .correlatedSubquery, .multiIndexOr: false
    }
  }
}

extension PlanRemark {
  fileprivate var isFullScan: Bool {
    if case .fullScan = self { true } else { false }
  }

  fileprivate var isPartialScan: Bool {
    if case .partialScan = self { true } else { false }
  }
}
