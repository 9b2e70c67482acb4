import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Detects to-one values that refer to a missing row or a row of another entity, or have the wrong
/// entity ID.
struct DanglingKeyRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for (entity, column) in store.columns {
      guard let relationship = column.property as? NSRelationshipDescription,
        let destination = store.mapping.destination(of: relationship)
      else { continue }
      findings += try dangling(
        column.name, in: entity, named: relationship.name, to: destination, store)
      findings += try misnamed(column, in: entity, to: destination, store)
    }
    for (owner, toMany) in store.toMany where toMany.relationship.inverseRelationship == nil {
      guard case .foreignKey(let column, _) = toMany.storage else { continue }
      findings += try dangling(
        column, in: toMany.destination, named: "\(owner.name).\(toMany.relationship.name)",
        to: owner, store)
    }
    return findings
  }

  private func dangling(
    _ column: String, in entity: SQLEntity, named name: String, to destination: SQLEntity,
    _ store: ExaminedStore
  ) throws -> [DoctorFinding] {
    let rows = try store.keys(
      "SELECT a.Z_PK FROM \(SQLSyntax.quoted(entity.table)) a "
        + "LEFT JOIN \(SQLSyntax.quoted(destination.table)) b "
        + "ON b.Z_PK = a.\(SQLSyntax.quoted(column)) WHERE a.\(SQLSyntax.quoted(column)) IS NOT NULL "
        + "AND (b.Z_PK IS NULL OR b.Z_ENT NOT IN \(destination.numberList))")
    guard rows.count > 0 else { return [] }
    return [
      DoctorFinding(
        .danglingKey, entity: entity.name, property: name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) in \(entity.table).\(column) "
          + "\(PluralForm.of(rows.count, "refers", "refer")) to an object of \(destination.name) that "
          + "doesn't exist",
        nextStep: "restore the row from a backup, or set the column to NULL")
    ]
  }

  private func misnamed(
    _ column: SQLColumn, in entity: SQLEntity, to destination: SQLEntity, _ store: ExaminedStore
  ) throws -> [DoctorFinding] {
    guard let number = column.entityColumn else { return [] }
    let rows = try store.keys(
      "SELECT a.Z_PK FROM \(SQLSyntax.quoted(entity.table)) a JOIN \(SQLSyntax.quoted(destination.table)) b "
        + "ON b.Z_PK = a.\(SQLSyntax.quoted(column.name)) WHERE a.\(SQLSyntax.quoted(number)) IS NOT b.Z_ENT "
        + "AND b.Z_ENT IN \(destination.numberList)")
    guard rows.count > 0 else { return [] }
    return [
      DoctorFinding(
        .danglingKey, entity: entity.name, property: column.property.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "row")) of \(entity.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a different entity ID in \(number) than the row "
          + "that \(column.name) refers to",
        nextStep: "set \(number) to the Z_ENT of that row")
    ]
  }
}

/// Detects a `Z_MAX` that's missing, is below the largest primary key, or leaves no room above it,
/// and primary keys below 1.
struct PrimaryKeyCounterRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    var tables = store.roots.map { (number: $0.number, name: $0.name, table: $0.table) }
    for (number, table) in HistoryTables.entityIDs where store.tables.contains(table) {
      tables.append((number, table, table))
    }
    return try impossible(in: store)
      + tables.compactMap { number, name, table in
        let largest = try store.number("SELECT MAX(Z_PK) FROM \(SQLSyntax.quoted(table))")
        let rows = try store.connection.values(
          "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(number))])
        var maximum: Int?
        if case .integer(let value)? = rows.first?.first { maximum = Int(clamping: value) }
        if let maximum, maximum > Self.lastUsable {
          return full(number, name, table, maximum: maximum, largest: largest)
        }
        guard max(0, largest) > maximum ?? -1 else { return nil }
        let said = maximum.map { "Z_MAX of \(name) is \($0)" } ?? "\(name) has no Z_MAX"
        let effect =
          largest > 0
          ? ", but its largest primary key is \(largest); new objects would reuse existing keys"
          : "; new objects \(maximum == nil ? "can't be inserted" : "would get keys below 1")"
        return DoctorFinding(
          .primaryKeyCounter, entity: name, table: table, count: 1,
          examples: largest > 0 ? store.uris([Int64(largest)], of: name) : [], said + effect,
          nextStep: rows.isEmpty
            // Only tables of the history have no row, whose name is without an A.
            ? "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
              + "VALUES (\(number), '\(table.dropFirst())', 0, \(max(0, largest)))"
            : "UPDATE Z_PRIMARYKEY SET Z_MAX = \(max(0, largest)) WHERE Z_ENT = \(number)")
      }
  }

  /// The largest `Z_MAX` that leaves room for a large save.
  private static let lastUsable = Int.max - 1_000_000_000

  private func full(
    _ number: Int, _ name: String, _ table: String, maximum: Int, largest: Int
  ) -> DoctorFinding {
    let isFull = largest > Self.lastUsable
    return DoctorFinding(
      .primaryKeyCounter, entity: name, table: table, count: 1, examples: ["Z_MAX \(maximum)"],
      "Z_MAX of \(name) is \(maximum), which leaves no primary keys for new objects",
      nextStep: isFull
        ? "give the rows with the largest primary keys smaller ones, and update the values that refer to them"
        : "UPDATE Z_PRIMARYKEY SET Z_MAX = \(max(0, largest)) WHERE Z_ENT = \(number)")
  }

  /// Returns findings for rows with a primary key that no object can have.
  private func impossible(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys("SELECT Z_PK FROM \(SQLSyntax.quoted(root.table)) WHERE Z_PK < 1")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .primaryKeyCounter, entity: root.name, table: root.table, count: rows.count,
        examples: rows.keys.map { "Z_PK \($0)" },
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a primary key below 1, which makes fetches fail",
        nextStep: "give each row a primary key above Z_MAX, and update the values that refer to it")
    }
  }
}

/// Detects rows whose `Z_ENT` isn't an entity of their table.
struct EntityIDRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(root.table)) "
          + "WHERE Z_ENT IS NULL OR Z_ENT NOT IN \(root.numberList)")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .entityID, entity: root.name, table: root.table, count: rows.count,
        examples: store.uris(rows.keys, of: root.name),
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a Z_ENT that isn't one of the table's entities: "
          + "\(root.family.map { "\($0.number) \($0.name)" }.joined(separator: ", "))",
        nextStep:
          "determine the entity of each row and set its Z_ENT; until then, fetches fail or skip the rows"
      )
    }
  }
}

/// Detects rows of a join table that refer to a missing object.
struct OrphanedJoinRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    var seen: Set<String> = []
    return try store.toMany.compactMap { entity, toMany in
      guard
        case .joinTable(let table, let source, let destination, _) = toMany.storage,
        seen.insert(table).inserted
      else { return nil }
      let other = toMany.destination
      let select =
        "SELECT j.rowid FROM \(SQLSyntax.quoted(table)) j "
        + "LEFT JOIN \(SQLSyntax.quoted(entity.table)) a ON a.Z_PK = j.\(SQLSyntax.quoted(source)) "
        + "LEFT JOIN \(SQLSyntax.quoted(other.table)) b ON b.Z_PK = j.\(SQLSyntax.quoted(destination)) "
        + "WHERE a.Z_PK IS NULL OR b.Z_PK IS NULL "
        + "OR a.Z_ENT NOT IN \(entity.numberList) OR b.Z_ENT NOT IN \(other.numberList)"
      let count = try store.number("SELECT COUNT(*) FROM (\(select))")
      guard count > 0 else { return nil }
      let pairs = try store.connection.values(
        "SELECT \(SQLSyntax.quoted(source)), \(SQLSyntax.quoted(destination)) "
          + "FROM \(SQLSyntax.quoted(table)) WHERE rowid IN (\(select)) LIMIT 5")
      return DoctorFinding(
        .orphanedJoin, entity: entity.name, property: toMany.relationship.name, table: table,
        count: count,
        examples: pairs.map { "\(source) \($0[0]), \(destination) \($0[1])" },
        "\(NumberText.counted(count, "row")) of the join table \(table) "
          + "\(PluralForm.of(count, "refers", "refer")) to an object of \(entity.name) or \(other.name) "
          + "that doesn't exist",
        nextStep: "delete them; they don't appear on either side of the relationship")
    }
  }
}
