package import SQLiteDriver

/// A note on a cost that isn't obvious from the text of a query plan.
package enum PlanNote: Sendable, Hashable {
  /// A full table scan or a full index scan.
  ///
  /// `SCAN t0 USING COVERING INDEX x` is a full index scan.
  case fullScan(table: String, index: String?)
  /// A temp B-tree that sorts, groups, or deduplicates rows.
  case tempBTree(purpose: String)
  /// An automatic index, which is built for this run and then discarded.
  case automaticIndex(table: String)
  /// A subquery that runs once for each row of the enclosing query.
  case correlatedSubquery
  /// An `OR` whose sides each use their own index.
  case multiIndexOr
  /// A scan of all entries of a partial index, which are the rows that satisfy its WHERE clause.
  ///
  /// `isAll` is `true` if the statement has no other condition.
  case partialScan(index: String, condition: String, isAll: Bool)
  /// An index search that finds all rows of an entity, after which the condition is checked on each
  /// row.
  case entityIndex(String)

  /// The note's name in JSON and in an expectation's `avoids`.
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

  /// The note as a sentence.
  package var text: String {
    switch self {
    case .fullScan(let table, nil): "\(table): a full table scan, which reads every row."
    case .fullScan(let table, let index?):
      "\(table): a full index scan, even though it uses \(index)."
    case .tempBTree("ORDER BY"): "A temp B-tree sorts the rows."
    case .tempBTree("RIGHT PART OF ORDER BY"):
      "An index provides the first sort keys; a temp B-tree sorts by the others."
    case .tempBTree(let purpose): "\(purpose) uses a temp B-tree."
    case .automaticIndex(let table):
      "\(table): SQLite builds an automatic index for this run and discards it; a permanent index is "
        + "missing."
    case .correlatedSubquery: "The subquery runs once for each row of the enclosing query."
    case .multiIndexOr:
      "Each side of the OR uses an index; every row that either side finds is looked up."
    case .partialScan(let index, let condition, true):
      "Reads every entry of the partial index \(index), which contains the rows with \(condition)."
    case .partialScan(let index, let condition, false):
      "Reads every entry of the partial index \(index), which contains the rows with \(condition), and "
        + "checks the rest of the condition on each."
    case .entityIndex(let index):
      "\(index) finds every row of the entity, and the condition is checked on each of them."
    }
  }

  /// Returns the distinct notes on a plan, in plan order.
  ///
  /// - Parameter sql: The statement, whose WHERE clause determines whether it filters by more than
  ///   the entity.
  package static func all(in plan: QueryPlan, of sql: String) -> [PlanNote] {
    let scans = Set(plan.fullScans)
    var notes: [PlanNote] = []
    for node in plan.nodes {
      guard let note = PlanNote(node, isFullScan: scans.contains(node), sql: sql),
        !notes.contains(note)
      else { continue }
      notes.append(note)
    }
    return notes
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
    } else if let index = node.index, PlanNote.findsOnlyEntity(node),
      PlanNote.hasOtherConditions(sql)
    {
      self = .entityIndex(index)
    } else {
      return nil
    }
  }

  /// Returns the note on a scan of a partial index, or `nil` for any other scan.
  private static func partialScan(_ node: QueryPlan.Node, of sql: String) -> PlanNote? {
    guard let index = node.index, let condition = node.partialCondition else { return nil }
    return .partialScan(
      index: index, condition: condition, isAll: node.isAnswered(byConditionIn: sql))
  }

  private static func findsOnlyEntity(_ node: QueryPlan.Node) -> Bool {
    node.constraint == "Z_ENT=?"
  }

  /// Returns whether the condition compares anything other than `Z_ENT`.
  ///
  /// What a subquery selects, as that of a batch request does, isn't compared.
  private static func hasOtherConditions(_ sql: String) -> Bool {
    guard let condition = SQLOutline(sql).condition else { return false }
    return zip([""] + condition, condition).contains { previous, word in
      word.contains(".Z") && !word.hasSuffix(".Z_ENT") && previous.uppercased() != "SELECT"
    }
  }
}

extension QueryPlan {
  /// Returns the full scans of a statement's plan, except scans of partial indexes that contain
  /// exactly the rows that the statement requests.
  package func needlessScans(of sql: String) -> [Node] {
    fullScans.filter { !$0.isAnswered(byConditionIn: sql) }
  }
}

extension QueryPlan.Node {
  /// Returns whether the step scans a partial index whose WHERE clause covers the statement's
  /// condition.
  ///
  /// SQLite uses a partial index only if the statement's condition implies the index's WHERE
  /// clause. If the statement compares no other column, there's nothing left to check.
  func isAnswered(byConditionIn sql: String) -> Bool {
    guard let partialCondition, let table, let compared = SQLOutline(sql).condition
    else { return false }
    let own = Set(SQLOutline.words(of: partialCondition).map { $0.uppercased() })
    return compared.allSatisfy { name in
      let parts = name.split(separator: ".")
      // A name without a table prefix is a column or a keyword, such as AND.
      guard parts.count == 2 else { return !name.uppercased().hasPrefix("Z") }
      return parts[0] != table || own.contains(parts[1].uppercased())
    }
  }
}
