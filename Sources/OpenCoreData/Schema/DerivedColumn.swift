import ManagedModel
import SQLiteDriver

/// The column of a derived attribute, with the columns in this file that its value depends on.
package struct DerivedColumn: Sendable {
  /// A step of a path of to-one relationships.
  struct Hop: Sendable {
    /// The relationship's column in the previous table.
    let column: String
    /// The table of the destination.
    let table: String
  }

  /// A to-many relationship that is counted or summed.
  struct ToMany: Sendable {
    let storage: SQLToMany.Storage
    /// The table of the destinations.
    let table: String
  }

  enum Source: Sendable {
    case copy(hops: [Hop], column: String, DerivedFormula.Change?)
    case count(ToMany)
    case sum(ToMany, column: String)
    case now
  }

  /// The entity that declares the attribute.
  package let entity: SQLEntity
  /// The attribute's name.
  package let name: String
  /// Its column.
  package let column: String
  let source: Source
  /// What the triggers' names have for the attribute: its name, with a number if another one has
  /// triggers of that name.
  fileprivate private(set) var label: String

  /// Whether it's a count or a sum over a to-many relationship.
  package var isGathered: Bool {
    switch source {
    case .count, .sum: true
    case .copy, .now: false
    }
  }

  /// The names of the triggers that keep it up to date in a file created by OpenCoreData.
  package var triggerNames: [String] { DerivedTriggers(self).names }

  /// Resolves the columns of a derivation expression; `nil` for an expression that isn't supported.
  init?(_ column: SQLColumn, of entity: SQLEntity, in model: SQLModel) {
    guard let attribute = column.property as? NSAttributeDescription,
      let text = attribute.derivationText, let formula = DerivedFormula(text),
      let source = Self.source(formula, of: entity, in: model)
    else { return nil }
    self.entity = entity
    name = attribute.name
    self.column = column.name
    self.source = source
    label = attribute.name
  }

  /// Returns the column with triggers whose names no other column's triggers have.
  func claimingTriggers(_ names: inout ClaimedNames) -> Self {
    var result = self
    result.label = names.take(name) { label in
      var column = self
      column.label = label
      return column.triggerNames
    }
    return result
  }

  private static func source(
    _ formula: DerivedFormula, of entity: SQLEntity, in model: SQLModel
  ) -> Source? {
    switch formula {
    case .now: return .now
    case .count(let name): return toMany(name, of: entity).map { .count($0) }
    case .sum(let name, let attribute):
      guard let relationship = toMany(name, of: entity),
        let column = entity.toMany[name]?.destination.column(named: attribute)
      else { return nil }
      return .sum(relationship, column: column.name)
    case .copy(let path, let change):
      var (home, hops) = (entity, [Hop]())
      for name in path.dropLast() {
        guard let column = home.column(named: name),
          let relationship = column.property as? NSRelationshipDescription,
          let destination = relationship.destinationEntity.flatMap(model.storedEntity)
        else { return nil }
        home = destination
        hops.append(Hop(column: column.name, table: home.table))
      }
      guard let column = home.column(named: path[path.count - 1]),
        column.property is NSAttributeDescription
      else { return nil }
      return .copy(hops: hops, column: column.name, change)
    }
  }

  private static func toMany(_ name: String, of entity: SQLEntity) -> ToMany? {
    entity.toMany[name].map { ToMany(storage: $0.storage, table: $0.destination.table) }
  }
}

extension DerivedColumn {
  /// Returns the SQL for the expected value; `nil` if it can't be computed from the rows.
  ///
  /// - Parameter row: The name or alias of the object's row in the enclosing statement.
  package func value(of row: String) -> String? {
    switch source {
    case .now: return nil
    case .copy(let hops, let column, let change):
      let path = path(hops, to: column, from: row)
      return change.map { "\($0.function.rawValue)(\(path))" } ?? path
    case .count(let relationship):
      return "(SELECT COUNT(*) FROM \(members(relationship, of: row, needsTable: false)))"
    case .sum(let relationship, let column):
      return "(SELECT IFNULL(SUM(d.\(SQLSyntax.quoted(column))), 0) "
        + "FROM \(members(relationship, of: row, needsTable: true)))"
    }
  }

  private func path(_ hops: [Hop], to column: String, from row: String) -> String {
    let column = SQLSyntax.quoted(column)
    guard let first = hops.first else { return "\(row).\(column)" }
    var tables = "\(SQLSyntax.quoted(first.table)) h1"
    for (index, hop) in hops.enumerated().dropFirst() {
      tables +=
        " JOIN \(SQLSyntax.quoted(hop.table)) h\(index + 1) "
        + "ON h\(index + 1).Z_PK = h\(index).\(SQLSyntax.quoted(hop.column))"
    }
    return "(SELECT h\(hops.count).\(column) FROM \(tables) "
      + "WHERE h1.Z_PK = \(row).\(SQLSyntax.quoted(first.column)))"
  }

  /// Returns the rows at the other end: `d` is the destination's table if it's needed.
  private func members(_ relationship: ToMany, of row: String, needsTable: Bool) -> String {
    let table = SQLSyntax.quoted(relationship.table)
    switch relationship.storage {
    case .foreignKey(let column, _):
      return "\(table) d WHERE d.\(SQLSyntax.quoted(column)) = \(row).Z_PK"
    case .joinTable(let join, let source, let destination, _):
      let key = "j.\(SQLSyntax.quoted(source)) = \(row).Z_PK"
      let joined =
        needsTable ? " JOIN \(table) d ON d.Z_PK = j.\(SQLSyntax.quoted(destination))" : ""
      return "\(SQLSyntax.quoted(join)) j\(joined) WHERE \(key)"
    }
  }
}

extension [DerivedColumn] {
  /// The columns, each after the one that it's derived from, so that all values can be computed in
  /// this order; those that are derived from each other stay in their order.
  var sourcesFirst: [DerivedColumn] {
    let positions = Dictionary(
      zip(map(\.location), indices), uniquingKeysWith: { first, _ in first })
    var sorted: [DerivedColumn] = []
    var seen: Set<Int> = []
    for index in indices {
      var chain: [DerivedColumn] = []
      var next: Int? = index
      while let position = next, seen.insert(position).inserted {
        chain.append(self[position])
        next = self[position].sourceLocation.flatMap { positions[$0] }
      }
      sorted += chain.reversed()
    }
    return sorted
  }
}

extension DerivedColumn {
  /// The table and the column.
  fileprivate var location: [String] { [entity.table, column] }

  /// The table and the column of the values that are copied or summed; `nil` for other formulas.
  fileprivate var sourceLocation: [String]? {
    switch source {
    case .copy(let hops, let column, _): [hops.last?.table ?? entity.table, column]
    case .sum(let relationship, let column): [relationship.table, column]
    case .count, .now: nil
    }
  }
}

extension DerivedFormula.Change {
  /// The SQL function, which predicates use too.
  var function: ValueFunction {
    switch self {
    case .canonical: .canonical
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    }
  }
}

/// The triggers of one derived attribute.
struct DerivedTriggers {
  private let derived: DerivedColumn
  private let table: String

  init(_ derived: DerivedColumn) {
    self.derived = derived
    table = derived.entity.table
  }

  /// The statements.
  var all: [String] { triggers.map(\.statement) }

  /// The triggers' names.
  var names: [String] { triggers.map(\.name) }

  private struct Trigger {
    let name: String
    let statement: String
  }

  private var triggers: [Trigger] {
    switch derived.source {
    case .now:
      [
        trigger("INSERT", on: table, "INSERT", when: sourceGuard, rows: "Z_PK = NEW.Z_PK"),
        trigger(
          "UPDATE", on: table, "UPDATE OF Z_OPT", when: sourceGuard, rows: "Z_PK = NEW.Z_PK"),
      ]
    case .copy(let hops, let column, _): copied(hops, column)
    case .count(let relationship): gathered(relationship, sum: nil) + [sourceInsert]
    case .sum(let relationship, let column): gathered(relationship, sum: column) + [sourceInsert]
    }
  }

  /// The condition that a new or changed row of its own table has the attribute: the table may
  /// contain other entities.
  private var sourceGuard: String? {
    let entity = derived.entity
    guard entity.superentity != nil else { return nil }
    let numbers = entity.concreteNumbers.map(String.init).joined(separator: ", ")
    return "NEW.Z_ENT IN (\(numbers))"
  }

  private var sourceInsert: Trigger {
    trigger("SOURCE_INSERT", on: table, "INSERT", when: sourceGuard, rows: "Z_PK = NEW.Z_PK")
  }

  private func copied(_ hops: [DerivedColumn.Hop], _ column: String) -> [Trigger] {
    let first = SQLSyntax.quoted(hops.first?.column ?? column)
    var triggers = [
      sourceInsert,
      trigger(
        "SOURCE_UPDATE", on: table, "UPDATE OF \(first)", when: sourceGuard,
        rows: "Z_PK = NEW.Z_PK"),
    ]
    for (index, hop) in hops.enumerated() {
      // The rows from which the path passes through the changed row.
      var rows = "NEW.Z_PK"
      for back in (0...index).reversed() {
        let owner = back == 0 ? table : hops[back - 1].table
        rows =
          "SELECT Z_PK FROM \(SQLSyntax.quoted(owner)) "
          + "WHERE \(SQLSyntax.quoted(hops[back].column)) IN (\(rows))"
      }
      let next = index + 1 < hops.count ? hops[index + 1].column : column
      let suffix = index == 0 ? "" : "_\(index + 1)"
      triggers += [
        trigger(
          "PARAMETER_INSERT\(suffix)", on: hop.table, "INSERT", when: nil, rows: "Z_PK IN (\(rows))"
        ),
        trigger(
          "PARAMETER_UPDATE\(suffix)", on: hop.table, "UPDATE OF \(SQLSyntax.quoted(next))",
          when: nil, rows: "Z_PK IN (\(rows))"),
      ]
    }
    return triggers
  }

  private func gathered(_ relationship: DerivedColumn.ToMany, sum: String?) -> [Trigger] {
    switch relationship.storage {
    case .foreignKey(let column, _):
      let key = SQLSyntax.quoted(column)
      let columns = [key] + (sum.map { [SQLSyntax.quoted($0)] } ?? [])
      return changes(on: relationship.table, key: key, columns: columns)
    case .joinTable(let join, let source, let destination, _):
      let (key, other) = (SQLSyntax.quoted(source), SQLSyntax.quoted(destination))
      var triggers = changes(on: join, key: key, columns: [key])
      if let sum {
        let rows = "SELECT \(key) FROM \(SQLSyntax.quoted(join)) WHERE \(other) = NEW.Z_PK"
        triggers.append(
          trigger(
            "PARAMETER_UPDATE", on: relationship.table, "UPDATE OF \(SQLSyntax.quoted(sum))",
            when: nil, rows: "Z_PK IN (\(rows))"))
      }
      return triggers
    }
  }

  /// Returns the triggers for insertions, changes, and deletions of a row that refers to the object
  /// by `key`.
  private func changes(on other: String, key: String, columns: [String]) -> [Trigger] {
    let update = "UPDATE OF \(columns.joined(separator: ", "))"
    return [
      trigger("PARAMETER_INSERT", on: other, "INSERT", when: nil, rows: "Z_PK = NEW.\(key)"),
      trigger(
        "PARAMETER_UPDATE_INCREMENT", on: other, update, when: nil, rows: "Z_PK = NEW.\(key)"),
      trigger(
        "PARAMETER_UPDATE_DECREMENT", on: other, update, when: "OLD.\(key) IS NOT NEW.\(key)",
        rows: "Z_PK = OLD.\(key)"),
      trigger("PARAMETER_DELETE", on: other, "DELETE", when: nil, rows: "Z_PK = OLD.\(key)"),
    ]
  }

  private func trigger(
    _ name: String, on changed: String, _ event: String, when condition: String?, rows: String
  ) -> Trigger {
    let (table, column) = (SQLSyntax.quoted(table), SQLSyntax.quoted(derived.column))
    let trigger = "Z_DA_\(changed)_\(derived.entity.name)_\(derived.label)_\(name)"
    let value = derived.value(of: table) ?? "NSCoreDataNow()"
    let guarded = condition.map { " WHEN \($0)" } ?? ""
    let statement =
      "CREATE TRIGGER IF NOT EXISTS \(SQLSyntax.quoted(trigger)) AFTER \(event) "
      + "ON \(SQLSyntax.quoted(changed)) FOR EACH ROW\(guarded) BEGIN "
      + "UPDATE \(table) SET \(column) = \(value) WHERE \(rows); "
      + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue("
      + "\(SQLSyntax.literal(self.table)), Z_ENT, Z_PK, \(SQLSyntax.literal(derived.name)), \(column)) "
      + "FROM \(table) WHERE \(rows); "
      + "END"
    return Trigger(name: trigger, statement: statement)
  }
}
