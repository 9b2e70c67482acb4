import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Rules of version hashes and lightweight migration")
struct MigrationRuleTests {
  private typealias Sample = LightweightMigrationTests

  private static func hashes(
    _ change: (NSEntityDescription, NSEntityDescription) -> Void
  ) -> [String: Data] {
    Sample.model(change).entityVersionHashesByName
  }

  @Test("M-1 A version checksum is the SHA-256 of the entities' hashes in the order of their names")
  func checksumFollowsTheHashes() {
    func model(_ hashes: [String: String]) -> NSManagedObjectModel {
      let model = NSManagedObjectModel()
      model.entities = hashes.map { name, hash in
        let entity = NSEntityDescription()
        entity.name = name
        let digits = Array(hash)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap {
          UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        entity.recordVersionHash(Data(bytes))
        return entity
      }
      return model
    }
    let pet = "767342262a6458730c78aae73c5328d0fcaa4e3596d2f87f22e366eb46a9f46f"
    let vectors = [
      (
        ["User": "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798"],
        "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik="
      ),
      (
        ["Pet": pet, "User": "6a47cbef0e3f84c2449249fdc83f003d7e514378f8ee9a76a8d4c0ec8bb1b822"],
        "rzn6eNBLyn8k3AoC3kH3yymPT0vSUPaVcgi0v2SuHS8="
      ),
      (
        ["Pet": pet, "User": "b71589f64466356efd31321ead6c293ade8edaddf6cfd7093144c073c3ac3c3b"],
        "HFFd7j8Z9/s0tJ1vqPzVSPX/pNYEbNAlXayypitIFow="
      ),
    ]
    for (index, vector) in vectors.enumerated() {
      #expect(vectors.map { model(vector.0).hasChecksum($0.1) } == (0..<3).map { $0 == index })
    }
  }

  @Test("S14-10 M-3 What enters an entity's hash, and what doesn't")
  func hashesHaveWhatStoresNeed() throws {
    let plain = Self.hashes { _, _ in }
    let same: [(NSEntityDescription, NSEntityDescription) -> Void] = [
      { person, _ in person.managedObjectClassName = "Human" },
      { person, _ in person.relationshipsByName["home"]?.deleteRule = .cascadeDeleteRule },
      { person, _ in person.attributesByName["age"]?.defaultValue = 7 },
      { person, _ in
        person.attributesByName["age"]?.setValidationPredicates(
          [NSPredicate(format: "SELF > 0")], withValidationWarnings: ["positive"])
      },
      { person, _ in person.attributesByName["age"]?.renamingIdentifier = "years" },
      { person, _ in person.userInfo = ["key": "value"] },
    ]
    for (index, change) in same.enumerated() { #expect(Self.hashes(change) == plain, "\(index)") }
    let different: [(NSEntityDescription, NSEntityDescription) -> Void] = [
      { person, _ in person.versionHashModifier = "2" },
      { person, _ in person.attributesByName["age"]?.versionHashModifier = "2" },
      { person, _ in person.attributesByName["age"]?.isOptional = false },
      { person, _ in
        person.properties.append(Sample.attribute("note", .stringAttributeType))
      },
    ]
    for (index, change) in different.enumerated() {
      let hashes = Self.hashes(change)
      #expect(hashes["Person"] != plain["Person"], "\(index)")
      #expect(hashes["City"] == plain["City"], "\(index)")
    }
    // A store of a version with the same hashes is opened, not migrated.
    let store = try Sample.store()
    let files = try store.contents()
    for change in same { _ = try store.open(Sample.model(change)) }
    #expect(try store.contents() == files)
  }

  @Test("A transient attribute changes the hash, and a migration that writes no row")
  func transientAttributesChangeTheHash() throws {
    let next = Sample.model { person, _ in
      let note = Sample.attribute("note", .stringAttributeType)
      note.isTransient = true
      person.properties.append(note)
    }
    #expect(next.entityVersionHashesByName["City"] == Self.hashes { _, _ in }["City"])
    #expect(next.entityVersionHashesByName["Person"] != Self.hashes { _, _ in }["Person"])
    let store = try Sample.store()
    let schema = "SELECT name, rootpage, sql FROM sqlite_master ORDER BY name"
    let before = (try store.values(schema), try store.rows(of: "ZPERSON"))
    try store.migrate(to: next)
    #expect(try store.values(schema) == before.0)
    #expect(try store.rows(of: "ZPERSON") == before.1)
  }

  @Test("S14-11 M-4 A change of an entity changes its hash and those of its subentities")
  func hashesOfOthersStay() {
    func hashes(_ change: (NSEntityDescription) -> Void) -> [String: Data] {
      Sample.model { person, _ in
        let (pilot, captain) = (NSEntityDescription(), NSEntityDescription())
        (pilot.name, captain.name) = ("Pilot", "Captain")
        person.subentities = [pilot]
        pilot.subentities = [captain]
        change(person)
      }.entityVersionHashesByName
    }
    let before = hashes { _ in }
    let parent = hashes { $0.properties.append(Sample.attribute("note", .stringAttributeType)) }
    #expect(
      before.filter { parent[$0.key] != $0.value }.keys.sorted() == ["Captain", "Person", "Pilot"])
    let child = hashes {
      $0.subentities[0].properties = [Sample.attribute("hours", .integer16AttributeType)]
    }
    #expect(before.filter { child[$0.key] != $0.value }.keys.sorted() == ["Captain", "Pilot"])
  }

  @Test("S14-14 The version of a store is found by its metadata, or isn't")
  func versionIsFoundByMetadata() throws {
    let versions = [
      Sample.model(),
      Sample.model { person, _ in
        person.properties.append(Sample.attribute("note", .stringAttributeType))
      },
    ]
    func version(of url: URL) -> Int? {
      guard
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
          type: .sqlite, at: url)
      else { return nil }
      return versions.firstIndex {
        $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      }
    }
    let store = try Sample.store()
    #expect(version(of: store.url) == 0)
    try store.migrate(to: versions[1])
    #expect(version(of: store.url) == 1)
    let unknown = try Sample.store(
      Sample.model { _, city in
        city.properties.append(Sample.attribute("area", .doubleAttributeType))
      })
    #expect(version(of: unknown.url) == nil)
    #expect(version(of: unknown.url.appendingPathExtension("missing")) == nil)
  }

  @Test("M-27 A store that's opened in spite of its version gets the hashes of the model")
  func ignoredVersionsAreReplaced() throws {
    let store = try Sample.store()
    let wider = Sample.model { person, _ in
      person.properties.append(Sample.attribute("note", .stringAttributeType))
    }
    let narrower = Sample.model { person, _ in person.properties.removeAll { $0.name == "age" } }
    func hashes() throws -> [String: Data]? {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)[
        NSStoreModelVersionHashesKey] as? [String: Data]
    }
    #expect(
      thrownError { _ = try store.open(narrower, options: nil) }?.code
        == NSPersistentStoreIncompatibleVersionHashError)
    for model in [narrower, wider] {
      let context = try store.open(
        model, options: [NSIgnorePersistentStoreVersioningOption: true])
      try context.performAndWait { try context.save() }
      #expect(try hashes() == model.entityVersionHashesByName)
    }
    // Nothing was migrated.
    #expect(try store.rows(of: "ZPERSON")[0]["ZNOTE"] == nil)
  }

  @Test("M-5 M-6 Default values are filled in; keys, versions, and metadata stay, in one commit")
  func inPlaceMigrationKeepsTheStore() throws {
    let store = try Sample.store()
    try NSPersistentStoreCoordinator.setMetadata(["flavor": "sweet"], type: .sqlite, at: store.url)
    let connection = try Connection(
      path: store.url.path, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    _ = try connection.values("UPDATE ZPERSON SET Z_OPT = 5 WHERE Z_PK = 2")
    connection.close()
    func counter() throws -> UInt32 {
      try Data(contentsOf: store.url)[24..<28].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let keys = "SELECT Z_PK, Z_ENT, Z_OPT FROM ZPERSON ORDER BY 1"
    let before = (
      try store.values(keys), try store.values("SELECT * FROM Z_PRIMARYKEY"),
      try store.values("SELECT Z_UUID FROM Z_METADATA"), try counter()
    )
    try store.migrate(
      to: Sample.model { person, _ in
        person.properties.append(
          Sample.attribute("rating", .integer16AttributeType, default: 3))
      }, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    #expect(try store.values("SELECT DISTINCT ZRATING FROM ZPERSON") == [[.integer(3)]])
    #expect(try store.values(keys) == before.0)
    #expect(try store.values("SELECT * FROM Z_PRIMARYKEY") == before.1)
    #expect(try store.values("SELECT Z_UUID FROM Z_METADATA") == before.2)
    #expect(try counter() == before.3 + 1)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    #expect(metadata["flavor"] as? String == "sweet")
  }

  @Test("M-7 A new entity that sorts first moves the entity IDs in rows, tables, and names")
  func newEntityMovesEntityIDs() throws {
    func model(_ isNext: Bool) -> NSManagedObjectModel {
      let model = Sample.model { person, city in
        let (visited, visitors) = (NSRelationshipDescription(), NSRelationshipDescription())
        (visited.name, visited.destinationEntity) = ("visited", city)
        (visitors.name, visitors.destinationEntity) = ("visitors", person)
        (visited.inverseRelationship, visitors.inverseRelationship) = (visitors, visited)
        person.properties.append(visited)
        city.properties.append(visitors)
      }
      if isNext {
        let area = NSEntityDescription()
        (area.name, area.properties) = ("Area", [Sample.attribute("name", .stringAttributeType)])
        model.entities.append(area)
      }
      return model
    }
    let store = try Sample.store(model(false))
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("INSERT INTO Z_1VISITORS VALUES (1, 1)")
    connection.close()
    try store.migrate(to: model(true))
    #expect(
      try store.values("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1") == [
        [.integer(1), .text("Area"), .integer(0)], [.integer(2), .text("City"), .integer(1)],
        [.integer(3), .text("Person"), .integer(3)],
      ])
    #expect(try store.values("SELECT DISTINCT Z_ENT FROM ZPERSON") == [[.integer(3)]])
    #expect(try store.values("SELECT DISTINCT Z_ENT FROM ZCITY") == [[.integer(2)]])
    #expect(
      try store.values("SELECT Z_2VISITED, Z_3VISITORS FROM Z_2VISITORS")
        == [[.integer(1), .integer(1)]])
  }

  @Test("M-8 A table that only gains columns keeps its pages; one that loses a property is copied")
  func gainingTablesAreNotCopied() throws {
    func page(_ store: MigratedStore) throws -> [[SQLiteValue]] {
      try store.values("SELECT rootpage FROM sqlite_master WHERE name = 'ZPERSON'")
    }
    let note = Sample.attribute("note", .stringAttributeType)
    let gaining = try Sample.store()
    let before = try page(gaining)
    try gaining.migrate(to: Sample.model { person, _ in person.properties.append(note) })
    #expect(try page(gaining) == before)
    let losing = try Sample.store()
    #expect(try page(losing) == before)
    try losing.migrate(
      to: Sample.model { person, _ in person.properties.removeAll { $0.name == "age" } })
    #expect(try page(losing) != before)
    #expect(
      try losing.values("SELECT name FROM pragma_table_info('ZPERSON')").map { "\($0[0])" }.count
        == 5)
  }

  @Test(
    "M-10 Integers and Booleans become wider numbers",
    arguments: [
      (NSAttributeType.integer16AttributeType, NSAttributeType.integer64AttributeType),
      (.integer64AttributeType, .doubleAttributeType),
      (.booleanAttributeType, .integer32AttributeType),
    ])
  func numbersBecomeWider(old: NSAttributeType, new: NSAttributeType) throws {
    func model(_ type: NSAttributeType) -> NSManagedObjectModel {
      Sample.model { person, _ in
        person.properties.append(Sample.attribute("count", type))
      }
    }
    let store = try Sample.store(model(old))
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE ZPERSON SET ZCOUNT = 1 WHERE ZNAME != 'Bo'")
    connection.close()
    let context = try store.open(model(new))
    try context.performAndWait { () throws -> Void in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "count == 1")
      #expect(try context.count(for: request) == 2)
      request.predicate = NSPredicate(format: "count == nil")
      #expect(try context.count(for: request) == 1)
    }
  }
}
