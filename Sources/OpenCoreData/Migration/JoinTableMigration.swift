import ManagedModel
import SQLiteDriver

/// What becomes of the table of a destination many-to-many relationship.
struct JoinTableMigration {
  /// The relationship that names the table.
  let relationship: SQLToMany
  let entity: SQLEntity
  let table: String
  /// The column with the keys of the relationship's owners.
  let ownColumn: String
  /// The column with the keys of its destinations.
  let otherColumn: String
  /// The column of the order keys of owners, as destinations of the inverse; `nil` if it isn't
  /// ordered.
  let backOrderColumn: String?
  /// The source table that becomes this one; `nil` if a new one is created.
  let former: (table: String, ownColumn: String, otherColumn: String, orders: [String: String])?
  /// Whether the source table is kept, with new names.
  let isKept: Bool

  /// The new names of columns, by their uppercase old names; for a table that's kept.
  var newNames: [String: String] { isKept ? keptNames : [:] }

  /// The names of all columns that stay, by their uppercase old names.
  var keptNames: [String: String] {
    guard let former else { return [:] }
    var names = [
      former.ownColumn.uppercased(): ownColumn, former.otherColumn.uppercased(): otherColumn,
    ]
    for (column, old) in former.orders { names[old.uppercased()] = column }
    return names
  }
}

extension LightweightMigrationPlan {
  /// Decides what becomes of each join table.
  mutating func joinTableMigrations() -> [JoinTableMigration] {
    var seen: Set<String> = []
    var taken: Set<String> = []
    let firstKeys = Dictionary(
      destinationSchema.joinTables.map { ($0.index.table, $0.index.parts.last?.column) },
      uniquingKeysWith: { first, _ in first })
    return destinationSchema.declaredToMany.compactMap { list in
      guard case .joinTable(let table, let own, let other, let order) = list.storage,
        seen.insert(table).inserted,
        let entity = list.relationship.entity.flatMap(destination.storedEntity)
      else { return nil }
      let back = list.relationship.inverseRelationship.flatMap {
        $0 === list.relationship ? nil : list.destination.toMany[$0.name]
      }
      let orders = [back?.orderColumn, order].compactMap { $0 }
      let former = formerJoinTable(of: list, of: entity)
      var isKept = false
      var sources: [String: String] = [:]
      if let former {
        if let order, let old = former.order { sources[order] = old }
        if let order = back?.orderColumn, let old = former.backOrder { sources[order] = old }
        let all = [former.own, former.other] + [former.order, former.backOrder].compactMap { $0 }
        let unused = unusedColumns(of: former.table, besides: all, sources.values)
        let firstKey = firstKeys[table] == own ? former.own : former.other
        let isCurrent = unused.isEmpty && isFirstKey(firstKey, of: former.table)
        isKept =
          taken.insert(former.table).inserted && sources.count == orders.count
          && (isCurrent || !cleansUp(table))
          && unused.isDisjoint(with: ([own, other] + orders).map { $0.uppercased() })
          && !areSwapped(old: [former.own, former.other], new: [own, other])
        if isKept, !isCurrent { deferred.addChanged(table) }
      }
      return JoinTableMigration(
        relationship: list, entity: entity, table: table, ownColumn: own, otherColumn: other,
        backOrderColumn: back?.orderColumn,
        former: former.map { ($0.table, $0.own, $0.other, sources) }, isKept: isKept)
    }
  }

  /// Returns the columns of a source join table that the new one doesn't have, in uppercase.
  ///
  /// - Parameters:
  ///   - known: The columns of keys and order keys.
  ///   - orders: The columns of order keys that stay.
  private func unusedColumns(
    of table: String, besides known: [String], _ orders: some Sequence<String>
  ) -> Set<String> {
    var columns = Set(known.dropFirst(2).map { $0.uppercased() })
    if pending.hasChanged(table) {
      let all = file.tables[table.uppercased()]?.columns.map { $0.name.uppercased() } ?? []
      columns = Set(all).subtracting(known.prefix(2).map { $0.uppercased() })
    }
    return columns.subtracting(orders.map { $0.uppercased() })
  }

  /// Returns whether a column is the first one of a source join table.
  ///
  /// The primary key finds rows by this column, and the index by the other one. If the order
  /// changes, a renamed table would have the same index twice, and none for one direction.
  private func isFirstKey(_ column: String, of table: String) -> Bool {
    let first = file.tables[table.uppercased()]?.columns.first
    return first.map { $0.name.uppercased() == column.uppercased() } ?? true
  }

  private func areSwapped(old: [String], new: [String]) -> Bool {
    let (old, new) = (old.map { $0.uppercased() }, new.map { $0.uppercased() })
    return old != new && (old[0] == new[1] || old[1] == new[0])
  }

  /// Returns the join table of a relationship's former self, seen from that relationship; `nil` if
  /// there's none, or several become one.
  private func formerJoinTable(
    of list: SQLToMany, of entity: SQLEntity
  ) -> (table: String, own: String, other: String, order: String?, backOrder: String?)? {
    func found(
      _ relationship: NSRelationshipDescription, _ entity: SQLEntity
    ) -> (table: String, own: String, other: String, order: String?, backOrder: String?)? {
      let formers = formerRelationships(of: relationship, of: entity)
      guard formers.count == 1, let former = formers.first,
        let storage = former.entity.toMany[former.relationship.name],
        case .joinTable(let table, let own, let other, let order) = storage.storage
      else { return nil }
      let back = former.relationship.inverseRelationship.flatMap {
        $0 === former.relationship ? nil : storage.destination.toMany[$0.name]?.orderColumn
      }
      return (table, own, other, order, back)
    }
    guard !lacksPairs(list.relationship, of: entity) else { return nil }
    if let inverse = list.relationship.inverseRelationship,
      lacksPairs(inverse, of: list.destination)
    {
      return nil
    }
    if let table = found(list.relationship, entity) { return table }
    guard let inverse = list.relationship.inverseRelationship,
      let back = found(inverse, list.destination)
    else { return nil }
    return (back.table, back.other, back.own, back.backOrder, back.order)
  }

  /// Creates, renames, and fills join tables.
  mutating func migrateJoinTables() {
    let names = Set(joins.map { $0.table.uppercased() })
    let creations = Dictionary(
      zip(joins.map(\.table), destinationSchema.joinTables.map(\.table)),
      uniquingKeysWith: { first, _ in first })
    for join in joins {
      let purpose = "\(join.entity.name).\(join.relationship.relationship.name)"
      if join.isKept, let former = join.former {
        rename(former.table, to: join, names, purpose)
        continue
      }
      add(.joinTables, "\(purpose): create the join table", creations[join.table] ?? "")
      fill(join, purpose, names)
    }
  }

  private mutating func rename(
    _ table: String, to join: JoinTableMigration, _ names: Set<String>, _ purpose: String
  ) {
    var current = table
    if table.uppercased() != join.table.uppercased() {
      if names.contains(table.uppercased()) {
        current = Self.temporaryName(of: table)
        add(
          .renameTables, "\(purpose): rename the old join table",
          "ALTER TABLE \(SQLSyntax.quoted(table)) RENAME TO \(SQLSyntax.quoted(current))")
      }
      add(
        .joinTables, "\(purpose): rename the join table",
        "ALTER TABLE \(SQLSyntax.quoted(current)) RENAME TO \(SQLSyntax.quoted(join.table))")
    }
    for (old, new) in join.newNames.sorted(by: { $0.key < $1.key }) where old != new.uppercased() {
      add(
        .joinTables, "\(purpose): rename \(old) to \(new)",
        "ALTER TABLE \(SQLSyntax.quoted(join.table)) RENAME COLUMN \(SQLSyntax.quoted(old)) TO "
          + SQLSyntax.quoted(new))
    }
  }

  private mutating func fill(
    _ join: JoinTableMigration, _ purpose: String, _ names: Set<String>
  ) {
    let own = SQLSyntax.quoted(join.ownColumn)
    let other = SQLSyntax.quoted(join.otherColumn)
    let table = SQLSyntax.quoted(join.table)
    var known = join.former.map { Set($0.orders.keys) } ?? []
    if let former = join.former {
      // Another table may get its name.
      let isReplaced = names.contains(former.table.uppercased())
      let current = isReplaced ? Self.temporaryName(of: former.table) : former.table
      if isReplaced {
        add(
          .renameTables, "\(purpose): rename the old join table",
          "ALTER TABLE \(SQLSyntax.quoted(former.table)) RENAME TO \(SQLSyntax.quoted(current))")
      }
      let orders = former.orders.sorted { $0.key < $1.key }
      let columns = [own, other] + orders.map { SQLSyntax.quoted($0.key) }
      let values = [former.ownColumn, former.otherColumn] + orders.map(\.value)
      add(
        .joinTables, "\(purpose): copy the pairs",
        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
          + "SELECT \(values.map(SQLSyntax.quoted).joined(separator: ", ")) "
          + "FROM \(SQLSyntax.quoted(current))", rowsOf: current)
    } else {
      guard let pairs = self.pairs(of: join) else {
        emptyJoinTables.insert(join.table)
        return
      }
      var columns = [own, other]
      var values = [pairs.source, pairs.destination]
      for (column, value) in [
        (join.relationship.orderColumn, pairs.order), (join.backOrderColumn, pairs.backOrder),
      ] {
        guard let column, let value else { continue }
        columns.append(SQLSyntax.quoted(column))
        values.append(value)
        known.insert(column)
      }
      add(
        .joinTables, "\(purpose): insert the pairs",
        "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) "
          + "SELECT \(values.joined(separator: ", ")) FROM \(pairs.table)",
        rowsOf: pairs.table)
    }
    for order in [join.backOrderColumn, join.relationship.orderColumn].compactMap({ $0 })
    where isReordered(join) || !known.contains(order) {
      let isOwn = order == join.relationship.orderColumn
      fillOrder(
        order, in: join.table, by: isOwn ? join.ownColumn : join.otherColumn, purpose,
        sortedBy: isOwn ? join.otherColumn : join.ownColumn, isKept: known.contains(order))
    }
  }

  /// Returns the pairs of keys of a join table that isn't continued by this one alone.
  private mutating func pairs(of join: JoinTableMigration) -> KeptJoinRows? {
    let relationship = join.relationship.relationship
    if !lacksPairs(relationship, of: join.entity),
      let pairs = keptPairs(of: relationship, of: join.entity)
    {
      return pairs
    }
    return relationship.inverseRelationship.flatMap {
      keptPairs(of: $0, of: join.relationship.destination)?.inverse
    }
  }

  /// Returns whether the pairs are of several relationships, whose order keys can be the same.
  private func isReordered(_ join: JoinTableMigration) -> Bool {
    let relationship = join.relationship.relationship
    let inverse = relationship.inverseRelationship
    return continuesSeveral(relationship, of: join.entity)
      || inverse.map { continuesSeveral($0, of: join.relationship.destination) } ?? false
  }
}
