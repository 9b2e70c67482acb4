import ManagedModel
import SQLiteDriver

// Relationships whose keys are stored elsewhere in the new version, and references to removed rows.

extension LightweightMigrationPlan {
  /// A column of keys in a source table, with the column of their entity IDs and order keys.
  private struct KeyColumns: Hashable {
    let table: String
    let key: String
    let others: [String]
  }

  // MARK: References to rows that relationships can no longer refer to

  /// Removes references to rows that are removed, or leave the hierarchy that a relationship refers
  /// to.
  mutating func removeInvalidReferences() {
    var done: Set<KeyColumns> = []
    for entity in destination.entities {
      for column in entity.ownColumns {
        guard let relationship = column.property as? NSRelationshipDescription else { continue }
        for former in formerRelationships(of: relationship, of: entity) {
          guard let found = former.entity.column(named: former.relationship.name) else { continue }
          let others = [found.entityColumn, found.orderColumn].compactMap { $0 }
          removeReferences(
            KeyColumns(table: former.entity.table, key: found.name, others: others),
            to: invalidDestinations(of: former.relationship, for: relationship), &done)
        }
      }
      for list in entity.toMany.values where list.relationship.entity === entity.description {
        removeInvalidReferences(of: list, of: entity, &done)
      }
    }
  }

  private mutating func removeInvalidReferences(
    of list: SQLToMany, of entity: SQLEntity, _ done: inout Set<KeyColumns>
  ) {
    for former in formerRelationships(of: list.relationship, of: entity) {
      // The pairs of a relationship that was to-one are checked when they're kept.
      guard let found = former.entity.toMany[former.relationship.name] else { continue }
      let owners = invalid(former.relationship.entity, below: entity.description)
      let members = invalidDestinations(of: former.relationship, for: list.relationship)
      switch found.storage {
      case .foreignKey(let column, let order):
        // The column of an inverse that's kept is checked with it.
        guard !keepsInverse(of: former.relationship, as: list) else { continue }
        removeReferences(
          KeyColumns(
            table: found.destination.table, key: column, others: [order].compactMap { $0 }),
          to: owners, &done)
      case .joinTable(let table, let ownColumn, let otherColumn, _):
        for (column, entities) in [(ownColumn, owners), (otherColumn, members)] {
          guard let root = entities.first?.root,
            done.insert(KeyColumns(table: table, key: column, others: [])).inserted
          else { continue }
          add(
            .keepJoinRows,
            "\(entity.name).\(list.relationship.name): remove pairs of removed objects",
            "DELETE FROM \(SQLSyntax.quoted(table)) WHERE \(SQLSyntax.quoted(column)) IN "
              + keys(of: entities, root), rowsOf: table)
        }
      }
    }
  }

  /// Returns whether the inverse of a former relationship is the inverse of the one that it
  /// becomes.
  private func keepsInverse(of former: NSRelationshipDescription, as list: SQLToMany) -> Bool {
    guard let inverse = former.inverseRelationship,
      let later = list.relationship.inverseRelationship
    else { return false }
    return formerRelationships(of: later, of: list.destination).contains {
      $0.relationship === inverse
    }
  }

  private mutating func removeReferences(
    _ columns: KeyColumns, to entities: [SQLEntity], _ done: inout Set<KeyColumns>
  ) {
    guard let root = entities.first?.root, done.insert(columns).inserted else { return }
    let key = SQLSyntax.quoted(columns.key)
    let nulls = ([columns.key] + columns.others).map { "\(SQLSyntax.quoted($0)) = NULL" }
    add(
      .keepJoinRows, "\(columns.table): remove references to removed objects",
      "UPDATE \(SQLSyntax.quoted(columns.table)) SET \(nulls.joined(separator: ", ")) "
        + "WHERE \(key) IN \(keys(of: entities, root))", rowsOf: columns.table)
  }

  private func keys(of entities: [SQLEntity], _ root: SQLEntity) -> String {
    "(SELECT Z_PK FROM \(SQLSyntax.quoted(root.table)) WHERE Z_ENT IN (\(Self.list(entities))))"
  }

  // MARK: Keys and order keys that aren't columns of the source table

  /// Sets the keys, entity IDs, and order keys of a table that its old rows didn't have.
  mutating func fillRelationships(of table: TableMigration) {
    guard table.source != nil else { return }
    let columns = Dictionary(
      table.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in table.root.family {
      for column in entity.ownColumns {
        guard let relationship = column.property as? NSRelationshipDescription else { continue }
        var isFilled = !Self.isEmpty(column.name, in: columns)
        var hasOrder = column.orderColumn.map { !Self.isEmpty($0, in: columns) } ?? true
        let isMerged = lacksPairs(relationship, of: entity)
        if !isFilled || isMerged, let pairs = pairs(for: relationship, of: entity) {
          fill(column.name, column.orderColumn, of: table.root, from: pairs)
          if let inverse = relationship.inverseRelationship {
            checkOwners(inverse, in: pairs.inverse)
          }
          (isFilled, hasOrder) = (true, hasOrder || pairs.backOrder != nil)
        }
        guard isFilled else { continue }
        if let numbers = column.entityColumn, isMerged || Self.isEmpty(numbers, in: columns),
          let destination = relationship.destinationEntity.flatMap(destination.storedEntity)
        {
          let (name, key) = (SQLSyntax.quoted(table.root.table), SQLSyntax.quoted(column.name))
          add(
            .fillColumns, "\(entity.name).\(relationship.name): set entity IDs",
            "UPDATE \(name) SET \(SQLSyntax.quoted(numbers)) = (SELECT d.Z_ENT "
              + "FROM \(SQLSyntax.quoted(destination.table)) d WHERE d.Z_PK = \(name).\(key)) "
              + "WHERE \(key) IS NOT NULL", rowsOf: table.root.table)
        }
        // Order keys of several relationships can be the same.
        let isReordered = isMerged || continuesSeveral(relationship, of: entity)
        if let order = column.orderColumn, isReordered || !hasOrder {
          fillOrder(
            order, in: table.root.table, by: column.name, "\(entity.name).\(relationship.name)",
            isKept: hasOrder)
        }
      }
    }
    fillHiddenLists(of: table.root, columns)
  }

  /// Sets the keys and order keys of the to-many relationships without an inverse.
  private mutating func fillHiddenLists(of root: SQLEntity, _ columns: [String: MigratedColumn]) {
    for list in hiddenLists(in: root) {
      guard case .foreignKey(let column, let order) = list.storage else { continue }
      let owner = list.relationship.entity.flatMap(destination.storedEntity)
      let isMerged = owner.map { continuesSeveral(list.relationship, of: $0) } ?? false
      var isFilled = !Self.isEmpty(column, in: columns)
      if !isFilled || isMerged, let owner, let pairs = keptPairs(of: list.relationship, of: owner) {
        fill(column, order, of: root, from: pairs.inverse)
        checkOwners(list.relationship, in: pairs)
        isFilled = true
        if pairs.order != nil, !isMerged { continue }
      }
      if isFilled, let order, isMerged || Self.isEmpty(order, in: columns) {
        fillOrder(order, in: root.table, by: column, "\(list.relationship)", isKept: isMerged)
      }
    }
  }

  /// Returns whether no row of a table gets a value of a column from the source table.
  private static func isEmpty(_ name: String, in columns: [String: MigratedColumn]) -> Bool {
    columns[name]?.sources.values.allSatisfy { $0 == .null } ?? true
  }

  /// Returns whether a relationship continues several ones, which subentities declared separately.
  func continuesSeveral(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> Bool {
    formerRelationships(of: relationship, of: entity).count > 1
  }

  /// Returns whether only the inverse of a relationship continues all pairs of objects; see
  /// `InferredMapping.lacksPairs`.
  func lacksPairs(_ relationship: NSRelationshipDescription, of entity: SQLEntity) -> Bool {
    guard let inverse = relationship.inverseRelationship, inverse !== relationship,
      let owner = inverse.entity.flatMap(destination.storedEntity)
    else { return false }
    return InferredMapping.lacksPairs(
      formerRelationships(of: relationship, of: entity).map(\.relationship),
      ofInverse: formerRelationships(of: inverse, of: owner).map(\.relationship))
  }

  /// Sets keys from pairs, and their order keys in the inverse if the pairs have them.
  private mutating func fill(
    _ column: String, _ orderColumn: String?, of root: SQLEntity, from pairs: KeptJoinRows
  ) {
    let table = SQLSyntax.quoted(root.table)
    var values = ["\(SQLSyntax.quoted(column)) = p.\(pairs.destination)"]
    if let orderColumn, let order = pairs.backOrder {
      values.append("\(SQLSyntax.quoted(orderColumn)) = p.\(order)")
    }
    add(
      .fillColumns, "\(root.name): set \(column)",
      "UPDATE \(table) SET \(values.joined(separator: ", ")) "
        + "FROM \(pairs.table) AS p WHERE p.\(pairs.source) = \(table).Z_PK",
      rowsOf: root.table)
  }

  /// Adds the check that no object gets several owners by a relationship that's to-many now, or
  /// continues several ones, but whose destinations have only one.
  ///
  /// One that stays to-one is checked with its column.
  private mutating func checkOwners(
    _ relationship: NSRelationshipDescription, in pairs: KeptJoinRows
  ) {
    guard let owner = relationship.entity.flatMap(destination.storedEntity) else { return }
    let formers = formerRelationships(of: relationship, of: owner)
    let gainsOwners =
      relationship.isToMany
      && formers.contains {
        !$0.relationship.isToMany && $0.relationship.inverseRelationship?.isToMany != false
      }
    let isMerged =
      formers.count > 1
      && (relationship.isToMany
        || formers.allSatisfy { $0.relationship.inverseRelationship?.isToMany == false })
    guard gainsOwners || isMerged else { return }
    add(
      MigrationStatements.Check(
        sql: "SELECT COUNT(*) FROM (SELECT 1 FROM \(pairs.table) GROUP BY \(pairs.destination) "
          + "HAVING COUNT(DISTINCT \(pairs.source)) > 1)",
        entity: relationship.entity?.name ?? "", property: relationship.name,
        problem: relationship.inverseRelationship == nil ? .severalOwners : .sharedDestination))
  }

  /// Adds the checks that two relationships that become inverses, or one that becomes its own, have
  /// the same pairs; those of to-one relationships are checked with their columns.
  ///
  /// What Core Data does with the other pairs isn't known; some have no place in the new version.
  mutating func addChecksOfJoinedInverses() {
    for entity in destination.entities {
      for relationship in entity.description.relationshipsByName.values.sorted(by: {
        $0.name < $1.name
      }) where relationship.entity === entity.description && !relationship.isTransient {
        guard let inverse = relationship.inverseRelationship,
          relationship.isToMany || inverse.isToMany,
          let other = inverse.entity.flatMap(destination.storedEntity),
          joinUnpaired(relationship, of: entity, inverse, of: other),
          let own = keptPairs(of: relationship, of: entity),
          let back = keptPairs(of: inverse, of: other)?.inverse
        else { continue }
        add(
          MigrationStatements.Check(
            sql: "SELECT COUNT(DISTINCT k) FROM (SELECT \(own.source) AS k, \(own.destination) "
              + "FROM \(own.table) EXCEPT SELECT \(back.source), \(back.destination) "
              + "FROM \(back.table))",
            entity: entity.name, property: relationship.name, problem: .mismatchedInverse))
      }
    }
  }

  /// Returns whether two relationships, which can be the same one, both continue a relationship
  /// whose inverse the other one doesn't continue.
  private func joinUnpaired(
    _ relationship: NSRelationshipDescription, of entity: SQLEntity,
    _ inverse: NSRelationshipDescription, of other: SQLEntity
  ) -> Bool {
    let own = formerRelationships(of: relationship, of: entity).map(\.relationship)
    let others = formerRelationships(of: inverse, of: other).map(\.relationship)
    func hasUnpaired(
      _ formers: [NSRelationshipDescription], among known: [NSRelationshipDescription]
    ) -> Bool {
      formers.contains { former in !known.contains { $0 === former.inverseRelationship } }
    }
    return hasUnpaired(own, among: others) && hasUnpaired(others, among: own)
  }

  /// Sets order keys in the order of primary keys.
  ///
  /// - Parameter isKept: Whether rows that have order keys keep their order.
  mutating func fillOrder(
    _ column: String, in table: String, by owner: String, _ relationship: String,
    sortedBy key: String = "Z_PK", isKept: Bool = false
  ) {
    let (name, column) = (SQLSyntax.quoted(table), SQLSyntax.quoted(column))
    let (owner, key) = (SQLSyntax.quoted(owner), SQLSyntax.quoted(key))
    let order = isKept ? "\(column) IS NULL, \(column), \(key)" : key
    let orderKey = OrderKeyAllocator.orderKeySQL(partition: owner, order: order)
    add(
      .fillColumns, "\(relationship): set order keys",
      "UPDATE \(name) SET \(column) = p.ordinal FROM (SELECT rowid AS k, \(orderKey) AS ordinal "
        + "FROM \(name) WHERE \(owner) IS NOT NULL) AS p WHERE p.k = \(name).rowid",
      rowsOf: table)
  }

  /// Returns pairs for a to-one relationship that's new as the inverse of a to-one relationship, or
  /// whose inverse continues more relationships.
  private mutating func pairs(
    for relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> KeptJoinRows? {
    guard
      formerRelationships(of: relationship, of: entity).isEmpty
        || lacksPairs(relationship, of: entity),
      let inverse = relationship.inverseRelationship, inverse !== relationship,
      let owner = inverse.entity.flatMap(destination.storedEntity),
      let pairs = keptPairs(of: inverse, of: owner)
    else { return nil }
    return pairs.inverse
  }

  /// The pairs of keys of a relationship, in a temporary table.
  struct KeptJoinRows {
    /// The table.
    let table: String
    /// The column of the owners' keys, or of the destinations' if they're those of the inverse.
    var source = "s"
    var destination = "d"
    /// The column of the order keys of the destinations; `nil` if they had none.
    var order: String?
    /// The column of the order keys of the owners, as destinations of the inverse; `nil` if they
    /// had none.
    var backOrder: String?

    /// The same pairs from the other side.
    var inverse: KeptJoinRows {
      KeptJoinRows(
        table: table, source: destination, destination: source, order: backOrder, backOrder: order)
    }
  }

  /// Copies the pairs of keys of a destination relationship's former self to a temporary table.
  ///
  /// - Returns: The table; `nil` if the relationship is new.
  mutating func keptPairs(
    of relationship: NSRelationshipDescription, of entity: SQLEntity
  ) -> KeptJoinRows? {
    let formers = formerRelationships(of: relationship, of: entity)
    let selects = formers.compactMap { pairs(of: $0.relationship, from: $0.entity) }
    guard !selects.isEmpty else { return nil }
    let name = "cdprof_pairs_\(entity.number)_\(relationship.name.hexadecimal)"
    if let known = pairTables[name] { return known }
    let purpose = "\(entity.name).\(relationship.name): save the pairs of keys"
    add(
      .keepJoinRows, purpose,
      "CREATE TEMP TABLE \(name) AS \(selects.map(\.sql).joined(separator: " UNION "))")
    for former in formers {
      let owners = invalid(former.relationship.entity, below: entity.description)
      let members = invalidDestinations(of: former.relationship, for: relationship)
      for (column, entities) in [("s", owners), ("d", members)] {
        guard let root = entities.first?.root else { continue }
        add(
          .keepJoinRows, purpose,
          "DELETE FROM temp.\(name) WHERE \(column) IN \(keys(of: entities, root))")
      }
    }
    add(.keepJoinRows, purpose, "CREATE INDEX temp.\(name)_d ON \(name) (d)")
    let kept = KeptJoinRows(
      table: "temp.\(name)", order: selects.contains(where: \.hasOrder) ? "o" : nil,
      backOrder: selects.contains(where: \.hasBackOrder) ? "b" : nil)
    pairTables[name] = kept
    return kept
  }

  /// Returns a SELECT of the pairs of keys of a source relationship, with their order keys.
  private func pairs(
    of relationship: NSRelationshipDescription, from entity: SQLEntity
  ) -> (sql: String, hasOrder: Bool, hasBackOrder: Bool)? {
    func select(
      _ source: String, _ destination: String, _ table: String, order: String?, back: String?
    ) -> (sql: String, hasOrder: Bool, hasBackOrder: Bool) {
      let (source, destination) = (SQLSyntax.quoted(source), SQLSyntax.quoted(destination))
      let orders = [order, back].map { $0.map(SQLSyntax.quoted) ?? "NULL" }
      return (
        "SELECT \(source) AS s, \(destination) AS d, \(orders[0]) AS o, \(orders[1]) AS b "
          + "FROM \(SQLSyntax.quoted(table)) "
          + "WHERE \(source) IS NOT NULL AND \(destination) IS NOT NULL",
        order != nil, back != nil
      )
    }
    if let column = entity.column(named: relationship.name) {
      return select("Z_PK", column.name, entity.table, order: nil, back: column.orderColumn)
    }
    guard let list = entity.toMany[relationship.name] else { return nil }
    switch list.storage {
    case .foreignKey(let column, let order):
      return select(column, "Z_PK", list.destination.table, order: order, back: nil)
    case .joinTable(let table, let source, let destination, let order):
      let back = relationship.inverseRelationship.flatMap { inverse in
        inverse === relationship ? nil : list.destination.toMany[inverse.name]?.orderColumn
      }
      return select(source, destination, table, order: order, back: back)
    }
  }
}

extension String {
  /// The UTF-8 bytes in hexadecimal, for a name in SQL.
  fileprivate var hexadecimal: String {
    utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
