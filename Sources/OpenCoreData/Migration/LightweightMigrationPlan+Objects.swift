import ManagedModel
import SQLiteDriver

// Indexes, triggers, R-trees, and tables that the new version doesn't have, or has in addition.

extension LightweightMigrationPlan {
  /// Drops all triggers that stores have, and the R-trees and indexes that aren't kept.
  mutating func removeObjects() {
    for trigger in objects.triggers where isOfStore(trigger) {
      add(
        .removeObjects, "drop the trigger \(trigger.name)",
        "DROP TRIGGER \(SQLSyntax.quoted(trigger.name))")
    }
    let kept = Set(keptRangeIndexes.map { $0.name.uppercased() })
    for name in objects.rangeTables
    where name.uppercased().hasPrefix("Z_RT_") && !kept.contains(name.uppercased()) {
      add(.removeObjects, "drop the R-tree \(name)", "DROP TABLE \(SQLSyntax.quoted(name))")
    }
    let staying = keptIndexes
    let names = Set(requiredIndexes.map { $0.name.uppercased() })
    for index in objects.indexes where isOfStore(index) && !staying.contains(index.name) {
      guard let table = altered[index.table.uppercased()]?.name else {
        // The index of a table that stays without being used may have the name of a new one.
        if cleanup == .later, names.contains(index.name.uppercased()) {
          add(
            .removeObjects, "drop the index \(index.name)",
            "DROP INDEX IF EXISTS \(SQLSyntax.quoted(index.name))")
        }
        continue
      }
      // A unique index would reject values, and another index may get the name.
      if !index.isUnique, !names.contains(index.name.uppercased()), !cleansUp(table) {
        deferred.add(index: index.name, of: table)
        continue
      }
      add(
        .removeObjects, "drop the index \(index.name)",
        "DROP INDEX \(SQLSyntax.quoted(index.name))")
    }
  }

  /// Returns whether a trigger is one that Core Data or OpenCoreData creates.
  func isOfStore(_ trigger: FileObjects.Trigger) -> Bool { trigger.name.hasPrefix("Z_") }

  /// Returns whether an index is one that Core Data or OpenCoreData creates, so that a new version
  /// can be without it: by its name or columns, or because it's a copy of such an index.
  func isOfStore(_ index: FileObjects.Index) -> Bool {
    !index.isConstraint
      && (isKnown(index) || objects.indexes.contains { isKnown($0) && $0.isCopy(of: index) })
  }

  private func isKnown(_ index: FileObjects.Index) -> Bool {
    index.name.hasPrefix("Z") && index.name.contains("_") || pending.indexes.contains(index.name)
      || sourceSchema.indexes.contains {
        $0.table.uppercased() == index.table.uppercased() && index.matches($0, renaming: [:])
      }
  }

  /// The names of the file's indexes that the new version has too.
  private var keptIndexes: Set<String> {
    Set(pairedIndexes.compactMap { $0.existing?.name })
  }

  /// The indexes of the new version, each with the one in the file that already is that index.
  private var pairedIndexes: [(required: SchemaIndex, existing: FileObjects.Index?)] {
    // By the table's new name; of those with the same content, the first one is the last.
    var existing: [String: [IndexContent: [FileObjects.Index]]] = [:]
    for index in objects.indexes.reversed() {
      guard let table = altered[index.table.uppercased()] else { continue }
      let content = IndexContent(index, renaming: table.newNames)
      existing[table.name.uppercased(), default: [:]][content, default: []].append(index)
    }
    return requiredIndexes.map { required in
      (required, existing[required.table.uppercased()]?[IndexContent(required)]?.popLast())
    }
  }

  /// Creates the indexes that the file doesn't have.
  ///
  /// One whose name an index has that stays in the file gets a number.
  mutating func createIndexes() {
    let pairs = pairedIndexes
    var names = ClaimedNames(
      pairs.compactMap { $0.existing?.name }
        + objects.indexes.filter { !isOfStore($0) && !$0.isConstraint }.map(\.name))
    for (required, existing) in pairs where existing == nil {
      let index = required.named(names.take(required.name))
      add(.createIndexes, "create the index \(index.name)", index.sql, rowsOf: index.table)
    }
    restoreIndexes()
  }

  /// The tables of the new version's entities, in uppercase.
  var entityTables: Set<String> { Set(destination.entities.map { $0.table.uppercased() }) }

  /// Drops tables that an earlier migration left in the file and whose names are needed now.
  mutating func dropReplacedTables() {
    let names = entityTables.union(joins.map { $0.table.uppercased() })
    for table in pending.tables where file.tables[table.uppercased()] != nil {
      if names.contains(table.uppercased()) {
        add(
          .removeObjects, "drop the unused table \(table)", "DROP TABLE \(SQLSyntax.quoted(table))")
      } else if cleanup == .now {
        add(.dropTables, "drop the unused table \(table)", "DROP TABLE \(SQLSyntax.quoted(table))")
      } else {
        deferred.tables.append(table)
      }
    }
  }

  /// Drops the tables that were copied, and those of removed entities and relationships.
  mutating func dropTables() {
    let names = entityTables
    for root in source.roots where !keptRoots.contains(ObjectIdentifier(root)) {
      var name = root.table
      if heirs[ObjectIdentifier(root)] != nil {
        name = sourceName(of: root)
      } else if names.contains(root.table.uppercased()) {
        name = Self.temporaryName(of: root.table)
        add(
          .renameTables, "\(root.name): rename the old table",
          "ALTER TABLE \(SQLSyntax.quoted(root.table)) RENAME TO \(SQLSyntax.quoted(name))")
      } else if cleanup == .later {
        deferred.tables.append(name)
        continue
      }
      add(.dropTables, "\(root.name): drop the old table", "DROP TABLE \(SQLSyntax.quoted(name))")
    }
    dropJoinTables()
  }

  private mutating func dropJoinTables() {
    let names = Set(joins.map { $0.table.uppercased() })
    let kept = Set(joins.filter(\.isKept).compactMap { $0.former?.table })
    let copied = Set(joins.compactMap { $0.former?.table })
    var seen: Set<String> = []
    for list in sourceSchema.declaredToMany {
      guard case .joinTable(let table, _, _, _) = list.storage, seen.insert(table).inserted,
        !kept.contains(table)
      else { continue }
      var name = table
      if names.contains(table.uppercased()) {
        name = Self.temporaryName(of: table)
        if !copied.contains(table) {
          add(
            .renameTables, "\(list.relationship): rename the old join table",
            "ALTER TABLE \(SQLSyntax.quoted(table)) RENAME TO \(SQLSyntax.quoted(name))")
        }
      } else if cleanup == .later {
        deferred.tables.append(name)
        continue
      }
      add(
        .dropTables, "\(list.relationship): drop the old join table",
        "DROP TABLE \(SQLSyntax.quoted(name))")
    }
  }

  // MARK: Derived attributes and R-trees

  /// The R-trees that both versions have and whose rows don't change.
  private var keptRangeIndexes: [RangeIndex] {
    let before = Set(sourceSchema.rangeIndexes)
    return destinationSchema.rangeIndexes.filter { index in
      guard before.contains(index),
        objects.rangeTables.contains(where: { $0.uppercased() == index.name.uppercased() }),
        let table = tables.first(where: { $0.root.table == index.table })
      else { return false }
      return table.keepsValues(of: index.columns)
        && table.source?.table.uppercased() == index.table.uppercased()
        && !fillsComposites(in: index.columns, of: index.table)
    }
  }

  /// Creates triggers and R-trees, and computes the values of derived attributes.
  mutating func createTriggers() {
    let kept = Set(keptRangeIndexes)
    for index in destinationSchema.rangeIndexes {
      for (number, statement) in index.statements.enumerated()
      where number > 0 || !kept.contains(index) {
        add(.createTriggers, "create the R-tree \(index.name)", statement)
      }
      if !kept.contains(index) {
        add(
          .createTriggers, "fill the R-tree \(index.name)", index.fillStatement,
          rowsOf: index.table)
      }
    }
    // Only columns and indexes change if deferred work is finished.
    for column in cleanup.isFinishing ? [] : destinationSchema.derivedColumns {
      let table = SQLSyntax.quoted(column.entity.table)
      guard let value = column.value(of: table) else { continue }
      let name = SQLSyntax.quoted(column.column)
      add(
        .fillColumns, "\(column.entity.name).\(column.name): compute values",
        "UPDATE \(table) SET \(name) = \(value) "
          + "WHERE Z_ENT IN (\(Self.list(column.entity.family))) AND \(name) IS NOT \(value)",
        rowsOf: column.entity.table)
    }
    for statement in destinationSchema.triggers {
      add(.createTriggers, "create a trigger of a derived attribute", statement)
    }
    restoreTriggers()
  }
}

extension RangeIndex {
  /// The statement that inserts the rows of the table.
  var fillStatement: String {
    let quoted = columns.map(SQLSyntax.quoted)
    let values = (["Z_PK"] + quoted.flatMap { [$0, $0] }).joined(separator: ", ")
    let present = quoted.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    return "INSERT INTO \(SQLSyntax.quoted(name)) SELECT \(values) FROM \(SQLSyntax.quoted(table)) "
      + "WHERE \(present)"
  }
}
