import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite struct SchemaBuilderTests {
  /// Names and SQL of a file's schema, in order of creation.
  private func schema(of connection: Connection) throws -> [(name: String, sql: String)] {
    try connection.values("SELECT name, sql FROM sqlite_master ORDER BY rowid").map { row in
      guard case .text(let name) = row[0] else { return ("", "") }
      if case .text(let sql) = row[1] { return (name, sql) }
      return (name, "")
    }
  }

  private func create(_ model: NSManagedObjectModel) throws -> Connection {
    let connection = try SharedData.newFile()
    let metadata = StoreMetadata(model: model, digests: [:], digestFormula: 1)
    try SchemaBuilder(model: SQLModel(model: model))
      .create(on: connection, metadata: metadata, modelCache: nil)
    return connection
  }

  @Test(.enabled(if: SharedData.isHere, SharedData.absence), arguments: SchemaPair.all)
  func createdSchemaMatchesAppleStores(pair: SchemaPair) throws {
    let ours = try schema(of: create(pair.model()))
    let theirs = try schema(of: SharedData.copy(of: pair.store))

    func tables(_ schema: [(name: String, sql: String)]) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: schema.filter { $0.sql.hasPrefix("CREATE TABLE") }.map {
          let constraint = /, CONSTRAINT \w+ UNIQUE \([\w, ]+\)/
          return ($0.name, $0.sql.replacing(constraint, with: " "))
        })
    }
    #expect(tables(ours) == tables(theirs))

    let ourIndexes = ours.filter { !$0.sql.hasPrefix("CREATE TABLE") }
    let theirIndexes = theirs.filter { !$0.sql.hasPrefix("CREATE TABLE") }
    #expect(Set(theirIndexes.map(\.name)).subtracting(ourIndexes.map(\.name)) == pair.theirIndexes)
    #expect(Set(ourIndexes.map(\.name)).subtracting(theirIndexes.map(\.name)) == pair.ourIndexes)
    let texts = Dictionary(uniqueKeysWithValues: theirIndexes)
    for index in ourIndexes where !pair.ourIndexes.contains(index.name) {
      #expect(index.sql == texts[index.name])
    }
  }

  /// This store was created by the version of Core Data whose order OpenCoreData uses, and never
  /// migrated.
  @Test(.enabled(if: SharedData.isHere, SharedData.absence))
  func statementsAreInCoreDataOrder() throws {
    let pair = try #require(SchemaPair.all.first { $0.store.contains("SampleModel_V1") })
    let ours = try schema(of: create(pair.model())).map(\.sql)
    #expect(try ours == schema(of: SharedData.copy(of: pair.store)).map(\.sql))
  }

  @Test(.enabled(if: SharedData.isHere, SharedData.absence), arguments: SchemaPair.all)
  func entityIDsMatchCoreData(pair: SchemaPair) throws {
    let select = "SELECT Z_ENT, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT"
    let names = "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT"
    let ours = try create(pair.model())
    let theirs = try SharedData.copy(of: pair.store)
    #expect(try ours.values(select) == theirs.values(select))
    var expected = try theirs.values(names)
    if pair.store.contains("SampleModel_V2") {
      // The migration which renamed the entity left its old name in the table.
      #expect(expected[2] == [.integer(3), .text("ExpensiveSportCar")])
      expected[2] = [.integer(3), .text("LuxuryCar")]
    }
    #expect(try ours.values(names) == expected)
  }

  @Test func newFileHasCoreDatasPageSizeAndAutoVacuum() throws {
    let connection = try create(SchemaModels.library())
    #expect(try connection.values("PRAGMA page_size") == [[.integer(4096)]])
    #expect(try connection.values("PRAGMA auto_vacuum") == [[.integer(2)]])
  }

  @Test func everyRelationshipKindHasItsColumnsTablesAndIndexes() throws {
    let statements = SchemaBuilder(model: SQLModel(model: SchemaModels.library())).statements
    let expected = [
      "CREATE TABLE ZAUTHOR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZAGE INTEGER, ZMENTOR INTEGER, ZNAME VARCHAR )",
      "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZISLENT INTEGER, ZAUTHOR INTEGER, ZSHELF INTEGER, ZPAGES INTEGER, ZPAGES1 INTEGER, "
        + "ZCOVER INTEGER, Z2_COVER INTEGER, Z_FOK_SHELF INTEGER, "
        + "ZADDED TIMESTAMP, ZWEIGHT FLOAT, ZPRICE DECIMAL, ZTITLE VARCHAR, ZKEY BLOB, ZSCAN BLOB )",
      "CREATE TABLE ZSHELF ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZCODE VARCHAR )",
      "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZNAME VARCHAR )",
      "CREATE TABLE Z_2TAGS ( Z_2ITEMS INTEGER, Z_6TAGS INTEGER, Z_FOK_6TAGS INTEGER, "
        + "PRIMARY KEY (Z_2ITEMS, Z_6TAGS) )",
    ]
    #expect(Array(statements.prefix(expected.count)) == expected)
    for index in [
      "CREATE INDEX ZITEM_ZAUTHOR_INDEX ON ZITEM (ZAUTHOR)",
      "CREATE INDEX ZITEM_Z_ENT_INDEX ON ZITEM (Z_ENT)",
      "CREATE INDEX Z_Item_byTitle ON ZITEM (ZTITLE COLLATE BINARY DESC, ZADDED COLLATE BINARY ASC)",
      "CREATE INDEX Z_2TAGS_Z_6TAGS_INDEX ON Z_2TAGS (Z_6TAGS, Z_2ITEMS)",
      "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME COLLATE BINARY ASC)",
    ] {
      #expect(statements.contains(index))
    }
  }
}
