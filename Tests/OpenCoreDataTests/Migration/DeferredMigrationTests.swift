import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Deferred lightweight migration")
struct DeferredMigrationTests {
  static var deferred: [AnyHashable: Any] {
    [NSPersistentStoreDeferredLightweightMigrationOptionKey: true]
  }

  private static func model(_ contents: String) throws -> NSManagedObjectModel {
    let data = Data(
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\(contents)</model>".utf8)
    return try ModelDocument.read(data: data, file: "Model")
  }

  private static func attribute(_ name: String, _ type: String = "String") -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"/>"
  }

  private static func relationship(
    _ name: String, to entity: String, inverse: String, _ rest: String
  ) -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" destinationEntity=\"\(entity)\" "
      + "inverseName=\"\(inverse)\" inverseEntity=\"\(entity)\" \(rest)/>"
  }

  private static func entity(_ name: String, _ rest: String = "", _ contents: String...) -> String {
    "<entity name=\"\(name)\" \(rest)>\(contents.joined())</entity>"
  }

  /// The first version, and what changes in each of the later ones.
  ///
  /// 2 has every change whose clean-up can be deferred: attributes and relationships are removed,
  /// an entity, a hierarchy, and an index, and order. 3 has a removed attribute and a removed
  /// entity again, and lacks another attribute.
  static func version(_ number: Int) throws -> NSManagedObjectModel {
    let order = number == 1 ? "ordered=\"YES\"" : ""
    let old = number == 1
    return try model(
      entity(
        "Person", "", attribute("name"), old ? attribute("note") : "",
        number == 3 ? attribute("note", "Integer 64") : "",
        old ? "" : attribute("email"),
        relationship("home", to: "City", inverse: "residents", "maxCount=\"1\""),
        old ? relationship("boss", to: "Person", inverse: "team", "maxCount=\"1\"") : "",
        old ? relationship("team", to: "Person", inverse: "boss", "toMany=\"YES\"") : "",
        relationship("tags", to: "Tag", inverse: "people", "toMany=\"YES\" \(order)"))
        + entity(
          "City", "", attribute("name"), number == 2 ? attribute("area", "Double") : "",
          relationship("residents", to: "Person", inverse: "home", "toMany=\"YES\" \(order)"),
          old
            ? "<fetchIndex name=\"byName\"><fetchIndexElement property=\"name\" type=\"Binary\" "
              + "order=\"ascending\"/></fetchIndex>" : "")
        + entity(
          "Tag", "", attribute("name"),
          relationship("people", to: "Person", inverse: "tags", "toMany=\"YES\""))
        + (old ? entity("Vehicle", "", attribute("name")) : "")
        + entity(
          "Car", old ? "parentEntity=\"Vehicle\"" : "", attribute("doors", "Integer 16"),
          old ? "" : attribute("name"))
        + (number == 2 ? "" : entity("Log", "", attribute("name"), attribute("line"))))
  }

  /// A store of the first version: Ada, whose boss is Bo, lives in London with Cy; two tags, a car,
  /// and a log.
  static func store() throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(version(1))
    try context.performAndWait {
      func insert(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      let people = ["Ada", "Bo", "Cy"].map { insert("Person", $0) }
      people[0].setValue("a note", forKey: "note")
      people[0].setValue(people[1], forKey: "boss")
      let tags = ["red", "blue"].map { insert("Tag", $0) }
      people[0].setValue(NSOrderedSet(array: [tags[1], tags[0]]), forKey: "tags")
      people[2].setValue(NSOrderedSet(array: [tags[0]]), forKey: "tags")
      let city = insert("City", "London")
      city.setValue(NSOrderedSet(array: [people[2], people[0]]), forKey: "residents")
      insert("Car", "Fiat").setValue(4, forKey: "doors")
      _ = insert("Vehicle", "Tram")
      insert("Log", "first").setValue("a line", forKey: "line")
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  /// What a store's file contains, but for its metadata and the order of its tables.
  static func file(_ store: MigratedStore) throws -> [String: [[SQLiteValue]]] {
    var file = [
      "": try store.values("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
    ]
    for row in try store.values("SELECT name FROM sqlite_master WHERE type = 'table'") {
      guard case .text(let table)? = row.first, table != "Z_METADATA", table != "Z_MODELCACHE"
      else { continue }
      file[table] = try store.values("SELECT * FROM \"\(table)\" ORDER BY 1, 2")
    }
    return file
  }

  /// What a store's file contains, whatever the order of its columns and the names of its indexes:
  /// an index that's kept when its table is renamed keeps its name, and one that's created again
  /// has the new one.
  private static func contents(_ store: MigratedStore) throws -> [String: [[String: SQLiteValue]]] {
    let objects = """
      SELECT m.tbl_name || ' ' || l."unique" || ' ' || \
      (SELECT group_concat(x.name) FROM pragma_index_info(m.name) x), NULL \
      FROM sqlite_master m, pragma_index_list(m.tbl_name) l \
      WHERE m.type = 'index' AND l.name = m.name \
      UNION ALL SELECT name, sql FROM sqlite_master WHERE type NOT IN ('table', 'index') ORDER BY 1
      """
    var contents = try ["": store.values(objects).map { ["\($0[0])": $0[1]] }]
    for table in try file(store).keys where !table.isEmpty {
      contents[table] = try store.rows(of: table)
      contents["columns of \(table)"] = try store.values(
        "SELECT name, type FROM pragma_table_info('\(table)') ORDER BY name"
      ).map { ["\($0[0])": $0[1]] }
    }
    return contents
  }

  private static func isPending(_ store: MigratedStore) throws -> Any? {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    return metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey]
  }

  private static func names(
    _ entity: String, _ context: NSManagedObjectContext, _ format: String = "TRUEPREDICATE"
  ) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: format)
    return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
  }

  @Test("A copy of an index that's left to remove is removed with it")
  func copyOfAPendingIndexIsRemoved() throws {
    let store = try Self.store()
    try store.migrate(to: Self.version(2), options: Self.deferred)
    let connection = try Connection(path: store.url.path, access: .writing)
    let rows = try connection.values("SELECT sql FROM sqlite_master WHERE name = 'Z_City_byName'")
    guard case .text(let sql)? = rows.first?.first else {
      Issue.record("there's no pending index")
      return
    }
    try connection.execute(sql.replacing("Z_City_byName", with: "I1_Z_City_byName"))
    connection.close()
    let indexes = "SELECT name FROM sqlite_master WHERE name LIKE '%City_byName' ORDER BY 1"
    #expect(try store.values(indexes) == [[.text("I1_Z_City_byName")], [.text("Z_City_byName")]])
    let context = try store.open(Self.version(2))
    try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
    #expect(try store.values(indexes).isEmpty)
  }

  @Test("M-22 Columns, tables, and indexes stay until the migration is finished, one unit per call")
  func cleanupIsPutOff() throws {
    let store = try Self.store()
    let context = try store.open(
      Self.version(2), options: MigratedStore.automatic.merging(Self.deferred) { $1 })
    let coordinator = try #require(context.persistentStoreCoordinator)
    let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
    #expect(coordinator.persistentStores[0].metadata[key] as? Bool == true)
    #expect(try Self.isPending(store) as? Bool == true)
    #expect(try store.values("SELECT ZNOTE FROM ZPERSON WHERE Z_PK = 1") == [[.text("a note")]])
    #expect(try store.values("SELECT ZLINE FROM ZLOG") == [[.text("a line")]])
    #expect(
      try store.values("SELECT name FROM sqlite_master WHERE name = 'Z_City_byName'").count == 1)
    try context.performAndWait { () throws -> Void in
      #expect(try Self.names("Person", context, "home.name == 'London'") == ["Ada", "Cy"])
      #expect(try Self.names("Person", context, "ANY tags.name == 'red'") == ["Ada", "Cy"])
      #expect(try Self.names("Car", context) == ["Fiat"])
    }
    // The table of logs, and the tables of persons, cities, cars, and tags of persons.
    var units = 0
    while coordinator.persistentStores[0].metadata[key] != nil {
      try context.performAndWait {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue("Person \(units)", forKey: "name")
        let london = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "City"))[0]
        person.setValue(london, forKey: "home")
        try context.save()
      }
      try coordinator.finishDeferredLightweightMigrationTask()
      units += 1
      try context.performAndWait { () throws -> Void in
        context.refreshAllObjects()
        #expect(try Self.names("Person", context, "home != nil").count == 2 + units)
        #expect(try Self.names("Person", context, "tags.@count > 0") == ["Ada", "Cy"])
      }
    }
    #expect(units == 5)
    #expect(try Self.isPending(store) == nil)
    try coordinator.finishDeferredLightweightMigration()
    // The same file as without the option, but for the new persons.
    let direct = try Self.store()
    try direct.migrate(to: Self.version(2))
    #expect(try Self.file(store)[""] == Self.file(direct)[""])
    #expect(try store.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  /// Whether each of two migrations is deferred.
  static let ways = [(false, false), (true, true), (true, false), (false, true)]

  @Test(
    "A store is migrated again while work is pending, and ends with the same file", arguments: ways)
  func pendingStoreIsMigratedAgain(first: Bool, second: Bool) throws {
    let expected = try Self.store()
    for number in 2...3 { try expected.migrate(to: Self.version(number)) }
    let store = try Self.store()
    for (number, defers) in [(2, first), (3, second)] {
      try store.migrate(to: Self.version(number), options: defers ? Self.deferred : [:])
      let isPending = try Self.isPending(store) as? Bool ?? false
      #expect(isPending == defers)
    }
    // A removed attribute's values don't come back with an attribute of its name.
    #expect(try store.values("SELECT ZNOTE FROM ZPERSON") == [[.null], [.null], [.null]])
    #expect(try store.values("SELECT * FROM ZLOG") == [])
    let context = try store.open(Self.version(3))
    try #require(context.persistentStoreCoordinator).finishDeferredLightweightMigration()
    #expect(try Self.isPending(store) == nil)
    let (found, wanted) = (try Self.contents(store), try Self.contents(expected))
    #expect(Set(found.keys) == Set(wanted.keys))
    for (name, rows) in wanted { #expect(found[name] == rows, "\(name)") }
  }

  @Test(
    "Every change of relationships ends with the same file",
    arguments: MigratedRelationshipTests.cases)
  func relationshipsEndWithTheSameFile(_ test: MigratedRelationshipTests.Case) throws {
    let new = try Self.model(test.new)
    let expected = try MigratedRelationshipTests.store(test)
    try expected.migrate(to: new)
    let store = try MigratedRelationshipTests.store(test)
    let context = try store.open(
      new, options: MigratedStore.automatic.merging(Self.deferred) { $1 })
    try #require(context.persistentStoreCoordinator).finishDeferredLightweightMigration()
    #expect(try Self.file(store) == Self.file(expected))
  }

  @Test("A unit that fails leaves the file as it was, and the next call does it again")
  func failedUnitIsRepeated() throws {
    let store = try Self.store()
    try store.migrate(to: Self.version(2), options: Self.deferred)
    let context = try store.open(Self.version(2), options: [NSPersistentStoreTimeoutOption: 0.1])
    let coordinator = try #require(context.persistentStoreCoordinator)
    let before = try Self.file(store)
    let other = try Connection(path: store.url.path, access: .writing)
    try other.execute("BEGIN IMMEDIATE")
    let error = try #require(
      thrownError { try coordinator.finishDeferredLightweightMigrationTask() })
    #expect(error.code == NSMigrationError)
    try other.execute("ROLLBACK")
    other.close()
    #expect(try Self.file(store) == before)
    #expect(try Self.isPending(store) as? Bool == true)
    // Another coordinator does the rest; this one finds nothing to do.
    let second = try #require(store.open(Self.version(2)).persistentStoreCoordinator)
    try second.finishDeferredLightweightMigration()
    try coordinator.finishDeferredLightweightMigration()
    #expect(try Self.isPending(store) == nil)
    let direct = try Self.store()
    try direct.migrate(to: Self.version(2))
    #expect(try Self.file(store) == Self.file(direct))
  }

  @Test("A store that's open read-only can't be finished; one without pending work needs nothing")
  func readOnlyStoreIsNotFinished() throws {
    let store = try Self.store()
    try store.migrate(to: Self.version(2), options: Self.deferred)
    let files = try store.contents()
    let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
    let context = try store.open(Self.version(2), options: options)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let error = try #require(thrownError { try coordinator.finishDeferredLightweightMigration() })
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("read-only"))
    #expect(try store.contents() == files)
    let plain = try Self.store()
    let untouched = try plain.contents()
    let open = try #require(plain.open(Self.version(1)).persistentStoreCoordinator)
    try open.finishDeferredLightweightMigration()
    try open.finishDeferredLightweightMigrationTask()
    for store in open.persistentStores { try open.remove(store) }
    #expect(try plain.contents() == untouched)
  }

  @Test("Metadata that the app sets keeps the flag, and a migrated copy doesn't have it")
  func flagBelongsToTheFile() throws {
    let store = try Self.store()
    try store.migrate(to: Self.version(2), options: Self.deferred)
    try NSPersistentStoreCoordinator.setMetadata(["flavor": "sweet"], type: .sqlite, at: store.url)
    #expect(try Self.isPending(store) as? Bool == true)
    let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
    let model = try Self.version(2)
    try NSMigrationManager(sourceModel: model, destinationModel: model).migrateStore(
      from: store.url, type: .sqlite,
      mapping: .inferredMappingModel(forSourceModel: model, destinationModel: model), to: copy,
      type: .sqlite)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: copy)
    #expect(metadata["flavor"] as? String == "sweet")
    #expect(metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
    #expect(metadata[StoreMetadata.deferredWorkKey] == nil)
  }
}
