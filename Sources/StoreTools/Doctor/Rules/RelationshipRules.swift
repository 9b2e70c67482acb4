import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Detects one-to-one relationships, and many-to-many ones that are their own inverse, whose
/// inverse doesn't match.
///
/// All other relationships are stored only once, so their sides can't differ.
struct OneSidedInverseRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try oneToOne(in: store) + ownInverses(in: store)
  }

  /// Returns findings for join rows without a join row in the opposite direction.
  ///
  /// It isn't known whether Core Data on Apple platforms writes both rows, so its files aren't
  /// checked.
  private func ownInverses(in store: ExaminedStore) throws -> [DoctorFinding] {
    guard store.isMadeHere else { return [] }
    return try store.toMany.compactMap { entity, toMany -> DoctorFinding? in
      let relationship = toMany.relationship
      guard relationship.inverseRelationship === relationship,
        case .joinTable(let table, let source, let destination, _) = toMany.storage
      else { return nil }
      let (own, other) = (SQLSyntax.quoted(source), SQLSyntax.quoted(destination))
      let rows = try store.keys(
        "SELECT j.\(own) FROM \(SQLSyntax.quoted(table)) j "
          + "WHERE NOT EXISTS (SELECT 1 FROM \(SQLSyntax.quoted(table)) k "
          + "WHERE k.\(own) = j.\(other) AND k.\(other) = j.\(own))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .oneSidedInverse, entity: entity.name, property: relationship.name, table: table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "object")) in \(relationship.name) of \(entity.name) "
          + "\(PluralForm.of(rows.count, "doesn't", "don't")) match its inverse",
        nextStep: "set the relationship again through the framework, which sets both sides")
    }
  }

  private func oneToOne(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.columns.compactMap { entity, column -> DoctorFinding? in
      guard let relationship = column.property as? NSRelationshipDescription,
        let inverse = relationship.inverseRelationship, !inverse.isToMany,
        let destination = store.mapping.destination(of: relationship),
        let back = destination.column(named: inverse.name)
      else { return nil }
      let rows = try store.keys(
        "SELECT a.Z_PK FROM \(SQLSyntax.quoted(entity.table)) a "
          + "JOIN \(SQLSyntax.quoted(destination.table)) b "
          + "ON b.Z_PK = a.\(SQLSyntax.quoted(column.name)) "
          + "WHERE b.\(SQLSyntax.quoted(back.name)) IS NOT a.Z_PK")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .oneSidedInverse, entity: entity.name, property: relationship.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "object")) of \(entity.name) "
          + "\(PluralForm.of(rows.count, "has", "have")) an object in \(relationship.name) whose "
          + "\(inverse.name) doesn't refer back",
        nextStep: "set the relationship again through the framework, which sets both sides")
    }
  }
}

/// Detects members of ordered relationships whose order key is NULL, isn't a number, or is that of
/// another member.
struct OrderKeyRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.toMany.flatMap { entity, toMany -> [DoctorFinding] in
      switch toMany.storage {
      case .foreignKey(let owner, let orderKey?):
        let members =
          "FROM \(SQLSyntax.quoted(toMany.destination.table)) m "
          + "WHERE m.\(SQLSyntax.quoted(owner)) IS NOT NULL AND m.Z_ENT IN \(toMany.destination.numberList)"
        return try findings(
          toMany, of: entity, members, owner: owner, orderKey: orderKey,
          table: toMany.destination.table, in: store)
      case .joinTable(let table, let source, _, let orderKey?):
        return try findings(
          toMany, of: entity, "FROM \(SQLSyntax.quoted(table)) m WHERE 1", owner: source,
          orderKey: orderKey,
          table: table, in: store)
      case .foreignKey, .joinTable: return []
      }
    }
  }

  private func findings(
    _ toMany: SQLToMany, of entity: SQLEntity, _ members: String, owner: String, orderKey: String,
    table: String, in store: ExaminedStore
  ) throws -> [DoctorFinding] {
    let (owner, column, name) = (
      "m.\(SQLSyntax.quoted(owner))", "m.\(SQLSyntax.quoted(orderKey))", toMany.relationship.name
    )
    let without = try store.keys(
      "SELECT \(owner) \(members) AND typeof(\(column)) NOT IN ('integer', 'real')")
    let doubled = try store.keys(
      "SELECT \(owner) \(members) AND \(column) IS NOT NULL "
        + "GROUP BY \(owner), \(column) HAVING COUNT(*) > 1")
    let nextStep =
      "set \(name) of the objects again through the framework, which assigns new order keys"
    let found = [
      (
        without,
        "\(NumberText.counted(without.count, "member")) of \(entity.name).\(name) "
          + "\(PluralForm.of(without.count, "has", "have")) no order key in \(orderKey)"
      ),
      (
        doubled,
        "\(NumberText.counted(doubled.count, "order key")) of \(entity.name).\(name) "
          + "\(PluralForm.of(doubled.count, "is", "are")) used by several members"
      ),
    ]
    return found.filter { $0.0.count > 0 }.map { rows, message in
      DoctorFinding(
        .orderKey, entity: entity.name, property: name, table: table, count: rows.count,
        examples: store.uris(rows.keys, of: entity.name), message, nextStep: nextStep)
    }
  }
}
