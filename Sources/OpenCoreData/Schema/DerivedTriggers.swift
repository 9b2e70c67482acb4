import ManagedModel

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

  /// Whether a new or changed row of the own table has the attribute: its table may hold others.
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
    let first = SQLNames.quoted(hops.first?.column ?? column)
    var triggers = [
      sourceInsert,
      trigger(
        "SOURCE_UPDATE", on: table, "UPDATE OF \(first)", when: sourceGuard,
        rows: "Z_PK = NEW.Z_PK"),
    ]
    for (index, hop) in hops.enumerated() {
      // The rows from which the path leads through the row that changed.
      var rows = "NEW.Z_PK"
      for back in (0...index).reversed() {
        let owner = back == 0 ? table : hops[back - 1].table
        rows =
          "SELECT Z_PK FROM \(SQLNames.quoted(owner)) "
          + "WHERE \(SQLNames.quoted(hops[back].column)) IN (\(rows))"
      }
      let next = index + 1 < hops.count ? hops[index + 1].column : column
      let suffix = index == 0 ? "" : "_\(index + 1)"
      triggers += [
        trigger(
          "PARAMETER_INSERT\(suffix)", on: hop.table, "INSERT", when: nil, rows: "Z_PK IN (\(rows))"
        ),
        trigger(
          "PARAMETER_UPDATE\(suffix)", on: hop.table, "UPDATE OF \(SQLNames.quoted(next))",
          when: nil, rows: "Z_PK IN (\(rows))"),
      ]
    }
    return triggers
  }

  private func gathered(_ relationship: DerivedColumn.ToMany, sum: String?) -> [Trigger] {
    switch relationship.storage {
    case .foreignKey(let column, _):
      let key = SQLNames.quoted(column)
      let columns = [key] + (sum.map { [SQLNames.quoted($0)] } ?? [])
      return changes(on: relationship.table, key: key, columns: columns)
    case .joinTable(let join, let source, let destination, _):
      let (key, other) = (SQLNames.quoted(source), SQLNames.quoted(destination))
      var triggers = changes(on: join, key: key, columns: [key])
      if let sum {
        let rows = "SELECT \(key) FROM \(SQLNames.quoted(join)) WHERE \(other) = NEW.Z_PK"
        triggers.append(
          trigger(
            "PARAMETER_UPDATE", on: relationship.table, "UPDATE OF \(SQLNames.quoted(sum))",
            when: nil, rows: "Z_PK IN (\(rows))"))
      }
      return triggers
    }
  }

  /// What happens when a row that names the object by `key` comes, changes or goes.
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
    let (table, column) = (SQLNames.quoted(table), SQLNames.quoted(derived.column))
    let trigger = "Z_DA_\(changed)_\(derived.entity.name)_\(derived.name)_\(name)"
    let value = derived.value(of: table) ?? "NSCoreDataNow()"
    let guarded = condition.map { " WHEN \($0)" } ?? ""
    let statement =
      "CREATE TRIGGER IF NOT EXISTS \(SQLNames.quoted(trigger)) AFTER \(event) "
      + "ON \(SQLNames.quoted(changed)) FOR EACH ROW\(guarded) BEGIN "
      + "UPDATE \(table) SET \(column) = \(value) WHERE \(rows); "
      + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue("
      + "\(SQLNames.literal(self.table)), Z_ENT, Z_PK, \(SQLNames.literal(derived.name)), \(column)) "
      + "FROM \(table) WHERE \(rows); "
      + "END"
    return Trigger(name: trigger, statement: statement)
  }
}
