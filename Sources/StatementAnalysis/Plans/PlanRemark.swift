package import SQLiteDriver

/// Something in a query plan that costs more than the words of the plan say.
package enum PlanRemark: Sendable, Hashable {
  /// Every row of a table is read, or every entry of one of its indexes.
  ///
  /// `SCAN t0 USING COVERING INDEX x` is one too: the index is read from end to end.
  case fullScan(table: String, index: String?)
  /// Rows are sorted, grouped or told apart in a temporary B-tree.
  case tempBTree(purpose: String)
  /// An index is made for this run alone, and thrown away after it.
  case automaticIndex(table: String)
  /// A subquery runs once for each row of the query around it.
  case correlatedSubquery
  /// Both sides of an `OR` go through an index of their own.
  case multiIndexOr
  /// Every entry of a partial index is read, which is every row that meets the index's own condition.
  ///
  /// `isAll` says whether the statement asks for nothing beside that condition.
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
      "\(table): a full scan, though it says USING \(index): the whole index is read."
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
  package static func all(in plan: QueryPlan, of sql: String) -> [PlanRemark] {
    let scans = Set(plan.fullScans)
    var remarks: [PlanRemark] = []
    for node in plan.nodes {
      guard let remark = PlanRemark(node, isFullScan: scans.contains(node), sql: sql),
        !remarks.contains(remark)
      else { continue }
      remarks.append(remark)
    }
    return remarks
  }

  private init?(_ node: QueryPlan.Node, isFullScan: Bool, sql: String) {
    if node.isAutomaticIndex {
      self = .automaticIndex(table: node.table ?? "")
    } else if isFullScan, let scan = PlanRemark.partialScan(node, of: sql) {
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
    } else if let index = node.index, PlanRemark.findsEntityAlone(node), PlanRemark.asksForMore(sql)
    {
      self = .entityIndex(index)
    } else {
      return nil
    }
  }

  /// What a scan of a partial index is; nil for any other scan.
  private static func partialScan(_ node: QueryPlan.Node, of sql: String) -> PlanRemark? {
    guard let index = node.index, let condition = node.partialCondition else { return nil }
    return .partialScan(
      index: index, condition: condition, isAll: node.isAnswered(byConditionIn: sql))
  }

  private static func findsEntityAlone(_ node: QueryPlan.Node) -> Bool {
    node.constraint == "Z_ENT=?"
  }

  /// Whether the condition compares something beside `Z_ENT`.
  private static func asksForMore(_ sql: String) -> Bool {
    guard let condition = sql.firstRange(of: " WHERE ") else { return false }
    var rest = String(sql[condition.upperBound...])
    if let order = rest.firstRange(of: " ORDER BY ") { rest = String(rest[..<order.lowerBound]) }
    return rest.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
      .contains { $0.contains(".Z") && !$0.hasSuffix(".Z_ENT") }
  }
}
