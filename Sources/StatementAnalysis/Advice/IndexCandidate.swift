import ManagedModel
import SQLiteDriver

/// An index to try.
package struct IndexCandidate: Sendable, Hashable {
  /// A column of the index.
  package struct Part: Sendable, Hashable {
    /// The column's name, spelled as in the file.
    package var column: String
    package var isDescending: Bool

    package init(_ column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  /// The table's name, spelled as in the file.
  package var table: String
  /// The columns, leftmost first.
  package var parts: [Part]
  /// The column that must not be NULL in the rows of a partial index, or `nil` for a full index.
  package var notNull: String?

  package init(table: String, parts: [Part], notNull: String? = nil) {
    self.table = table
    self.parts = parts
    self.notNull = notNull
  }

  /// Returns the statement that creates the index, in the form that Core Data uses.
  package func sql(named name: String) -> String {
    let columns = parts.map { part in
      "\(SQLSyntax.quoted(part.column)) COLLATE BINARY \(part.isDescending ? "DESC" : "ASC")"
    }
    return "CREATE INDEX \(SQLSyntax.quoted(name)) ON \(SQLSyntax.quoted(table)) "
      + "(\(columns.joined(separator: ", ")))"
      + (notNull.map { " WHERE \(SQLSyntax.quoted($0)) IS NOT NULL" } ?? "")
  }

  /// The relative size of the index: its number of columns, where a partial index is smaller than a
  /// full one.
  var width: Int { parts.count * 2 + (notNull == nil ? 1 : 0) }

  /// Returns whether the index serves every search that another candidate serves.
  func covers(_ other: IndexCandidate) -> Bool {
    table.uppercased() == other.table.uppercased() && (notNull == nil || notNull == other.notNull)
      && parts.count >= other.parts.count
      && zip(parts, other.parts).allSatisfy {
        $0.column.uppercased() == $1.column.uppercased() && $0.isDescending == $1.isDescending
      }
  }

  /// Returns whether an index of the file has the same leftmost columns.
  func isServed(by index: FileIndex) -> Bool {
    index.table == table.uppercased() && !index.isPartial && index.parts.count >= parts.count
      && zip(index.parts, parts).allSatisfy {
        $0.column == $1.column.uppercased() && $0.isDescending == $1.isDescending
          && $0.collation == "BINARY"
      }
  }
}

extension IndexCandidate {
  /// The maximum number of columns that a covering index adds to those it searches and sorts by.
  private static let maximumCoveredColumns = 3

  /// Returns the indexes that could help a statement to read one table, narrow ones first.
  ///
  /// Only a trial shows which of them helps.
  ///
  /// - Parameter sparse: The columns of the table that are NULL in most rows.
  static func all(for needs: TableNeeds, sparse: Set<String>) -> [IndexCandidate] {
    let order = normal(
      needs.order.filter { !needs.equal.contains($0.column) },
      turned: needs.sortsPrimaryKeysDescending)
    let starts = needs.equal.indices.map { first in
      [needs.equal[first]] + needs.equal.enumerated().filter { $0.offset != first }.map(\.element)
    }
    var lists: [[Part]] = needs.equal.map { [Part($0)] }
    lists += needs.ranges.map { [Part($0)] } + [order]
    for start in starts.map({ $0.map { Part($0) } }) {
      lists += [start, start + order] + needs.ranges.map { start + [Part($0)] }
    }
    // An index that starts with the sort keys can also filter while it's scanned.
    lists += needs.ranges.map { range in
      order.contains { $0.column == range } ? order : order + [Part(range)]
    }
    let used = Set(needs.equal + needs.ranges + needs.order.map(\.column))
    let rest = needs.columns.filter { !used.contains($0) && $0.uppercased() != "Z_PK" }
    if rest.count <= maximumCoveredColumns {
      let others = (needs.ranges + rest).filter { name in
        !needs.order.contains { $0.column == name }
      }
      for start in starts.isEmpty ? [[]] : starts {
        let head = start.map { Part($0) }
        lists.append(head + order + others.map { Part($0) })
        lists += needs.ranges.map { range in
          head + [Part(range)]
            + (needs.order.map(\.column) + rest).filter { $0 != range && !start.contains($0) }
            .map { Part($0) }
        }
      }
    }
    let all = distinct(
      lists, table: needs.table, sparse: sparse, compared: needs.equal + needs.ranges)
    // A full index doesn't find the rows with `IS NOT NULL`.
    let partial = needs.notNull.filter(sparse.contains).map {
      IndexCandidate(table: needs.table, parts: [Part($0)], notNull: $0)
    }
    return partial.filter { !all.contains($0) } + all
  }

  private static func distinct(
    _ lists: [[Part]], table: String, sparse: Set<String>, compared: [String]
  ) -> [IndexCandidate] {
    var candidates: [IndexCandidate] = []
    for parts in lists where !parts.isEmpty && Set(parts.map(\.column)).count == parts.count {
      var candidate = IndexCandidate(table: table, parts: parts)
      if !candidates.contains(candidate) { candidates.append(candidate) }
      // NULL never satisfies a comparison, so a partial index can omit those rows.
      let first = parts[0].column
      if sparse.contains(first), compared.contains(first) {
        candidate.notNull = first
        if !candidates.contains(candidate) { candidates.append(candidate) }
      }
    }
    return candidates.sorted { $0.parts.count < $1.parts.count }
  }

  /// Returns index columns for sort keys.
  ///
  /// SQLite can scan an index in either direction, so if all keys are descending, the columns are
  /// ascending.
  ///
  /// - Parameter turned: Whether the index is scanned backward, as the order of primary keys
  ///   requires, or `nil` if it can be scanned in either direction.
  private static func normal(_ keys: [TableNeeds.Key], turned: Bool?) -> [Part] {
    let turned = turned ?? keys.allSatisfy(\.isDescending)
    return keys.map { Part($0.column, isDescending: $0.isDescending != turned) }
  }
}

/// An index that helped when it was tested on a copy of the store.
package struct IndexProposal: Sendable {
  /// The gain of one statement.
  package struct Gain: Sendable, Equatable {
    package var sql: String
    package var count: Int
    /// The VM steps of one execution.
    package var before: Int
    /// The VM steps of one execution with all proposed indexes.
    package var after: Int
    package var planBefore: [String]
    package var planAfter: [String]
  }

  package var candidate: IndexCandidate
  /// The index's name in the file, as Core Data forms it.
  package var name: String
  /// The SQL statement that creates the index.
  package var sql: String
  /// The index's name in the model, unique in the entity: `byCountryAndDate`.
  package var modelName: String
  /// The entity to add the index to, or `nil` if the store's model doesn't have the entity.
  package var entity: String?
  /// The properties, in the order of the columns; empty if the model doesn't have them.
  package var properties: [String]
  /// The statements that use the index, sorted by descending gain.
  package var gains: [Gain]
  /// The VM steps of inserting one row without and with the index, or `nil` if no row could be
  /// inserted.
  package var insertSteps: (before: Int, after: Int)?
  /// The index's size, or `nil` if SQLite was built without `dbstat`.
  package var size: (pages: Int, bytes: Int)?
  /// The names of the proposals for the other sides of an `OR`, without which this one doesn't
  /// help.
  package var partners: [String] = []

  /// The VM steps of all executions of the statements that use the index, without it.
  package var stepsBefore: Int { gains.reduce(0) { $0 + $1.before * $1.count } }
  /// The VM steps of the same executions with the index.
  package var stepsAfter: Int { gains.reduce(0) { $0 + $1.after * $1.count } }

  /// The entity and its properties, `Mood (country, date descending)`, or the table and its columns
  /// if the model doesn't have them.
  package var title: String {
    let names = properties.isEmpty ? candidate.parts.map(\.column) : properties
    let parts = zip(names, candidate.parts).map { $0 + ($1.isDescending ? " descending" : "") }
    return "\(entity ?? candidate.table) (\(parts.joined(separator: ", ")))"
      + (condition.map { " where \($0)" } ?? "")
  }

  /// Returns a name for an index of properties: `byCountryAndDate`.
  static func modelName(_ properties: [String], isPartial: Bool) -> String {
    "by"
      + properties.map { path in
        path.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      }.joined(separator: "And")
      + (isPartial ? "NotNil" : "")
  }

  private var condition: String? {
    guard candidate.notNull != nil else { return nil }
    return "\(properties.first ?? candidate.parts[0].column) != nil"
  }

  /// The lines of the element to add to the entity in an `.xcdatamodel`; empty if the model doesn't
  /// have the properties.
  package var modelElement: [String] {
    guard !properties.isEmpty else { return [] }
    let partial = condition.map { " partialIndexPredicate=\"\($0)\"" } ?? ""
    return ["<fetchIndex name=\"\(modelName)\"\(partial)>"]
      + zip(properties, candidate.parts).map { property, part in
        "    <fetchIndexElement property=\"\(property)\" type=\"Binary\" "
          + "order=\"\(part.isDescending ? "descending" : "ascending")\"/>"
      } + ["</fetchIndex>"]
  }
}
