import OpenCoreData
import SQLiteDriver

/// An index that could be made.
package struct IndexCandidate: Sendable, Hashable {
  /// One column of it.
  package struct Part: Sendable, Hashable {
    /// As the file spells it.
    package var column: String
    package var isDescending: Bool

    package init(_ column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  /// As the file spells it.
  package var table: String
  /// The most significant first.
  package var parts: [Part]
  /// The column that must not be NULL for a row to be in the index; nil for all rows.
  package var notNull: String?

  package init(table: String, parts: [Part], notNull: String? = nil) {
    self.table = table
    self.parts = parts
    self.notNull = notNull
  }

  /// The statement that makes it, in the form of Core Data's own.
  package func sql(named name: String) -> String {
    let columns = parts.map { part in
      "\(SQLNames.quoted(part.column)) COLLATE BINARY \(part.isDescending ? "DESC" : "ASC")"
    }
    return "CREATE INDEX \(SQLNames.quoted(name)) ON \(SQLNames.quoted(table)) "
      + "(\(columns.joined(separator: ", ")))"
      + (notNull.map { " WHERE \(SQLNames.quoted($0)) IS NOT NULL" } ?? "")
  }

  /// How much there is to keep: columns, and a partial index before a full one of as many.
  var width: Int { parts.count * 2 + (notNull == nil ? 1 : 0) }

  /// Whether it serves every search that another one serves.
  func covers(_ other: IndexCandidate) -> Bool {
    table.uppercased() == other.table.uppercased() && (notNull == nil || notNull == other.notNull)
      && parts.count >= other.parts.count
      && zip(parts, other.parts).allSatisfy {
        $0.column.uppercased() == $1.column.uppercased() && $0.isDescending == $1.isDescending
      }
  }

  /// Whether a file has it already, or a longer one.
  func isServed(by index: FileIndex) -> Bool {
    index.table == table.uppercased() && !index.isPartial && index.parts.count >= parts.count
      && zip(index.parts, parts).allSatisfy {
        $0.column == $1.column.uppercased() && $0.isDescending == $1.isDescending
          && $0.collation == "BINARY"
      }
  }
}

extension IndexCandidate {
  /// Columns that a covering index may add beyond those it searches and sorts by.
  private static let mostCovered = 3

  /// What could help one table of a statement, narrow ones first.
  ///
  /// They are only ideas: which of them helps is found out by trying.
  /// - Parameter sparse: Columns of the table that are NULL in most rows.
  static func all(for needs: TableNeeds, sparse: Set<String>) -> [IndexCandidate] {
    let order = normal(needs.order.filter { !needs.equal.contains($0.column) })
    let starts = needs.equal.indices.map { first in
      [needs.equal[first]] + needs.equal.enumerated().filter { $0.offset != first }.map(\.element)
    }
    var lists: [[Part]] = needs.equal.map { [Part($0)] }
    lists += needs.ranges.map { [Part($0)] } + [order]
    for start in starts.map({ $0.map { Part($0) } }) {
      lists += [start, start + order] + needs.ranges.map { start + [Part($0)] }
    }
    // What is sorted by first can also be filtered on the way.
    lists += needs.ranges.map { range in
      order.contains { $0.column == range } ? order : order + [Part(range)]
    }
    let used = Set(needs.equal + needs.ranges + needs.order.map(\.column))
    let rest = needs.columns.filter { !used.contains($0) && $0 != "Z_PK" }
    if rest.count <= mostCovered {
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
    return distinct(lists, table: needs.table, sparse: sparse, compared: needs.equal + needs.ranges)
  }

  private static func distinct(
    _ lists: [[Part]], table: String, sparse: Set<String>, compared: [String]
  ) -> [IndexCandidate] {
    var candidates: [IndexCandidate] = []
    for parts in lists where !parts.isEmpty && Set(parts.map(\.column)).count == parts.count {
      var candidate = IndexCandidate(table: table, parts: parts)
      if !candidates.contains(candidate) { candidates.append(candidate) }
      // NULL fulfils no comparison, so that SQLite may leave those rows out.
      let first = parts[0].column
      if sparse.contains(first), compared.contains(first) {
        candidate.notNull = first
        if !candidates.contains(candidate) { candidates.append(candidate) }
      }
    }
    return candidates.sorted { $0.parts.count < $1.parts.count }
  }

  /// Keys that all descend are written ascending: an index is read from either end.
  private static func normal(_ keys: [TableNeeds.Key]) -> [Part] {
    let turned = keys.allSatisfy(\.isDescending)
    return keys.map { Part($0.column, isDescending: !turned && $0.isDescending) }
  }
}

/// An index that was tried on a copy of the store and helped.
package struct IndexProposal: Sendable {
  /// What one statement gains.
  package struct Gain: Sendable, Equatable {
    package var sql: String
    package var count: Int
    /// VM steps of one run.
    package var before: Int
    /// VM steps of one run with all proposed indexes.
    package var after: Int
    package var planBefore: [String]
    package var planAfter: [String]
  }

  package var candidate: IndexCandidate
  /// The index's name in the file, as Core Data forms it.
  package var name: String
  /// `byCountryAndDate`: its name in the model, which no other index of the entity has.
  package var modelName: String
  /// The entity whose model gets it; nil if the store's model doesn't have it.
  package var entity: String?
  /// The properties, in the order of the columns; empty if the model doesn't have them.
  package var properties: [String]
  /// The statements that use it, the one that gains most first.
  package var gains: [Gain]
  /// VM steps of inserting one row without and with it; nil where no row could be inserted.
  package var insertSteps: (before: Int, after: Int)?
  /// Its size; nil where SQLite was built without `dbstat`.
  package var size: (pages: Int, bytes: Int)?

  /// VM steps of the whole work, its statements as often as they ran.
  package var stepsBefore: Int { gains.reduce(0) { $0 + $1.before * $1.count } }
  /// VM steps of the same work with the index.
  package var stepsAfter: Int { gains.reduce(0) { $0 + $1.after * $1.count } }

  /// `Mood (country, date descending)`; columns if the model doesn't have it.
  package var title: String {
    let names = properties.isEmpty ? candidate.parts.map(\.column) : properties
    let parts = zip(names, candidate.parts).map { $0 + ($1.isDescending ? " descending" : "") }
    return "\(entity ?? candidate.table) (\(parts.joined(separator: ", ")))"
      + (condition.map { " where \($0)" } ?? "")
  }

  /// The SQL statement that creates it.
  package var sql: String { candidate.sql(named: name) }

  /// A name for an index of properties: `byCountryAndDate`.
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

  /// The element of an entity in an `.xcdatamodel`, line by line; empty if the model doesn't have them.
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

/// The properties behind the columns of a store, by the model it carries.
struct PropertyNames {
  private let anatomy: StoreAnatomy?

  init(_ connection: Connection) {
    let anatomy = try? StoreAnatomy(reading: connection)
    // An inferred model's names aren't those of the user's model.
    self.anatomy = anatomy?.source.isGuessed == false ? anatomy : nil
  }

  /// The entity of a table that has all the columns, the highest one first, with their properties.
  ///
  /// - Parameter preferred: The entity the statement was run for; taken when it has them all.
  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])? {
    let entities = (anatomy?.mapping.entities ?? []).filter {
      $0.table.uppercased() == table.uppercased()
    }
    let sorted =
      entities.filter { $0.superentity == nil } + entities.filter { $0.superentity != nil }
    let first = sorted.filter { $0.name == preferred }
    for entity in sorted.prefix(1) + first + sorted {
      let properties = columns.compactMap { column in
        entity.columns.first { $0.name.uppercased() == column.uppercased() }?.property.name
      }
      if properties.count == columns.count { return (entity.name, properties) }
    }
    return nil
  }

  /// Whether a fetch index of a model can be this one: each of its columns is a property of one entity.
  ///
  /// `Z_PK`, `Z_ENT`, `Z_OPT`, order keys, and the columns with a destination's entity ID are no
  /// property's, and join tables and history tables aren't an entity's.
  func canDescribe(_ index: IndexCandidate) -> Bool {
    let columns = index.parts.map { $0.column.uppercased() }
    if anatomy != nil {
      return names(of: columns, in: index.table, preferring: nil) != nil
    }
    let isEntity = index.table.wholeMatch(of: /[Zz][^_].*/) != nil
    return isEntity
      && columns.allSatisfy { $0.wholeMatch(of: /Z(_PK|_ENT|_OPT|_FOK_.*|\d+_.*)/) == nil }
  }

  /// A name that no index of the entity has yet: the given one, or that with a number.
  func unusedIndexName(_ name: String, in entity: String?) -> String {
    guard let entity, let description = anatomy?.source.model.entitiesByName[entity] else {
      return name
    }
    let taken = Set(description.indexes.map { $0.name.uppercased() })
    guard taken.contains(name.uppercased()) else { return name }
    let free = (2...taken.count + 2).first { !taken.contains("\(name)\($0)".uppercased()) }
    return free.map { "\(name)\($0)" } ?? name
  }

  /// Whether the framework makes the index by itself, for a relationship or for `Z_ENT`.
  func isAutomatic(_ index: FileIndex) -> Bool {
    guard index.parts.count == 1, let column = index.parts.first?.column else { return false }
    if column == "Z_ENT" || index.table.hasPrefix("Z_") { return true }
    let entities = (anatomy?.mapping.entities ?? []).filter { $0.table.uppercased() == index.table }
    let isRelationship = entities.contains { entity in
      entity.columns.contains {
        $0.name.uppercased() == column && $0.property is NSRelationshipDescription
      }
    }
    return isRelationship || index.name.uppercased() == "\(index.table)_\(column)_INDEX"
  }
}
