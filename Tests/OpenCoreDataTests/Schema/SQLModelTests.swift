import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite struct SQLModelTests {
  private func columns(_ entity: SQLEntity?) -> [String] {
    (entity?.columns ?? []).flatMap { [$0.name, $0.entityColumn, $0.orderColumn] }
      .compactMap { $0 }
  }

  @Test func slotsAreOrderedByLevelAndAttributesFirst() throws {
    let model = SQLModel(model: SchemaModels.library())
    let sheet = try #require(model.entity(named: "Sheet"))
    #expect(
      sheet.description.slotProperties.map(\.name) == [
        "added", "isLent", "key", "price", "scan", "title", "weight", "author", "shelf",
        "pages", "cover",
      ])
    #expect(
      columns(sheet) == [
        "ZADDED", "ZISLENT", "ZKEY", "ZPRICE", "ZSCAN", "ZTITLE", "ZWEIGHT", "ZAUTHOR", "ZSHELF",
        "Z_FOK_SHELF", "ZPAGES1", "ZCOVER", "Z2_COVER",
      ])
    #expect(columns(model.entity(named: "Book")).last == "ZPAGES")
    #expect(model.entity(named: "Item")?.concreteNumbers == [2, 3, 4])
    #expect(model.entity(named: "Sheet")?.hasHierarchy == true)
    #expect(model.entity(named: "Tag")?.hasHierarchy == false)
  }

  @Test func toManyRelationshipsAreColumnsOrJoinTables() throws {
    let model = SQLModel(model: SchemaModels.library())
    #expect(
      model.entity(named: "Shelf")?.toMany["items"]?.storage
        == .foreignKey(column: "ZSHELF", orderColumn: "Z_FOK_SHELF"))
    // An inherited relationship has the same storage.
    #expect(
      model.entity(named: "Book")?.toMany["tags"]?.storage
        == .joinTable(
          table: "Z_2TAGS", sourceColumn: "Z_2ITEMS", destinationColumn: "Z_6TAGS",
          orderColumn: "Z_FOK_6TAGS"))
    #expect(
      model.entity(named: "Tag")?.toMany["items"]?.storage
        == .joinTable(
          table: "Z_2TAGS", sourceColumn: "Z_6TAGS", destinationColumn: "Z_2ITEMS",
          orderColumn: nil))
  }

  @Test(.enabled(if: SharedData.isHere, SharedData.absence), arguments: SchemaPair.all)
  func layoutFromTheModelMatchesTheFile(pair: SchemaPair) throws {
    let model = try pair.model()
    let connection = try SharedData.copy(of: pair.store)
    let computed = SQLModel(model: model)
    let read = try SQLModel(model: model, connection: connection)
    #expect(read.entities.map(\.name) == computed.entities.map(\.name))
    for (read, computed) in zip(read.entities, computed.entities) {
      #expect(read.number == computed.number)
      #expect(read.table == computed.table)
      #expect(columns(read) == columns(computed))
      #expect(read.toMany.mapValues(\.storage) == computed.toMany.mapValues(\.storage))
    }
  }

  /// Names that differ only in case, and reserved names, get a number.
  @Test func tableAndColumnNamesAreUnique() throws {
    let text: (String) -> NSPropertyDescription = {
      SchemaModels.attribute($0, .stringAttributeType)
    }
    let model = NSManagedObjectModel()
    model.entities = [
      SchemaModels.entity("Select", [text("_pk"), text("_OPT"), text("a"), text("A")]),
      SchemaModels.entity("select", [text("b")]),
      SchemaModels.entity("_PrimaryKey", [text("c")]), SchemaModels.entity("_METADATA", []),
    ]
    let connection = try SharedData.newFile()
    let metadata = StoreMetadata(model: model, digests: [:], digestFormula: 1)
    let mapping = SQLModel(model: model)
    try SchemaBuilder(model: mapping)
      .create(on: connection, metadata: metadata, modelCache: nil)
    #expect(Set(mapping.entities.map(\.table)).count == 4)
    #expect(mapping.entity(named: "_PrimaryKey")?.table == "Z_PRIMARYKEY1")
    #expect(
      Set(mapping.entity(named: "Select")?.columns.map(\.name) ?? [])
        == ["Z_PK1", "Z_OPT1", "ZA", "ZA1"])
    let read = try SQLModel(model: model, connection: connection)
    for entity in mapping.entities {
      #expect(read.entity(named: entity.name)?.table == entity.table)
      #expect(
        read.entity(named: entity.name)?.columns.map(\.name) == entity.columns.map(\.name))
    }
  }

  /// Other versions of Core Data, later models, and migrations produce other names.
  @Test func tableAndColumnNamesAreReadFromTheFile() throws {
    let connection = try SharedData.newFile()
    let library = SchemaModels.library()
    for statement in SchemaBuilder(model: SQLModel(model: library)).statements
    where statement.hasPrefix("CREATE TABLE") {
      try connection.execute(statement)
    }
    try connection.execute(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (11, 'Author', 0, 0), (12, 'Piece', 0, 0),
        (14, 'Book', 12, 0), (13, 'Sheet', 12, 0), (15, 'Shelf', 0, 0), (16, 'Tag', 0, 0);
      ALTER TABLE ZITEM RENAME TO ZPIECE;
      ALTER TABLE ZPIECE RENAME COLUMN Z2_COVER TO Z12_COVER;
      ALTER TABLE ZPIECE RENAME COLUMN ZTITLE TO ZHEADING;
      ALTER TABLE Z_2TAGS RENAME TO Z_12TAGS;
      ALTER TABLE Z_12TAGS RENAME COLUMN Z_2ITEMS TO Z_12ITEMS1;
      ALTER TABLE Z_12TAGS RENAME COLUMN Z_6TAGS TO Z_16TAGS;
      ALTER TABLE Z_12TAGS RENAME COLUMN Z_FOK_6TAGS TO Z_FOK_16TAGS;
      """)
    library.entitiesByName["Item"]?.renamingIdentifier = "Piece"
    library.entitiesByName["Item"]?.attributesByName["title"]?.renamingIdentifier = "heading"
    let model = try SQLModel(model: library, connection: connection)
    let sheet = try #require(model.entity(named: "Sheet"))
    #expect(sheet.number == 13)
    #expect(sheet.table == "ZPIECE")
    #expect(sheet.column(named: "cover")?.entityColumn == "Z12_COVER")
    #expect(sheet.column(named: "title")?.name == "ZHEADING")
    #expect(model.entity(number: 12)?.name == "Item")
    #expect(
      sheet.toMany["tags"]?.storage
        == .joinTable(
          table: "Z_12TAGS", sourceColumn: "Z_12ITEMS1", destinationColumn: "Z_16TAGS",
          orderColumn: "Z_FOK_16TAGS"))
  }

  /// Two columns for the same attribute name are distinguished by their types.
  @Test func columnsOfOneNameAreDistinguishedByType() throws {
    let root = SchemaModels.entity("Message", [])
    root.subentities = [
      SchemaModels.entity("Note", [SchemaModels.attribute("text", .stringAttributeType)]),
      SchemaModels.entity("Drawing", [SchemaModels.attribute("text", .binaryDataAttributeType)]),
    ]
    let model = NSManagedObjectModel()
    model.entities = [root]
    let file = FileSchema(
      tables: [
        "ZMESSAGE": .init(
          name: "ZMESSAGE",
          columns: [.init(name: "ZTEXT", type: "VARCHAR"), .init(name: "ZTEXT1", type: "BLOB")])
      ],
      entities: [
        .init(number: 1, name: "Message", superNumber: 0),
        .init(number: 2, name: "Drawing", superNumber: 1),
        .init(number: 3, name: "Note", superNumber: 1),
      ])
    let found = try SQLModel(model: model, file: file)
    #expect(found.entity(named: "Note")?.column(named: "text")?.name == "ZTEXT")
    #expect(found.entity(named: "Drawing")?.column(named: "text")?.name == "ZTEXT1")
  }

  /// Core Data keeps the former name of a renamed entity in the file.
  @Test(
    "Entities get their positions as IDs if the file's names are theirs or former ones",
    arguments: [
      (["Person", "Person"], 1, 2), (["Human", "Person"], 1, 2), (["Person", "Human"], 2, 1),
    ])
  func reusedNamesAreMatchedByNumber(names: [String], human: Int, person: Int) throws {
    let renamed = SchemaModels.entity("Human", [])
    renamed.renamingIdentifier = "Person"
    let model = NSManagedObjectModel()
    model.entities = [renamed, SchemaModels.entity("Person", [])]
    let file = FileSchema(
      tables: [
        "ZHUMAN": .init(name: "ZHUMAN", columns: []),
        "ZPERSON": .init(name: "ZPERSON", columns: []),
      ],
      entities: names.enumerated().map { .init(number: $0 + 1, name: $1, superNumber: 0) })
    let found = try SQLModel(model: model, file: file)
    #expect(found.entity(named: "Human")?.number == human)
    #expect(found.entity(named: "Person")?.number == person)
    #expect(found.entity(named: "Human")?.table == "ZHUMAN")
    #expect(found.entity(named: "Person")?.table == "ZPERSON")
  }

  @Test(
    arguments: [
      ("DROP TABLE ZTAG", "Tag", nil, "ZTAG", nil),
      ("ALTER TABLE ZITEM DROP COLUMN ZPRICE", "Item", "price", "ZITEM", "ZPRICE"),
      ("ALTER TABLE ZITEM DROP COLUMN Z2_COVER", "Sheet", "cover", "ZITEM", "Z2_COVER"),
      ("DROP TABLE Z_2TAGS", "Item", "tags", "Z_2TAGS", nil),
    ] as [(String, String, String?, String, String?)])
  func missingTablesAndColumnsAreReported(
    change: String, entity: String, property: String?, table: String, column: String?
  ) throws {
    let connection = try SharedData.newFile()
    let library = SchemaModels.library()
    try SchemaBuilder(model: SQLModel(model: library)).create(
      on: connection,
      metadata: StoreMetadata(model: library, digests: [:], digestFormula: 1), modelCache: nil)
    try connection.execute(change)
    let expected = SchemaMismatch(
      entity: entity, property: property, table: table, column: column)
    #expect(throws: expected) { try SQLModel(model: library, connection: connection) }
  }
}
