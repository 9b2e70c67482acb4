import ManagedModel
import ProfileEvents
import SQLiteDriver

extension SQLiteStore {
  /// Inserts a row for each dictionary or object that the source returns.
  func insert(
    _ layout: EntityLayout, from source: NSBatchInsertRequest.Source, returning: Bool,
    in context: NSManagedObjectContext
  ) throws -> BatchOutcome {
    let policy = (context.mergePolicy as? NSMergePolicy)?.mergeType ?? .errorMergePolicyType
    let updates =
      policy == .overwriteMergePolicyType || policy == .mergeByPropertyObjectTrumpMergePolicyType
    var obsolete: [ExternalFile] = []
    let outcome = try batch(in: context) { connection, history in
      var outcome = BatchOutcome(store: self)
      let root = entity(layout).root
      let first = try lastKey(root, on: connection)
      var next = first
      var updated: Set<Int> = []
      try forEachRow(of: layout, in: source) { values in
        next += 1
        let files = try updates ? replaceableFiles(layout, values, on: connection) : []
        let inserted = try insert(
          layout, next, values, updates: updates, returning: returning || history != nil,
          on: connection, in: context.scope)
        if !files.isEmpty {
          obsolete += try files.subtracting(replaceableFiles(layout, values, on: connection))
        }
        outcome.count += inserted.count
        outcome.identities += inserted.identities
        if updates { updated.formUnion(values.given) }
      }
      try record(
        outcome, of: layout, after: first, updated.map { layout.slots[$0].name }, in: history)
      if next > first {
        try reserve(upTo: next, root: root, after: first, on: connection, in: context.scope)
      }
      return outcome
    }
    removeExternalData(obsolete)
    return outcome
  }

  /// Returns the external data files of the given attributes in the rows that have the constrained
  /// values of a row to insert.
  ///
  /// The insertion replaces the values of one of the rows at most. **Cost:** if such an attribute
  /// is given, a SELECT for each constraint and attribute.
  private func replaceableFiles(
    _ layout: EntityLayout, _ row: GivenValues, on connection: Connection
  ) throws -> Set<ExternalFile> {
    let names = layout.externalSlots.filter { row.given.contains($0.index) }.map(\.name)
    guard !names.isEmpty, !layout.constraints.isEmpty else { return [] }
    let entity = entity(layout)
    let columns = externalColumns(of: entity, names)
    var files: Set<ExternalFile> = []
    for constraint in layout.constraints {
      let conditions = constraint.slots.map {
        "\(SQLSyntax.quoted(entity.columns[$0].name)) = ?"
      }
      let keys =
        "SELECT Z_PK FROM \(SQLSyntax.quoted(entity.table)) "
        + "WHERE \(conditions.joined(separator: " AND "))"
      files.formUnion(
        try externalFiles(
          in: columns, of: entity, keys: keys,
          constraint.slots.map { row.values[$0].sqliteValue }, [], on: connection))
    }
    return files
  }

  /// Records rows that were inserted, and rows with an existing key, which were updated.
  private func record(
    _ outcome: BatchOutcome, of layout: EntityLayout, after first: Int64, _ updated: [String],
    in history: HistoryWriter?
  ) throws {
    guard let history else { return }
    let keys = outcome.identities.map(\.primaryKey)
    for (type, rows) in [
      (NSPersistentHistoryChangeType.insert, keys.filter { $0 > first }),
      (.update, keys.filter { $0 <= first }),
    ] where !rows.isEmpty {
      try history.record(
        type, rowsOf: entity(layout), in: "SELECT * FROM _Z_intarray0", [],
        [ContiguousArray(rows)], properties: updated)
    }
  }

  /// The values of one row by slot, and the slots that were given.
  private typealias GivenValues = (values: [RowValue], given: Set<Int>)

  private func forEachRow(
    of layout: EntityLayout, in source: NSBatchInsertRequest.Source,
    _ body: (GivenValues) throws -> Void
  ) throws {
    switch source {
    case .dictionaries(let dictionaries):
      for dictionary in dictionaries { try body(values(dictionary, layout)) }
    case .dictionaryHandler(let handler):
      while true {
        let dictionary = NSMutableDictionary()
        if handler(dictionary) { return }
        var values: [String: Any] = [:]
        for (key, value) in dictionary { values["\(key)"] = value }
        try body(self.values(values, layout))
      }
    case .managedObjectHandler(let handler):
      while true {
        let object = layout.objectClass.init(entity: layout.entity, insertInto: nil)
        if handler(object) { return }
        try body(values(of: object, layout))
      }
    }
  }

  /// Returns an object's attributes.
  ///
  /// Those that were set are given, even to the default value: the stored row may have another one.
  private func values(of object: NSManagedObject, _ layout: EntityLayout) -> GivenValues {
    let given = layout.slots.filter { slot in
      !slot.kind.isToOne && object.values?.isChanged(slot.index) == true
    }
    return (
      layout.slots.map { $0.kind.isToOne ? .null : object.rawValue($0) }, Set(given.map(\.index))
    )
  }

  private func values(
    _ dictionary: [String: Any], _ layout: EntityLayout
  ) throws -> GivenValues {
    var values = layout.slots.map { layout.defaultRow.rawValue($0) }
    var given: Set<Int> = []
    for (name, value) in try dictionary.flatMap({ try leafValues($0.key, $0.value, layout) }) {
      let slot = try attributeSlot(name, layout)
      values[slot.index] = try storedValue(value, slot, layout)
      given.insert(slot.index)
    }
    return (values, given)
  }

  /// Inserts one row; one that violates a constraint is skipped or updates the stored row.
  private func insert(
    _ layout: EntityLayout, _ key: Int64, _ row: GivenValues, updates: Bool, returning: Bool,
    on connection: Connection, in scope: ProfileScope
  ) throws -> BatchOutcome {
    let entity = entity(layout)
    let statement = statements.insert(entity)
    var sql = statement.sql
    if !layout.constraints.isEmpty {
      if updates {
        sql += upsert(layout, entity, given: row.given)
      } else {
        sql = "INSERT OR IGNORE" + sql.dropFirst("INSERT".count)
      }
    }
    let binds = statement.parameters.map { parameter -> SQLiteValue in
      switch parameter {
      case .primaryKey: .integer(key)
      case .entityNumber: .integer(Int64(entity.number))
      case .version: .integer(1)
      case .slot(let slot): row.values[slot].sqliteValue
      case .lockedVersion, .entity, .order: .null
      }
    }
    do {
      return try change(
        sql, binds, [], returning: returning, kind: .insert, entity, on: connection, in: scope)
    } catch let error as SQLiteError
      where error.code == .constraintUnique && updates && layout.constraints.count > 1
    {
      throw NSError.severalUniqueRows(of: entity.name, error.message)
    }
  }

  /// Updates a stored row that has the constrained values with the given values.
  private func upsert(
    _ layout: EntityLayout, _ entity: SQLEntity, given: Set<Int>
  ) -> String {
    layout.constraints.map { constraint in
      let target = constraint.slots.map { SQLSyntax.quoted(entity.columns[$0].name) }
      let sets = given.subtracting(constraint.slots).sorted().map { slot in
        let column = SQLSyntax.quoted(entity.columns[slot].name)
        return "\(column) = excluded.\(column)"
      }
      return " ON CONFLICT(\(target.joined(separator: ","))) DO UPDATE SET "
        + (["Z_OPT = Z_OPT+1"] + sets).joined(separator: ", ")
    }.joined()
  }

  /// Returns the last primary key of a root entity that was reserved.
  private func lastKey(_ root: SQLEntity, on connection: Connection) throws -> Int64 {
    let rows = try connection.values(
      SQLTranslator.selectMaximumKey, [.integer(Int64(root.number))])
    guard case .integer(let last)? = rows.first?.first else { return 0 }
    // How many keys are needed isn't known yet.
    guard last >= 0, last < Int64.max / 2 else { throw NSError.exhaustedKeys(of: root.name, last) }
    return last
  }

  /// Writes the reservation of primary keys.
  private func reserve(
    upTo key: Int64, root: SQLEntity, after last: Int64, on connection: Connection,
    in scope: ProfileScope
  ) throws {
    let changed = try change(
      SQLTranslator.reserveKeys,
      [.integer(key), .integer(Int64(root.number)), .integer(last)], kind: .housekeeping,
      on: connection, in: scope)
    guard changed == 1 else { throw NSError.noMaximumKey(of: root.name) }
  }
}
