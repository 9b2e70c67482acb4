package import SQLiteDriver
import WorkbenchText

/// What a query plan means for the cost of a statement.
package struct PlanAssessment: Sendable, Equatable {
  /// From best to worst.
  package enum Rating: String, Sendable, Comparable {
    /// No table is searched: what an INSERT of values does.
    case unsearched
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
      case .unsearched: 0
      case .keyLookup: 1
      case .indexSearch: 2
      case .partialIndex: 3
      case .entityIndex: 4
      case .scan: 5
      case .scanAndSort: 6
      case .filteringScan: 7
      case .automaticIndex: 8
      }
    }
  }

  /// What a statement does to the rows that its plan finds.
  private enum Deed: String {
    case insert = "INSERT"
    case update = "UPDATE"
    case delete = "DELETE"

    /// Nil for a statement that changes no row.
    init?(_ sql: String) {
      self.init(rawValue: sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased())
    }

    /// `Updates`, to begin a sentence with.
    var verb: String { rawValue.prefix(1) + rawValue.dropFirst().lowercased() + "s" }
  }

  package let rating: Rating
  /// What the plan hides, in plan order.
  package let remarks: [PlanNote]
  private let count: Int
  /// Nil for a statement that only reads.
  private let deed: Deed?
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
    deed = Deed(sql)
    remarks = PlanNote.all(in: plan, of: sql)
    sorts = plan.usesTempBTree
    let outline = SQLOutline(sql)
    isLimited = outline.isLimited
    isOfFunctions = PlanAssessment.comparesFunctionsAlone(outline)
    let entity = remarks.lazy.compactMap { remark in
      if case .entityIndex(let name) = remark { name } else { nil }
    }.first
    index = entity ?? plan.indexes.first
    if plan.usesAutomaticIndex {
      rating = .automaticIndex
    } else if remarks.contains(where: \.isFullScan) {
      rating = outline.condition != nil ? .filteringScan : sorts ? .scanAndSort : .scan
    } else if entity != nil {
      rating = .entityIndex
    } else if plan.isFullScan {
      rating = .partialIndex
    } else {
      let searches = plan.nodes.contains { $0.detail.hasPrefix("SEARCH ") }
      rating = !plan.indexes.isEmpty ? .indexSearch : searches ? .keyLookup : .unsearched
    }
  }

  /// The verdict in a sentence or two.
  package var sentence: String {
    let hidden = remarks.filter { !isSaid($0) }.map(\.sentence)
    return ([judgment] + hidden).joined(separator: " ")
  }

  private var judgment: String {
    deed.flatMap(changing) ?? reading
  }

  /// The sentence for a statement that changes rows; nil where that for reading is true of it too.
  private func changing(_ deed: Deed) -> String? {
    let often =
      count >= StatementShape.fewestRepeats
      ? " The cost is running it \(NumberText.grouped(count)) times." : ""
    switch (rating, deed) {
    case (.unsearched, .insert):
      return "Inserts without a search; every index of the table is written too." + often
    // SQLite empties a table without going through it.
    case (.unsearched, .delete):
      return "Deletes all rows in one step, as requested: there's no filter."
    case (.unsearched, .update): return "Updates without a search." + often
    case (.keyLookup, .insert):
      return "Inserts; its triggers or its SELECT find rows by primary key." + often
    case (.keyLookup, .update):
      return "Updates the row found by primary key, and the indexes of the columns that change."
        + often
    case (.keyLookup, .delete):
      return "Deletes the row found by primary key, and its entry in every index." + often
    case (.scan, .update), (.scan, .delete):
      return "\(deed.verb) every row, as requested: there's no filter."
    case (.filteringScan, .update), (.filteringScan, .delete):
      return isOfFunctions
        ? "Reads every row to find those that it \(deed.verb.lowercased()); the condition is a "
          + "function, which no index answers."
        : "Reads every row to find those that it \(deed.verb.lowercased()); an index on the "
          + "compared columns would help."
    case (.indexSearch, .update), (.indexSearch, .delete):
      return "\(deed.verb) the rows found through \(index ?? "an index")."
    default: return nil
    }
  }

  private var reading: String {
    switch rating {
    case .unsearched: "No table is searched."
    case .keyLookup where count >= StatementShape.fewestRepeats:
      "The plan is optimal (primary-key lookup), and no index can help. "
        + "The cost is running it \(NumberText.grouped(count)) times."
    case .keyLookup:
      "The plan is optimal: rows are looked up by primary key." + sorting
    case .indexSearch:
      "Finds its rows through \(index ?? "an index")." + sorting
    case .partialIndex: remarks.first(where: \.isPartialScan).map { $0.sentence + sorting } ?? ""
    case .entityIndex:
      "Goes through \(index ?? "an index"), which finds every row of the entity and checks the "
        + "condition on each; an index on the compared columns would help." + sorting
    case .scan where isLimited:
      "Reads rows one after the other\(index.map { ", by \($0)" } ?? ""), and stops at the limit."
    case .scan:
      "Reads every row\(index.map { ", by \($0)" } ?? ""), as requested: there's no filter."
    case .scanAndSort:
      "Reads every row, as asked, and sorts them; an index on the sort keys would save the sorting."
    case .filteringScan where isOfFunctions:
      "Reads every row to keep some of them; the condition is a function, which no index answers."
        + sorting
    case .filteringScan:
      "Full table scan to find some of the rows. An index on the compared columns would help."
        + sorting
    case .automaticIndex:
      "SQLite builds an automatic index each time this statement runs. A permanent index would help."
    }
  }

  /// The assessment as a clause, to follow a number.
  package var phrase: String {
    switch rating {
    case .keyLookup where deed == .insert: "the plan finds rows by primary key for its triggers"
    case .keyLookup where deed != nil:
      count == 1 ? "the row is found by primary key" : "each row is found by primary key"
    case .unsearched: "the plan searches no table"
    case .keyLookup where count >= StatementShape.fewestRepeats:
      "the plan is optimal (primary-key lookup); the cost is the number of executions"
    case .keyLookup: "the plan is optimal (primary-key lookup)"
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

  /// Whether the condition consists of calls of Core Data's functions, without another column.
  private static func comparesFunctionsAlone(_ outline: SQLOutline) -> Bool {
    guard var rest = outline.condition else { return false }
    var hasCall = false
    while let word = rest.popFirst() {
      if word.hasPrefix("NSCoreData"), rest.first == "(",
        let end = rest.dropFirst().firstIndex(where: { $0 == ")" || $0 == "(" }), rest[end] == ")"
      {
        hasCall = true
        rest = rest[(end + 1)...]
      } else if word.contains(/^t\d+\.Z/) {
        return false
      }
    }
    return hasCall
  }

  private var sorting: String { sorts ? " Then sorts what it found." : "" }

  /// Whether the judgment itself says what the remark says.
  private func isSaid(_ remark: PlanNote) -> Bool {
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

extension PlanNote {
  fileprivate var isFullScan: Bool {
    if case .fullScan = self { true } else { false }
  }

  fileprivate var isPartialScan: Bool {
    if case .partialScan = self { true } else { false }
  }
}

/// Something in a query plan that costs more than the words of the plan say.
package enum PlanNote: Sendable, Hashable {
  /// Every row of a table is read, or every entry of one of its indexes.
  ///
  /// `SCAN t0 USING COVERING INDEX x` is one too: the index is read from end to end.
  case fullScan(table: String, index: String?)
  /// Rows are sorted, grouped, or made distinct in a temp B-tree.
  case tempBTree(purpose: String)
  /// An automatic index is built for this run and discarded after it.
  case automaticIndex(table: String)
  /// A subquery runs once for each row of the query around it.
  case correlatedSubquery
  /// Both sides of an `OR` go through an index of their own.
  case multiIndexOr
  /// Every entry of a partial index is read, which is every row that meets the index's own condition.
  ///
  /// `isAll` is true if the statement has no other condition.
  case partialScan(index: String, condition: String, isAll: Bool)
  /// The index finds all rows of an entity, and the condition is then checked row by row.
  case entityIndex(String)

  /// The word for it in JSON, and in an expectation's `avoids`.
  package var name: String {
    switch self {
    case .fullScan: "scan"
    case .tempBTree: "temp b-tree"
    case .automaticIndex: "automatic index"
    case .correlatedSubquery: "correlated subquery"
    case .multiIndexOr: "multi-index or"
    case .partialScan: "partial index scan"
    case .entityIndex: "entity index"
    }
  }

  /// What it means, in a sentence.
  package var sentence: String {
    switch self {
    case .fullScan(let table, nil): "\(table): a full scan, every row is read."
    case .fullScan(let table, let index?):
      "\(table): a full index scan, although the plan says USING \(index)."
    case .tempBTree("ORDER BY"): "The rows are sorted in a temporary B-tree."
    case .tempBTree("RIGHT PART OF ORDER BY"):
      "An index gives the first sort keys; the rest is sorted in a temporary B-tree."
    case .tempBTree(let purpose): "\(purpose) is done in a temporary B-tree."
    case .automaticIndex(let table):
      "\(table): SQLite makes an index for this run and throws it away; a lasting one is missing."
    case .correlatedSubquery: "The subquery runs once for each row of the query around it."
    case .multiIndexOr:
      "Each side of the OR has an index; every row that one of them finds is looked up."
    case .partialScan(let index, let condition, true):
      "Every entry of the partial index \(index) is read: they are the rows with \(condition)."
    case .partialScan(let index, let condition, false):
      "Every entry of the partial index \(index) is read, which are the rows with \(condition), and the "
        + "rest of the condition is checked on each."
    case .entityIndex(let index):
      "\(index) finds every row of the entity, and the condition is checked on each of them."
    }
  }

  /// What is to be said of a plan, in plan order, each once.
  ///
  /// - Parameter sql: The statement, which says whether it asks for more than the entity.
  package static func all(in plan: QueryPlan, of sql: String) -> [PlanNote] {
    let scans = Set(plan.fullScans)
    var remarks: [PlanNote] = []
    for node in plan.nodes {
      guard let remark = PlanNote(node, isFullScan: scans.contains(node), sql: sql),
        !remarks.contains(remark)
      else { continue }
      remarks.append(remark)
    }
    return remarks
  }

  private init?(_ node: QueryPlan.Node, isFullScan: Bool, sql: String) {
    if node.isAutomaticIndex {
      self = .automaticIndex(table: node.table ?? "")
    } else if isFullScan, let scan = PlanNote.partialScan(node, of: sql) {
      self = scan
    } else if isFullScan {
      let index = node.index.map { node.isCovering ? "COVERING INDEX \($0)" : "INDEX \($0)" }
      self = .fullScan(table: node.table ?? "", index: index)
    } else if let purpose = node.tempBTreePurpose {
      self = .tempBTree(purpose: purpose)
    } else if node.detail.hasPrefix("CORRELATED ") {
      self = .correlatedSubquery
    } else if node.detail == "MULTI-INDEX OR" {
      self = .multiIndexOr
    } else if let index = node.index, PlanNote.findsEntityAlone(node), PlanNote.asksForMore(sql) {
      self = .entityIndex(index)
    } else {
      return nil
    }
  }

  /// What a scan of a partial index is; nil for any other scan.
  private static func partialScan(_ node: QueryPlan.Node, of sql: String) -> PlanNote? {
    guard let index = node.index, let condition = node.partialCondition else { return nil }
    return .partialScan(
      index: index, condition: condition, isAll: node.isAnswered(byConditionIn: sql))
  }

  private static func findsEntityAlone(_ node: QueryPlan.Node) -> Bool {
    node.constraint == "Z_ENT=?"
  }

  /// Whether the condition compares anything other than `Z_ENT`.
  private static func asksForMore(_ sql: String) -> Bool {
    SQLOutline(sql).condition?.contains { $0.contains(".Z") && !$0.hasSuffix(".Z_ENT") } ?? false
  }
}

extension QueryPlan {
  /// The full scans of a statement's plan, without those of partial indexes that hold just what it asks for.
  package func needlessScans(of sql: String) -> [Node] {
    fullScans.filter { !$0.isAnswered(byConditionIn: sql) }
  }
}

extension QueryPlan.Node {
  /// Whether the step scans a partial index whose own condition is all that a statement asks for.
  ///
  /// SQLite takes a partial index only where the statement's condition implies the index's; so nothing is
  /// left to be checked when the statement compares no other column.
  func isAnswered(byConditionIn sql: String) -> Bool {
    guard let partialCondition, let table, let compared = SQLOutline(sql).condition
    else { return false }
    let own = Set(SQLOutline.words(of: partialCondition).map { $0.uppercased() })
    return compared.allSatisfy { name in
      let parts = name.split(separator: ".")
      // Without a table in front, a name of SQL is a column or a word such as AND.
      guard parts.count == 2 else { return !name.uppercased().hasPrefix("Z") }
      return parts[0] != table || own.contains(parts[1].uppercased())
    }
  }
}
