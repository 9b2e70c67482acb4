import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("A program's own indexes, triggers, and tables in a migrated file")
struct ProgramObjectsTests {
  private typealias Sample = LightweightMigrationTests

  /// A store with a table for the program's triggers, and other objects.
  private static func store(_ statements: String...) throws -> MigratedStore {
    let store = try Sample.store(
      Sample.model { person, _ in
        person.properties.append(Sample.attribute("note", .stringAttributeType))
      })
    let connection = try Connection(path: store.url.path, access: .writing)
    defer { connection.close() }
    for statement in ["CREATE TABLE log (n INTEGER)"] + statements {
      try connection.execute(statement)
    }
    return store
  }

  private static func objects(in store: MigratedStore) throws -> [String] {
    try store.values(
      "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') AND name NOT LIKE 'Z!_%' "
        + "ESCAPE '!' AND name NOT LIKE 'ZPERSON%' AND name NOT LIKE 'sqlite%' ORDER BY name"
    ).compactMap { row in if case .text(let name)? = row.first { name } else { nil } }
  }

  @Test("They're created again if the table is copied, without an index of a removed column")
  func objectsOfACopiedTableStay() throws {
    let store = try Self.store(
      "CREATE INDEX a ON ZPERSON (ZNAME)", "CREATE INDEX b ON ZPERSON (lower(ZNAME), ZAGE DESC)",
      "CREATE UNIQUE INDEX c ON ZPERSON (ZNAME) WHERE ZNAME > 'a'",
      "CREATE INDEX d ON ZPERSON (ZNAME, ZNOTE)", "CREATE INDEX zips ON ZPERSON (ZAGE)",
      "CREATE TRIGGER e AFTER INSERT ON zperson BEGIN INSERT INTO log VALUES (NEW.Z_PK); END",
      "CREATE TRIGGER zlog AFTER UPDATE ON ZPERSON BEGIN INSERT INTO log VALUES (0); END")
    let texts = "SELECT sql FROM sqlite_master WHERE name IN ('a', 'b', 'c', 'e') ORDER BY name"
    let before = try store.values(texts)
    try store.migrate(to: Sample.model())
    #expect(try Self.objects(in: store) == ["a", "b", "c", "e", "zips", "zlog"])
    #expect(try store.values(texts) == before)
    let context = try store.open(Sample.model())
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      try context.save()
    }
    #expect(try store.values("SELECT n FROM log") == [[.integer(4)]])
  }

  @Test("An index has the new names of the table and of its columns")
  func indexesFollowNames() throws {
    let store = try Self.store("CREATE UNIQUE INDEX a ON ZPERSON (ZNAME, ZAGE DESC)")
    try store.migrate(
      to: Sample.model { person, _ in
        (person.name, person.renamingIdentifier) = ("Human", "Person")
        person.attributesByName["name"]?.renamingIdentifier = "name"
        person.attributesByName["name"]?.name = "title"
      })
    #expect(
      try store.values("SELECT sql FROM sqlite_master WHERE name = 'a'")
        == [[.text("CREATE UNIQUE INDEX a ON ZHUMAN (ZTITLE, ZAGE DESC)")]])
  }

  @Test("The program's triggers don't run during a migration")
  func triggersDontRun() throws {
    let store = try Self.store(
      "CREATE TRIGGER a BEFORE UPDATE ON ZPERSON BEGIN SELECT RAISE(ABORT, 'no'); END",
      "CREATE TRIGGER b AFTER UPDATE ON ZPERSON BEGIN INSERT INTO log VALUES (1); END")
    try store.migrate(
      to: Sample.model { person, _ in
        person.properties.append(Sample.attribute("note", .stringAttributeType))
        person.properties.append(Sample.attribute("rating", .integer16AttributeType, default: 3))
      })
    #expect(try store.values("SELECT DISTINCT ZRATING FROM ZPERSON") == [[.integer(3)]])
    #expect(try store.values("SELECT count(*) FROM log") == [[.integer(0)]])
    #expect(try Self.objects(in: store) == ["a", "b"])
  }

  @Test(
    "A trigger that couldn't run in the new version is named, and nothing is changed",
    arguments: [
      "CREATE TRIGGER own AFTER INSERT ON ZPERSON BEGIN INSERT INTO log VALUES (NEW.ZNOTE); END",
      "CREATE TRIGGER own AFTER INSERT ON ZCITY BEGIN INSERT INTO log SELECT ZNOTE FROM ZPERSON; END",
    ])
  func triggersInTheWayAreNamed(sql: String) throws {
    let store = try Self.store(sql)
    let files = try store.contents()
    let error = try #require(thrownError { try store.migrate(to: Sample.model()) })
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("trigger own of the table"))
    #expect(error.localizedDescription.contains("ZNOTE"))
    #expect(try store.contents() == files)
  }

  @Test("A table with the name of a new one is named, and nothing is changed")
  func tablesInTheWayAreNamed() throws {
    let store = try Self.store("CREATE TABLE ZHUMAN (n INTEGER)")
    let files = try store.contents()
    let next = Sample.model { person, _ in
      (person.name, person.renamingIdentifier) = ("Human", "Person")
    }
    let error = try #require(thrownError { try store.migrate(to: next) })
    #expect(error.code == NSMigrationError)
    #expect(
      error.localizedDescription.contains(
        "table ZHUMAN has the name of a table of the new version. Drop or rename it before"))
    #expect(try store.contents() == files)
  }

  @Test("Finishing deferred work keeps them, too")
  func deferredWorkKeepsObjects() throws {
    let store = try Self.store(
      "CREATE INDEX a ON ZPERSON (ZNAME)",
      "CREATE TRIGGER b AFTER INSERT ON ZPERSON BEGIN INSERT INTO log VALUES (NEW.Z_PK); END")
    let options = MigratedStore.automatic.merging(
      [NSPersistentStoreDeferredLightweightMigrationOptionKey: true], uniquingKeysWith: { $1 })
    let context = try store.open(Sample.model(), options: options)
    let coordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.finishDeferredLightweightMigration()
    #expect(try Self.objects(in: store) == ["a", "b"])
    // The connection that finished it runs triggers again.
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      try context.save()
    }
    #expect(try store.values("SELECT n FROM log") == [[.integer(4)]])
  }
}
