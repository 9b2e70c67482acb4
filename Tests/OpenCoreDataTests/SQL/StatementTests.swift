import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// The generated statements, run on SQLite files.
@Suite struct StatementTests {
  private let library: LibraryRows

  init() throws {
    library = try LibraryRows(seed: 3, count: 30)
  }

  private func entity(_ name: String) throws -> SQLEntity {
    try #require(library.model.entity(named: name))
  }

  /// Runs a row statement with a value for each kind of parameter.
  private func run(
    _ statement: RowStatement, key: Int64, number: Int64 = 0, version: Int64 = 1,
    locked: Int64 = 0, slots: [Int: SQLiteValue] = [:], entities: [Int: Int64] = [:],
    orders: [Int: Int64] = [:]
  ) throws -> Int {
    let binds = statement.parameters.map { parameter -> SQLiteValue in
      switch parameter {
      case .primaryKey: .integer(key)
      case .entityNumber: .integer(number)
      case .version: .integer(version)
      case .lockedVersion: .integer(locked)
      case .slot(let slot): slots[slot] ?? .null
      case .entity(ofSlot: let slot): .from(entities[slot])
      case .order(ofSlot: let slot): .from(orders[slot])
      }
    }
    _ = try library.connection.values(statement.sql, binds)
    return Int(library.connection.changes)
  }

  @Test func updatesAndDeletesRequireTheRowVersion() throws {
    let sheet = try entity("Sheet")
    let sql = library.translator
    let slot = { (name: String) throws in try #require(sheet.slots[name]) }
    #expect(
      try run(
        sql.insert(entity: sheet), key: 90, number: 4,
        slots: [
          try slot("title"): .text("new"), try slot("cover"): .integer(5),
          try slot("shelf"): .integer(2),
        ],
        entities: [try slot("cover"): 3], orders: [try slot("shelf"): 2048]) == 1)
    let read = "SELECT Z_OPT, ZTITLE, ZCOVER, Z2_COVER, Z_FOK_SHELF FROM ZITEM WHERE Z_PK = 90"
    #expect(
      try library.connection.values(read) == [
        [.integer(1), .text("new"), .integer(5), .integer(3), .integer(2048)]
      ])
    let update = sql.update(
      entity: sheet, slots: [try slot("title"), try slot("cover")],
      orderedSlots: [try slot("shelf")])
    #expect(
      update.sql == "UPDATE ZITEM SET Z_FOK_SHELF = ?, ZCOVER = ?, Z2_COVER = ?, ZTITLE = ?, "
        + "Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?")
    #expect(try run(update, key: 90, version: 3, locked: 2) == 0)
    #expect(
      try run(
        update, key: 90, version: 2, locked: 1, slots: [try slot("title"): .text("changed")],
        orders: [try slot("shelf"): 3072]) == 1)
    #expect(
      try library.connection.values(read) == [
        [.integer(2), .text("changed"), .null, .null, .integer(3072)]
      ])
    #expect(try run(sql.delete(entity: sheet), key: 90, locked: 1) == 0)
    #expect(try run(sql.delete(entity: sheet), key: 90, locked: 2) == 1)
    #expect(try library.connection.values(read).isEmpty)
  }

  @Test func keysAreReservedOnlyIfTheMaximumIsUnchanged() throws {
    let connection = library.connection
    #expect(
      try connection.values(SQLTranslator.selectMaximumKey, [.integer(2)]) == [[.integer(0)]])
    _ = try connection.values(
      SQLTranslator.reserveKeys, [.integer(10), .integer(2), .integer(0)])
    #expect(connection.changes == 1)
    _ = try connection.values(
      SQLTranslator.reserveKeys, [.integer(20), .integer(2), .integer(0)])
    #expect(connection.changes == 0)
    #expect(
      try connection.values(SQLTranslator.selectMaximumKey, [.integer(2)]) == [[.integer(10)]])
  }

  @Test func joinRowsAreAddedOnceAndRemovedSingly() throws {
    let connection = library.connection
    let sql = library.translator
    let tags = try #require(entity("Item").toMany["tags"])
    let items = try #require(entity("Tag").toMany["items"])
    let read = "SELECT Z_2ITEMS, Z_6TAGS, Z_FOK_6TAGS FROM Z_2TAGS WHERE Z_2ITEMS = 70 ORDER BY 2"
    let insert = try #require(sql.insertJoinRow(tags))
    for (tag, orderKey) in [(1, 2048), (2, 3072), (1, 4096)] as [(Int64, Int64)] {
      _ = try connection.values(insert, [.integer(70), .integer(tag), .integer(orderKey)])
    }
    // An insertion from the unordered side doesn't change the order key.
    _ = try connection.values(
      try #require(sql.insertJoinRow(items)), [.integer(2), .integer(70)])
    #expect(
      try connection.values(read) == [
        [.integer(70), .integer(1), .integer(4096)], [.integer(70), .integer(2), .integer(3072)],
      ])
    let ordered = try connection.values(sql.toMany(tags).sql, [.integer(70)])
    #expect(
      ordered == [
        [.integer(0), .integer(2), .integer(3072)], [.integer(0), .integer(1), .integer(4096)],
      ])
    _ = try connection.values(
      try #require(sql.deleteJoinRow(items)), [.integer(1), .integer(70)])
    #expect(try connection.values(read).count == 1)
    _ = try connection.values(try #require(sql.deleteJoinRows(tags)), [.integer(70)])
    #expect(try connection.values(read).isEmpty)
  }

  /// Each slot's result column has the slot's name for every entity of the row.
  @Test(arguments: ["Item", "Book", "Sheet"])
  func projectionsMapEachSlotToItsColumn(name: String) throws {
    let entity = try entity(name)
    let queries = [
      try library.translator.fetch(entity: entity), library.translator.fault(entity: entity),
    ]
    for query in queries {
      let statement = try library.connection.statement(query.sql)
      #expect(statement.columnCount == query.projection.columnCount)
      #expect(statement.columnName(Projection.versionColumn) == "Z_OPT")
      for row in entity.family {
        let slots = query.projection.slotColumns(forEntityNumber: row.number)
        let entities = query.projection.entityColumns(forEntityNumber: row.number)
        #expect(slots.map { statement.columnName($0) } == row.columns.map(\.name))
        #expect(
          entities.map { $0 < 0 ? nil : statement.columnName($0) }
            == row.columns.map(\.entityColumn))
      }
    }
  }

  @Test func prefetchesReturnRowsWithTheirSourceKeys() throws {
    let connection = library.connection
    let sql = library.translator
    try connection.bindIntArray(0, [1, 2, 4])
    let items = try #require(entity("Author").toMany["items"])
    let query = try #require(sql.prefetchToMany(items))
    let source = Int(try #require(query.projection.sourceKeyColumn))
    let found = try connection.values(query.sql)
    let expected = try connection.values(
      "SELECT ZAUTHOR, Z_PK FROM ZITEM WHERE ZAUTHOR IN (1, 2, 4) ORDER BY ZAUTHOR")
    #expect(found.map { [$0[source], $0[1]] } == expected && !expected.isEmpty)
    let tags = try #require(entity("Item").toMany["tags"])
    #expect(sql.prefetchToMany(tags) == nil)
    let join = try #require(sql.prefetchJoin(tags))
    #expect(join.hasOrder)
    let joined = try connection.values(
      "SELECT Z_2ITEMS, Z_6TAGS, Z_FOK_6TAGS FROM Z_2TAGS WHERE Z_2ITEMS IN (1, 2, 4) "
        + "ORDER BY 1, 3")
    #expect(try connection.values(join.sql) == joined && !joined.isEmpty)
    #expect(
      try connection.values(sql.prefetchToOne(entity: entity("Author")).sql).count == 3)
  }

  @Test(arguments: [
    ("title BEGINSWITH[n] 'ab'", "SEARCH t0 USING INDEX Z_Item_byTitle (ZTITLE>? AND ZTITLE<?)"),
    ("title LIKE 'ab*'", "SEARCH t0 USING INDEX Z_Item_byTitle (ZTITLE>? AND ZTITLE<?)"),
    ("title == 'ab'", "SEARCH t0 USING INDEX Z_Item_byTitle (ZTITLE=?)"),
    ("title BEGINSWITH 'ab'", "SCAN t0"),
    ("noindex:(title) == 'ab'", "SCAN t0"),
    ("author.name == 'a'", "SEARCH t0 USING INDEX ZITEM_ZAUTHOR_INDEX (ZAUTHOR=?)"),
  ])
  func queryPlansUseIndexesForSargablePredicates(format: String, plan: String) throws {
    let query = try library.translator.fetch(
      entity: entity("Item"), predicate: NSPredicate(format: format), result: .rows)
    let lines = try library.connection.explainQueryPlan(query.sql).lines
    #expect(lines.contains { $0.contains(plan) }, "\(lines)")
  }

  @Test(.enabled(if: SharedData.isHere, SharedData.absence))
  func appleStoresAreQueried() throws {
    let connection = try SharedData.copy(of: "moody/stores/Moody.moody")
    try StoreFunctions.register(on: connection)
    let pair = try #require(SchemaPair.all.first { $0.store.hasSuffix("/Moody.moody") })
    let model = try SQLModel(model: pair.model(), connection: connection)
    let sql = SQLTranslator(model: model)
    let mood = try #require(model.entity(named: "Mood"))
    func rows(_ format: String, of entity: SQLEntity) throws -> [[SQLiteValue]] {
      let query = try sql.fetch(entity: entity, predicate: NSPredicate(format: format))
      return try connection.values(query.sql, query.binds)
    }
    #expect(try rows("country.numericISO3166Code == 710", of: mood).count == 2)
    let country = try #require(model.entity(named: "Country"))
    let african = try rows("numericISO3166Code == 710 AND ANY moods.date != nil", of: country)
    #expect(african.count == 1)
    #expect(african.first?[0] == .integer(Int64(country.number)))
    let continent = try #require(model.entity(named: "Continent"))
    let all = try connection.values("SELECT COUNT(*) FROM ZGEOGRAPHICREGION WHERE Z_ENT = 2")
    let count = try sql.fetch(entity: continent, result: .count)
    #expect(try connection.values(count.sql, count.binds) == all)
  }
}
