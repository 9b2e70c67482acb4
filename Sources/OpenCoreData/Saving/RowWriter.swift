import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Writes the rows of one save, each with one statement whose values are bound directly from the
/// row that the object gets.
///
/// Lives as long as the transaction. Consecutive objects with the same columns use one prepared
/// statement, looked up once. Rows with an unexpected version are collected; `finish` throws them.
final class RowWriter {
  private let store: SQLiteStore
  private let connection: Connection
  private let external: ExternalWrites
  private let scope: ProfileScope
  @exclusivity(unchecked) private var inserting: Prepared?
  private var updating: (slots: [Int], prepared: Prepared)?
  private var deleting: Prepared?
  private var changed: [NSManagedObject] = []
  @exclusivity(unchecked) private var insertedRows: [Row] = []
  private var updatedRows: [Row] = []
  /// The order keys of ordered relationships; those that are written with a row are taken from
  /// here.
  var orderKeys = OrderKeyChanges()

  /// A prepared statement for the objects of one entity.
  ///
  /// Strings and data stay bound to the rows' memory, so it must be released before them.
  private final class Prepared {
    let layout: EntityLayout
    let entity: SQLEntity
    let shape: RowStatement
    let statement: Statement
    @exclusivity(unchecked) var builder: RowBuilder

    init(_ layout: EntityLayout, _ entity: SQLEntity, _ shape: RowStatement, _ on: Connection)
      throws
    {
      self.layout = layout
      self.entity = entity
      self.shape = shape
      statement = try on.statement(shape.sql)
      builder = RowBuilder(layout: layout)
    }

    deinit {
      statement.reset()
    }
  }

  init(
    _ store: SQLiteStore, _ connection: Connection, _ external: ExternalWrites,
    _ scope: ProfileScope
  ) {
    self.store = store
    self.external = external
    self.connection = connection
    self.scope = scope
  }

  deinit {
    (inserting, updating, deleting) = (nil, nil, nil)
    for row in takeRows() { row.release() }
  }

  /// Returns the rows of the written objects, inserted ones first, each retained for the caller.
  func takeRows() -> [Row] {
    defer { (insertedRows, updatedRows) = ([], []) }
    return insertedRows + updatedRows
  }

  /// Inserts the row of a new object.
  func insert(_ object: NSManagedObject) throws {
    let prepared = try insertion(object)
    let row = prepared.builder.row(of: object)
    insertedRows.append(row)
    try run(prepared, object, row, kind: .insert)
  }

  /// Updates a row, or reinserts one that is to be restored.
  func update(_ object: NSManagedObject) throws {
    if object.state.contains(.restored) {
      let prepared = try insertion(object)
      let row = prepared.builder.row(of: object)
      updatedRows.append(row)
      guard try !exists(object) else { return changed.append(object) }
      try run(prepared, object, row, kind: .insert)
      return
    }
    let slots =
      object.state.contains(.overwritten)
      ? Array(object.layout.slots.indices) : object.changedSlotIndices()
    let prepared: Prepared
    if let updating, updating.prepared.layout === object.layout, updating.slots == slots,
      !object.state.contains(.overwritten)
    {
      prepared = updating.prepared
    } else {
      updating = nil
      let entity = store.entity(object.layout)
      prepared = try Prepared(
        object.layout, entity,
        store.statements.update(entity, slots: slots, moved: object.changedSlotIndices()),
        connection)
      updating = (slots, prepared)
    }
    let row = prepared.builder.row(of: object)
    updatedRows.append(row)
    if try run(prepared, object, row, kind: .update) != 1 { changed.append(object) }
  }

  /// Deletes a row and its join rows; ignores one that no longer exists.
  func delete(_ object: NSManagedObject) throws {
    let entity = store.entity(object.layout)
    for relationship in entity.toMany.values {
      if let sql = store.translator.deleteJoinRows(relationship) {
        try store.change(
          sql, [.integer(object.primaryKey)], kind: .delete, for: entity.name, on: connection,
          in: scope)
      }
    }
    let prepared: Prepared
    if let deleting, deleting.layout === object.layout {
      prepared = deleting
    } else {
      deleting = nil
      prepared = try Prepared(object.layout, entity, store.statements.delete(entity), connection)
      deleting = prepared
    }
    let count = try run(prepared, object, object.row, kind: .delete)
    if count != 1, try exists(object) { changed.append(object) }
  }

  /// Compares the version of a row that isn't written.
  func check(_ object: NSManagedObject) throws {
    if try version(of: object) != object.row.version { changed.append(object) }
  }

  /// Sets the unique values that an object no longer has to `nil`, so that others can use them.
  func releaseUniqueValues(of object: NSManagedObject) throws {
    let given = Set(object.changedSlotIndices())
    let entity = store.entity(object.layout)
    for constraint in object.layout.constraints where !given.isDisjoint(with: constraint.slots) {
      let sets = constraint.slots.filter(given.contains).map {
        "\(SQLSyntax.quoted(entity.columns[$0].name)) = NULL"
      }
      try store.change(
        "UPDATE \(SQLSyntax.quoted(entity.table)) SET \(sets.joined(separator: ", "))"
          + " WHERE Z_PK=? AND Z_OPT=?",
        [.integer(object.primaryKey), .integer(object.row.version)], kind: .update,
        for: entity.name, on: connection, in: scope)
    }
  }

  /// Throws the objects whose rows have changed.
  func finish() throws {
    if !changed.isEmpty { throw ChangedRows(objects: changed) }
  }

  /// Returns the INSERT for an object's entity.
  private func insertion(_ object: NSManagedObject) throws -> Prepared {
    if let inserting, inserting.layout === object.layout { return inserting }
    // First, because the text may be the same.
    inserting = nil
    let entity = store.entity(object.layout)
    let prepared = try Prepared(
      object.layout, entity, store.statements.insert(entity), connection)
    inserting = prepared
    return prepared
  }

  private func exists(_ object: NSManagedObject) throws -> Bool {
    try version(of: object) != nil
  }

  private func version(of object: NSManagedObject) throws -> Int64? {
    let entity = store.entity(object.layout)
    let query = store.translator.version(entity, object.primaryKey)
    var found: Int64?
    try store.select(query, on: connection, for: entity.name, in: scope) { found = $0.int64(0) }
    return found
  }

  /// Binds, runs, counts, and reports one statement.
  ///
  /// - Parameter row: The values to write, which must stay valid until the save is finished.
  /// - Returns: The number of rows changed.
  @discardableResult
  private func run(
    _ prepared: Prepared, _ object: NSManagedObject, _ row: Row, kind: StatementKind
  ) throws -> Int {
    let statement = prepared.statement
    let event = scope.begin(.statement)
    let before = event == nil ? nil : scope.work(of: statement)
    defer {
      statement.rewind()
      store.count(kind, in: scope)
      scope.end(event) { event in
        event.entity = prepared.entity.name
        event.setStatement(
          kind, sql: prepared.shape.sql,
          binds: store.texts(of: binds(prepared, object, row), in: scope),
          work: before.map { statement.work - $0 })
      }
    }
    var index: Int32 = 0
    for parameter in prepared.shape.parameters {
      index += 1
      switch parameter {
      case .primaryKey: try statement.bind(object.primaryKey, at: index)
      case .entityNumber: try statement.bind(prepared.entity.number, at: index)
      case .version: try statement.bind(row.version, at: index)
      case .lockedVersion: try statement.bind(object.row.version, at: index)
      case .slot(let slot):
        if let reference = external.reference(of: object, slot) {
          try reference.withUnsafeBytes { try statement.bindBlob($0, at: index) }
        } else {
          try statement.bind(prepared.layout.slots[slot], of: row, at: index)
        }
      case .entity(ofSlot: let slot):
        let slot = prepared.layout.slots[slot]
        if row.isNull(slot) {
          try statement.bindNull(at: index)
        } else {
          try statement.bind(row.entityNumber(slot), at: index)
        }
      case .order(ofSlot: let slot):
        if let orderKey = orderKeys.take(object, slot: slot) {
          try statement.bind(orderKey, at: index)
        } else {
          try statement.bindNull(at: index)
        }
      }
    }
    while try statement.step() {}
    return connection.changes
  }

  /// Returns the bound values, for a sink that requires them.
  private func binds(_ prepared: Prepared, _ object: NSManagedObject, _ row: Row) -> [SQLiteValue] {
    prepared.shape.parameters.map { parameter in
      switch parameter {
      case .primaryKey: .integer(object.primaryKey)
      case .entityNumber: .integer(Int64(prepared.entity.number))
      case .version: .integer(row.version)
      case .lockedVersion: .integer(object.row.version)
      case .slot(let index):
        external.reference(of: object, index).map { .blob(Array($0)) }
          ?? row.rawValue(prepared.layout.slots[index]).sqliteValue
      case .entity(ofSlot: let index):
        row.rawValue(prepared.layout.slots[index]).destinationEntityNumber
      case .order(ofSlot: let slot):
        orderKeys.orderKey(of: object, slot: slot).map { .integer($0) } ?? .null
      }
    }
  }
}

extension Statement {
  /// Binds a slot's value in a row, which must stay valid until the statement is reset.
  fileprivate func bind(_ slot: RowSlot, of row: Row, at position: Int32) throws {
    guard !row.isNull(slot) else { return try bindNull(at: position) }
    switch slot.kind {
    case .int16, .int32, .int64, .bool, .toOne, .toOnePolymorphic:
      try bind(row.int64(slot), at: position)
    case .double, .float, .date: try bind(row.double(slot), at: position)
    case .string, .uri, .decimal: try bindTextInPlace(row.bytes(slot), at: position)
    case .data, .uuid, .transformable, .external:
      try bindBlobInPlace(row.bytes(slot), at: position)
    }
  }
}

extension RowValue {
  /// The value as an SQLite value.
  var sqliteValue: SQLiteValue {
    switch self {
    case .null: .null
    case .int64(let value): .integer(value)
    case .double(let value): .real(value)
    case .text(let text): .text(text)
    case .bytes(let data): .blob(Array(data))
    case .toOne(let primaryKey, _): .integer(primaryKey)
    }
  }

  /// The entity ID column of a polymorphic to-one.
  var destinationEntityNumber: SQLiteValue {
    if case .toOne(_, let number) = self { return .integer(number) }
    return .null
  }
}
