import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Schema of a model")
struct StoreShapeTests {
  /// The library with an abstract `Item`, a one-to-one, and a relationship without an inverse.
  private func stack() throws -> TestStack {
    let model = SchemaModels.library()
    let item = try #require(model.entitiesByName["Item"])
    let author = try #require(model.entitiesByName["Author"])
    item.isAbstract = true
    try #require(item.attributesByName["isLent"]).defaultValue = true
    let card = SchemaModels.entity(
      "Card", [SchemaModels.attribute("number", .integer64AttributeType)])
    SchemaModels.relate(author, "card", many: false, card, "owner", many: false)
    let about = NSRelationshipDescription()
    about.name = "about"
    about.maxCount = 1
    about.destinationEntity = model.entitiesByName["Tag"]
    card.properties += [about]
    model.entities += [card]
    return try TestStack(model: model)
  }

  private func read(_ stack: TestStack, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    return try connection.values(sql)
  }

  private func insert(
    _ entity: String, _ values: [String: Any], in context: NSManagedObjectContext
  ) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  @Test("S4.01 S4.02 S-A09 S-A10 subentities share a table, and one SELECT fetches them all")
  func subentitiesShareATable() throws {
    let stack = try stack()
    let writing = try stack.coldContext()
    try writing.performAndWait {
      for number in 1...5 {
        let entity = number.isMultiple(of: 2) ? "Book" : "Sheet"
        _ = insert(entity, ["title": "title \(6 - number)", "pages": number], in: writing)
      }
      try writing.save()
    }
    let tables = try read(
      stack, "SELECT name FROM sqlite_master WHERE name IN ('ZITEM', 'ZBOOK', 'ZSHEET')")
    #expect(tables == [[.text("ZITEM")]])
    let columns = Set(
      try read(stack, "SELECT name FROM pragma_table_info('ZITEM')").map { $0[0].description })
    #expect(
      columns.isSuperset(of: ["\"Z_ENT\"", "\"ZTITLE\"", "\"ZPAGES\"", "\"ZPAGES1\"", "\"ZCOVER\""])
    )

    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let items = try context.fetch(request)
      #expect(
        items.compactMap { $0.value(forKey: "title") as? String }.map { $0.suffix(1) }
          == ["1", "2", "3", "4", "5"])
      #expect(Set(items.map { $0.entity.name }) == ["Book", "Sheet"])
      #expect(events.statements(.select).count == 1)
      let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      #expect(books.count == 2)
      let selects = events.statements(.select)
      #expect(selects.count == 2)
      #expect(selects.last?.contains("FROM ZITEM t0 WHERE  t0.Z_ENT = ?") == true)
    }
  }

  @Test("S4.11 S4.13 S16-2 S16-3 S16-4 each kind of relationship has its column or table")
  func relationshipsHaveColumnsOrJoinTables() throws {
    let stack = try stack()
    let writing = try stack.coldContext()
    try writing.performAndWait {
      let master = insert("Author", ["name": "master"], in: writing)
      let pupil = insert("Author", ["name": "pupil", "mentor": master], in: writing)
      pupil.setValue(insert("Card", ["number": 7], in: writing), forKey: "card")
      let tags = Set((1...2).map { insert("Tag", ["name": "\($0)"], in: writing) })
      _ = insert("Book", ["title": "b", "author": pupil, "tags": tags], in: writing)
      try writing.save()
    }
    let both = try read(
      stack,
      "SELECT a.ZCARD = c.Z_PK, c.ZOWNER = a.Z_PK FROM ZAUTHOR a, ZCARD c WHERE a.ZNAME = 'pupil'")
    #expect(both == [[1, 1]], "a one-to-one has a column on both sides")
    let names = try read(stack, "SELECT name FROM pragma_table_info('ZAUTHOR')").map { $0[0] }
    #expect(names.contains("ZMENTOR") && !names.contains("ZPUPILS") && !names.contains("ZITEMS"))
    let joins = try read(
      stack, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
    #expect(joins == [["Z_3TAGS"]], "only a many-to-many has a table")
    #expect(try read(stack, "SELECT COUNT(*) FROM Z_3TAGS") == [[2]])

    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
      let master = try #require(authors.first { $0.value(forKey: "name") as? String == "master" })
      let pupils = master.value(forKey: "pupils") as? Set<NSManagedObject>
      #expect(events.statements(.select).last?.contains("WHERE  t0.ZMENTOR = ?") == true)
      let pupil = try #require(pupils?.first)
      #expect(pupil.value(forKey: "mentor") as? NSManagedObject === master)
      #expect((pupil.value(forKey: "pupils") as? Set<NSManagedObject>)?.isEmpty == true)
      let books = pupil.value(forKey: "items") as? Set<NSManagedObject>
      let book = try #require(books?.first)
      #expect((book.value(forKey: "tags") as? NSOrderedSet)?.count == 2)
      #expect(events.statements(.select).contains { $0.contains("Z_3TAGS t1 JOIN ZTAG t0") })
    }
  }

  @Test("S4.14 without an inverse, a deletion leaves a dangling key in the store")
  func deletionWithoutAnInverseLeavesADanglingKey() throws {
    let stack = try stack()
    let context = try stack.coldContext()
    try context.performAndWait {
      let tag = insert("Tag", ["name": "gone"], in: context)
      _ = insert("Card", ["about": tag], in: context)
      try context.save()
      context.delete(tag)
      try context.save()
    }
    #expect(try read(stack, "SELECT ZABOUT FROM ZCARD") == [[1]])
    #expect(try read(stack, "SELECT COUNT(*) FROM ZTAG") == [[0]])
  }

  @Test(
    "S5.01 S5.07 S5.09 values are stored as numbers, transients aren't stored, defaults are set")
  func valuesAreStoredAsNumbersAndTransientsAreNotStored() throws {
    let stack = try stack()
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let book = insert("Book", ["title": "b"], in: context)
      #expect(book.value(forKey: "isLent") as? Bool == true)
      book.setValue(Date(timeIntervalSince1970: 978_307_200.5), forKey: "added")
      try context.save()
      #expect(
        try read(stack, "SELECT ZISLENT, ZADDED, typeof(ZADDED) FROM ZITEM")
          == [[1, .real(0.5), "real"]])
      let names = try read(stack, "SELECT name FROM pragma_table_info('ZITEM')").map { $0[0] }
      #expect(!names.contains("ZMOOD"))
      book.setValue("cheerful", forKey: "mood")
      #expect(book.hasChanges)
      try context.save()
      #expect(!events.statements().contains { $0.contains("MOOD") })
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "mood") == nil)
    }
  }

  @Test("S3.07 an index of the model is created and used for sorting")
  func modelIndexSortsWithoutATempBTree() throws {
    let stack = try stack()
    _ = try stack.coldContext()
    func plan(_ order: String) throws -> String {
      try read(stack, "EXPLAIN QUERY PLAN SELECT Z_PK FROM ZITEM ORDER BY \(order)")
        .map { $0[3].description }.joined()
    }
    #expect(try plan("ZTITLE DESC, ZADDED").contains("USING COVERING INDEX Z_Item_byTitle"))
    #expect(try !plan("ZTITLE DESC, ZADDED").contains("TEMP B-TREE"))
    #expect(try plan("ZWEIGHT").contains("USE TEMP B-TREE FOR ORDER BY"))
  }

  @Test("S16-6 an open store has a WAL file; a closed one is a single file")
  func walIsRemovedWithTheLastConnection() throws {
    let stack = try stack()
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).sorted()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      _ = insert("Tag", ["name": "one"], in: context)
      try context.save()
    }
    #expect(try files() == ["Store.sqlite", "Store.sqlite-shm", "Store.sqlite-wal"])
    let coordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    #expect(try files() == ["Store.sqlite"])
  }

  @Test("The pragmas of the options replace a new store's page size and vacuum mode")
  func pragmasOfTheOptionsReplaceTheDefaults() throws {
    let stack = try TestStack(model: SchemaModels.library())
    let pragmas = [
      "journal_mode": "DELETE", "cache_size": "100", "Page_Size": "8192", "auto_vacuum": "0",
    ]
    let context = try stack.coldContext(options: [NSSQLitePragmasOption: pragmas])
    #expect(try read(stack, "PRAGMA page_size") == [[.integer(8192)]])
    #expect(try read(stack, "PRAGMA auto_vacuum") == [[.integer(0)]])
    #expect(try read(stack, "PRAGMA journal_mode") == [[.text("delete")]])
    withExtendedLifetime(context) {}
  }
}
