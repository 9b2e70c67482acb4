import ManagedModel
import SQLiteDriver

// Entity IDs in Z_PRIMARYKEY and in the history.

extension LightweightMigrationPlan {
  /// Updates `Z_PRIMARYKEY` and the history to the new entity IDs.
  mutating func renumberEntities() {
    if !keepsNumbers { replacePrimaryKeyTable() }
    // The history has no deferred work.
    guard hasHistory, !cleanup.isFinishing else { return }
    migrateHistory()
  }

  private var hasHistory: Bool { file.tables["ACHANGE"] != nil }

  /// The attributes whose values are in the history's columns after the migration, by entity; `nil`
  /// if there are none.
  var preservedAttributes: [String: [String]]? {
    guard hasHistory else { return nil }
    let preserved = HistoryTables.preserved(by: destination.entities.map(\.description))
    return preserved.isEmpty ? nil : preserved
  }

  /// Adds the checks that entities which became abstract have no rows of their own.
  mutating func addChecksOfAbstractEntities() {
    for entity in destination.entities where entity.description.isAbstract {
      guard let former = formerEntity(of: entity), !former.description.isAbstract else { continue }
      add(
        MigrationStatements.Check(
          sql: "SELECT COUNT(*) FROM \(SQLSyntax.quoted(entity.table)) "
            + "WHERE Z_ENT = \(entity.number)",
          entity: entity.name, property: "", problem: .abstractEntity))
    }
  }

  /// Whether `Z_PRIMARYKEY` is the same for both versions.
  private var keepsNumbers: Bool {
    let rows = file.entities.filter { $0.number < FileSchema.firstHistoryEntity }
    guard rows.count == destination.entities.count else { return false }
    return zip(rows.sorted { $0.number < $1.number }, destination.entities).allSatisfy {
      row, entity in
      row.number == entity.number && row.superNumber == entity.superentity?.number ?? 0
        && formerEntity(of: entity)?.number == row.number && canKeep(row.name, for: entity)
    }
  }

  /// Returns whether a name in `Z_PRIMARYKEY` can stay that of an entity: no other entity has it
  /// now, as its name or as its renaming identifier, by which its row is found, too.
  private func canKeep(_ name: String, for entity: SQLEntity) -> Bool {
    name == entity.name
      || !destination.entities.contains { other in
        other.name == name
          || other !== entity && other.description.explicitRenamingIdentifier == name
      }
  }

  /// Replaces the rows of the model's entities in `Z_PRIMARYKEY`.
  ///
  /// As in Core Data, the row of a renamed entity keeps the former name, unless another entity has
  /// that name or renaming identifier now.
  private mutating func replacePrimaryKeyTable() {
    let table = HousekeepingTables.entities
    add(
      .housekeeping, "negate the entity IDs",
      "UPDATE \(table) SET Z_ENT = -Z_ENT WHERE Z_ENT BETWEEN 1 AND "
        + "\(FileSchema.firstHistoryEntity - 1)")
    for entity in destination.entities {
      let former = formerEntity(of: entity)
      let counted =
        entity.superentity == nil
        ? entity.family.compactMap(formerEntity).first?.root.family ?? []
        : former.map { [$0] } ?? []
      let numbers = counted.map { "-\($0.number)" }.joined(separator: ", ")
      let kept = former.flatMap { former in
        file.entities.first { $0.number == former.number && canKeep($0.name, for: entity) }
      }
      add(
        .housekeeping, "\(entity.name): set the entity ID",
        "INSERT INTO \(table)(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, "
          + "IFNULL((SELECT Z_NAME FROM \(table) WHERE Z_ENT = ?), ?), ?, "
          + "IFNULL((SELECT MAX(Z_MAX) FROM \(table) WHERE Z_ENT IN (\(numbers))), 0))",
        [
          .integer(Int64(entity.number)), .integer(Int64(-(kept?.number ?? 0))),
          .text(entity.name), .integer(Int64(entity.superentity?.number ?? 0)),
        ])
    }
    add(.housekeeping, "remove the former entity IDs", "DELETE FROM \(table) WHERE Z_ENT < 0")
  }

  /// Updates the entity IDs, the bits of changed properties, and the preserved values in the
  /// history.
  ///
  /// Changes of removed entities are removed; transactions stay.
  private mutating func migrateHistory() {
    let removed = source.entities.filter { laterEntity(of: $0) == nil }
    if !removed.isEmpty {
      add(
        .housekeeping, "remove the history of removed entities",
        "DELETE FROM ACHANGE WHERE ZENTITY IN (\(Self.list(removed)))")
    }
    let (known, wanted) = (
      file.tables["ACHANGE"]?.columns.count { $0.name.uppercased().hasPrefix("ZTOMBSTONE") } ?? 0,
      destination.entities.map { $0.description.preservedAttributes.count }.max() ?? 0
    )
    for number in known..<max(known, wanted) {
      add(
        .housekeeping, "add columns to the history",
        "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number)")
    }
    for entity in destination.entities {
      guard let former = formerEntity(of: entity) else { continue }
      migrateTombstones(of: entity, former, columns: max(known, wanted))
      migrateBits(of: entity, former)
    }
    let changed = changedNumbers(of: nil)
    if let numbers = renumbered("ZENTITY", of: nil) {
      let list = changed.map { "\($0.old)" }.joined(separator: ", ")
      add(
        .housekeeping, "set entity IDs in the history",
        "UPDATE ACHANGE SET ZENTITY = \(numbers) WHERE ZENTITY IN (\(list))")
    }
  }

  private mutating func migrateTombstones(
    of entity: SQLEntity, _ former: SQLEntity, columns: Int
  ) {
    let listed =
      metadata.values[StoreMetadata.preservedAttributesKey] as? [String: [String]] ?? [:]
    let before = listed[former.name] ?? former.description.preservedAttributes.map(\.name)
    let attributes = entity.description.preservedAttributes
    let after = attributes.map { formerName(of: $0.name, in: entity) }
    // As in rows, values get the marker of external storage that's turned on.
    let marked = zip(attributes, after).map { attribute, name in
      let source = name.flatMap { former.column(named: $0)?.property as? NSAttributeDescription }
      return attribute.hasExternalValues && source?.hasExternalValues == false
    }
    guard after != before.map(Optional.some) || marked.contains(true) else { return }
    let values = (0..<columns).map { index -> String in
      let name = after.indices.contains(index) ? after[index] : nil
      guard let source = name.flatMap({ before.firstIndex(of: $0) }) else {
        return "ZTOMBSTONE\(index) = NULL"
      }
      let value = "ZTOMBSTONE\(source)"
      return "ZTOMBSTONE\(index) = " + (marked[index] ? "CAST(x'01' || \(value) AS BLOB)" : value)
    }
    guard !values.isEmpty else { return }
    add(
      .housekeeping, "\(entity.name): move preserved values of the history",
      "UPDATE ACHANGE SET \(values.joined(separator: ", ")) WHERE ZENTITY = \(former.number)")
  }

  private mutating func migrateBits(of entity: SQLEntity, _ former: SQLEntity) {
    let before = former.description.historyProperties.map(\.name)
    let after = entity.description.historyProperties.map { formerName(of: $0.name, in: entity) }
    guard after != before.map(Optional.some) else { return }
    let positions = after.map { name in name.flatMap { before.firstIndex(of: $0) } ?? -1 }
    add(
      .housekeeping, "\(entity.name): move the changed properties of the history",
      "UPDATE ACHANGE SET ZCOLUMNS = \(HistoryBits.function)(ZCOLUMNS, ?) "
        + "WHERE ZENTITY = \(former.number) AND ZCOLUMNS IS NOT NULL",
      [.text(positions.map(String.init).joined(separator: " "))])
  }
}

/// Moves the bits of `ZCOLUMNS`, one for each stored property, to their new positions.
enum HistoryBits {
  static let function = "NSCoreDataMigratedColumns"

  /// Registers the SQL function.
  ///
  /// Its arguments are the bits and, for each new position, the former position or -1.
  static func register(on connection: Connection) throws(SQLiteError) {
    try connection.createFunction(function, argumentCount: 2, deterministic: true) { arguments in
      guard case .blob(let bits) = arguments[0], case .text(let list) = arguments[1] else {
        return .null
      }
      return .blob(moved(bits, to: list.split(separator: " ").compactMap { Int($0) }))
    }
  }

  static func moved(_ bits: [UInt8], to positions: [Int]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: (positions.count + 7) / 8)
    for (index, position) in positions.enumerated() where position >= 0 && position / 8 < bits.count
    {
      if bits[position / 8] & (1 << UInt8(position % 8)) != 0 {
        result[index / 8] |= 1 << UInt8(index % 8)
      }
    }
    return result
  }
}

// External data files of values that the new version doesn't have.

extension LightweightMigrationPlan {
  /// Returns the external data files to which only removed values refer.
  ///
  /// They can be removed after the migration. **Cost:** one SELECT for each attribute with external
  /// storage that is removed, or whose objects are.
  /// - Parameter connection: A connection to the file before the migration.
  func lostFiles(on connection: Connection) throws -> [ExternalFile] {
    var files: [ExternalFile] = []
    for entity in source.entities {
      for column in entity.ownColumns where column.property.isExternal {
        let losers = entity.family.filter { !keeps(column.property.name, of: $0) }
        guard !losers.isEmpty else { continue }
        let name = SQLSyntax.quoted(column.name)
        let statement = try connection.statement(
          "SELECT \(name) FROM \(SQLSyntax.quoted(entity.table)) "
            + "WHERE substr(\(name), 1, 1) = x'02' AND Z_ENT IN (\(Self.list(losers)))")
        defer { statement.reset() }
        while try statement.step() {
          if case .blob(let bytes) = statement.value(0),
            let file = ExternalFile(reference: Data(bytes))
          {
            files.append(file)
          }
        }
      }
    }
    return files
  }

  /// Returns whether the objects of a source entity have an attribute's values after the migration.
  private func keeps(_ name: String, of entity: SQLEntity) -> Bool {
    guard let later = laterEntity(of: entity) else { return false }
    return later.columns.contains { formerName(of: $0.property.name, in: later) == name }
  }
}

extension NSPropertyDescription {
  fileprivate var isExternal: Bool {
    (self as? NSAttributeDescription)?.hasExternalValues ?? false
  }
}

// MARK: Entity IDs

extension LightweightMigrationPlan {
  /// Returns the entity IDs that change in a family, or in the store, with the new ones.
  func changedNumbers(of root: SQLEntity?) -> [(old: Int, new: Int)] {
    if newNumbers.isEmpty { return [] }
    return (root?.family ?? source.entities).compactMap { entity in
      newNumbers[entity.number].map { (entity.number, $0) }
    }
  }

  /// Returns an expression with new entity IDs for old ones; `nil` if none of an entity's family
  /// changes.
  ///
  /// - Parameter column: The quoted column with the old IDs.
  func renumbered(_ column: String, of root: SQLEntity?) -> String? {
    let changed = changedNumbers(of: root)
    guard !changed.isEmpty else { return nil }
    let cases = changed.map { " WHEN \($0.old) THEN \($0.new)" }.joined()
    return "CASE \(column)\(cases) ELSE \(column) END"
  }
}
