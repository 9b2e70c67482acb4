package import SQLiteDriver
import WorkbenchText

/// An assessment of a statement's query plan.
package struct PlanAssessment: Sendable, Equatable {
  /// The kind of a plan, from best to worst.
  package enum Rating: String, Sendable, Comparable {
    /// The statement doesn't search a table, such as an INSERT of values.
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

  /// The change that a statement makes to the rows that its plan finds.
  private enum Change: String {
    case insert = "INSERT"
    case update = "UPDATE"
    case delete = "DELETE"

    /// Returns `nil` if the statement isn't an INSERT, an UPDATE, or a DELETE.
    init?(_ sql: String) {
      self.init(rawValue: sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased())
    }

    /// The verb in the form that starts a sentence: `Updates`.
    var verb: String { rawValue.prefix(1) + rawValue.dropFirst().lowercased() + "s" }
  }

  package let rating: Rating
  /// Notes on costs that aren't obvious from the plan, in plan order.
  package let notes: [PlanNote]
  private let count: Int
  /// The change that the statement makes, or `nil` if it only reads.
  private let change: Change?
  private let index: String?
  private let sorts: Bool
  /// Whether the statement has a LIMIT.
  private let isLimited: Bool
  /// Whether the statement finds rows by a list of primary keys, as a batch request does.
  private let findsSeveral: Bool
  /// Whether that list contains every row of the table, because the batch request has no predicate.
  private let findsAll: Bool
  /// What an index could do for the condition.
  private let outlook: ConditionOutlook
  /// Whether a sort key calls a function, has a collation that no fetch index has, or is a column
  /// of a joined table.
  private let hasUnindexableOrder: Bool

  /// Assesses a printed plan.
  ///
  /// - Parameters:
  ///   - sql: The statement, whose WHERE clause determines whether a scan filters rows.
  ///   - lines: The plan, with or without the tree that `EXPLAIN QUERY PLAN` draws.
  ///   - count: The number of times that the statement ran.
  ///   - present: The indexes of the store; empty if they're unknown.
  package init(sql: String = "", lines: [String], count: Int, present: [FileIndex] = []) {
    let drawn = lines.map { line in
      QueryPlan(lines: [line]).roots.isEmpty && !line.contains("--") ? "|--\(line)" : line
    }
    self.init(sql: sql, plan: QueryPlan(lines: drawn), count: count, present: present)
  }

  /// Assesses a plan.
  ///
  /// - Parameters:
  ///   - sql: The statement, whose WHERE clause determines whether a scan filters rows.
  ///   - plan: The statement's plan.
  ///   - count: The number of times that the statement ran.
  ///   - present: The indexes of the store; empty if they're unknown.
  package init(sql: String = "", plan: QueryPlan, count: Int, present: [FileIndex] = []) {
    self.count = count
    change = Change(sql)
    notes = PlanNote.all(in: plan, of: sql)
    sorts = plan.nodes.contains { $0.tempBTreePurpose?.hasSuffix("ORDER BY") == true }
    let outline = SQLOutline(sql)
    isLimited = outline.isLimited
    findsSeveral = outline.condition?.contains { $0.uppercased() == "IN" } == true
    findsAll = plan.nodes.contains { node in
      outline.tables.first.map {
        node.detail == "USING ROWID SEARCH ON TABLE \($0.table) FOR IN-OPERATOR"
      } == true
    }
    outlook = ConditionOutlook(outline, plan: plan, present: present)
    let order = outline.words.drop { $0.uppercased() != "ORDER" }.map { $0.uppercased() }
    let pairs = zip(order, order.dropFirst())
    // SQLite reads the rows in the order of an index only of the table that it reads first.
    let outer = plan.nodes.lazy.compactMap(\.table).first?.uppercased()
    hasUnindexableOrder =
      order.contains("(") || pairs.contains { $0 == "COLLATE" && $1 != "BINARY" }
      || order.contains { $0.contains(".") && $0.prefix { $0 != "." } != outer.map { $0[...] } }
    let entity = notes.lazy.compactMap { note in
      if case .entityIndex(let name) = note { name } else { nil }
    }.first
    index = entity ?? plan.indexes.first
    if plan.usesAutomaticIndex {
      rating = .automaticIndex
    } else if notes.contains(where: \.isFullScan) {
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

  /// The assessment in complete sentences: the kind of the plan, then the notes that it doesn't
  /// cover.
  package var text: String {
    let hidden = notes.filter { !isCovered($0) }.map(\.text)
    return ([mainText] + hidden).joined(separator: " ")
  }

  private var mainText: String {
    change.flatMap(changing) ?? reading
  }

  /// Returns the sentence for a statement that changes rows, or `nil` if the sentence for a SELECT
  /// also applies.
  private func changing(_ change: Change) -> String? {
    let often =
      count >= StatementShape.minimumRepeats
      ? " The cost is running it \(NumberText.grouped(count)) times." : ""
    switch (rating, change) {
    case (.unsearched, .insert):
      return "Inserts without a search, and updates every index of the table." + often
    // SQLite empties a table without scanning it.
    case (.unsearched, .delete):
      return "Deletes all rows in one step, as requested: there's no filter."
    case (.unsearched, .update): return "Updates without a search." + often
    case (.keyLookup, .insert):
      return "Inserts; its triggers or its SELECT find rows by primary key." + often
    case (.keyLookup, .update) where findsAll, (.keyLookup, .delete) where findsAll:
      return "\(change.verb) every row, as requested: there's no filter."
    case (.keyLookup, .update):
      let found = findsSeveral ? "rows" : "row"
      return "Updates the \(found) found by primary key, and the indexes of the columns that "
        + "change." + often
    case (.keyLookup, .delete):
      return findsSeveral
        ? "Deletes the rows found by primary key, and their entries in every index." + often
        : "Deletes the row found by primary key, and its entry in every index." + often
    case (.scan, .update), (.scan, .delete):
      return "\(change.verb) every row, as requested: there's no filter."
    case (.filteringScan, .update), (.filteringScan, .delete):
      return "\(fullScan) to find the rows that it \(change.verb.lowercased()). \(advice)"
    case (.indexSearch, .update), (.indexSearch, .delete):
      return "\(change.verb) the rows found by searching \(index ?? "an index")."
    default: return nil
    }
  }

  private var reading: String {
    switch rating {
    case .unsearched: "No table is searched."
    case .keyLookup where count >= StatementShape.minimumRepeats:
      "The plan is optimal (primary-key lookup), and no index can help. "
        + "The cost is running it \(NumberText.grouped(count)) times."
    case .keyLookup:
      "The plan is optimal: rows are looked up by primary key." + sorting
    case .indexSearch:
      "Finds its rows by searching \(index ?? "an index")." + sorting
    case .partialIndex: notes.first(where: \.isPartialScan).map { $0.text + sorting } ?? ""
    case .entityIndex:
      "Searches \(index ?? "an index") for every row of the entity, and checks the condition on each. "
        + advice + sorting
    case .scan where isLimited:
      "Reads rows sequentially\(index.map { ", using \($0)" } ?? ""), and stops at the limit."
    case .scan:
      "Reads every row\(index.map { ", using \($0)" } ?? ""), as requested: there's no filter."
    case .scanAndSort where hasUnindexableOrder:
      "Reads every row, as requested, and sorts them. No fetch index has this order."
    case .scanAndSort:
      "Reads every row, as requested, and sorts them. An index on the sort keys would avoid the sort."
    case .filteringScan: "\(fullScan) to find some of the rows. \(advice)" + sorting
    case .automaticIndex:
      "SQLite builds an automatic index each time this statement runs. A permanent index would help."
    }
  }

  /// The assessment as a clause that follows a number.
  package var phrase: String {
    switch rating {
    case .keyLookup where change == .insert: "the plan finds rows by primary key for its triggers"
    case .keyLookup where change != nil:
      count == 1 && !findsSeveral
        ? "the row is found by primary key" : "each row is found by primary key"
    case .unsearched: "the plan searches no table"
    case .keyLookup where count >= StatementShape.minimumRepeats:
      "the plan is optimal (primary-key lookup); the cost is the number of executions"
    case .keyLookup: "the plan is optimal (primary-key lookup)"
    case .indexSearch: "the plan uses \(index ?? "an index")"
    case .partialIndex: "the plan reads every entry of \(index ?? "a partial index")"
    case .entityIndex: "the plan reads every row of the entity"
    case .scan where isLimited: "the plan reads rows sequentially, up to the limit"
    case .scan: "the plan reads every row, as requested"
    case .scanAndSort: "the plan reads every row and sorts them"
    case .filteringScan where isIndexScan: "the plan reads a whole index to find some of the rows"
    case .filteringScan: "the plan reads every row to find some of them"
    case .automaticIndex: "the plan builds an automatic index each time"
    }
  }

  /// What an index could do for the condition, in a sentence.
  private var advice: String {
    switch outlook {
    case .indexable: "An index on the compared columns would help."
    case .indexed(let name): "SQLite doesn't search \(name) for the compared columns."
    case .constant: "The condition compares no column, so no index can help."
    case .onlyFunctions:
      "The condition calls a function, so no\(rating == .entityIndex ? " other" : "") index can find "
        + "the rows."
    case .unsearchable:
      "Its comparisons can't use an\(rating == .entityIndex ? "other" : "") index."
    }
  }

  /// Whether every full scan reads an index instead of its table.
  private var isIndexScan: Bool {
    notes.allSatisfy { if case .fullScan(_, nil) = $0 { false } else { true } }
  }

  private var fullScan: String { isIndexScan ? "Full index scan" : "Full table scan" }

  private var sorting: String { sorts ? " Then sorts the result." : "" }

  /// Returns whether the sentence for the rating already covers a note.
  private func isCovered(_ note: PlanNote) -> Bool {
    switch note {
    case .fullScan(_, let index): rating == .scan || index == nil && rating <= .filteringScan
    case .tempBTree(let purpose): purpose == "ORDER BY" && rating != .automaticIndex
    case .automaticIndex: true
    case .entityIndex: rating == .entityIndex
    case .partialScan: rating == .partialIndex && note == notes.first(where: \.isPartialScan)
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
