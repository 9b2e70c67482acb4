import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Names that differ in case only, or are the same once they're joined")
struct NameCollisionTests {
  private static func document(_ entities: String) throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data("<model>\(entities)</model>".utf8), file: "Names")
  }

  private static func names(_ type: String, in stack: TestStack) throws -> [String] {
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    return try connection.values(
      "SELECT name FROM sqlite_master WHERE type = '\(type)' AND name LIKE 'Z%' ORDER BY rowid"
    ).compactMap { row in if case .text(let name)? = row.first { name } else { nil } }
  }

  @Test("Indexes, constraints, and R-trees with the same name get numbers, and work")
  func indexesHaveNamesOfTheirOwn() throws {
    let stack = try TestStack(
      model: Self.document(
        """
        <entity name="A"><attribute name="a" optional="YES" attributeType="String"/>
        <attribute name="b" optional="YES" attributeType="String"/>
        <attribute name="a_b" optional="YES" attributeType="String"/>
        <attribute name="x" optional="YES" attributeType="Double"/>
        <fetchIndex name="byName"><fetchIndexElement property="a" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="byname"><fetchIndexElement property="b" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="b_c"><fetchIndexElement property="b" type="Binary" order="descending"/>
        </fetchIndex>
        <fetchIndex name="place"><fetchIndexElement property="x" type="RTree" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="Place"><fetchIndexElement property="x" type="RTree" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
        <uniquenessConstraint><constraint value="a_b"/></uniquenessConstraint>
        <uniquenessConstraint><constraint value="a"/><constraint value="b"/></uniquenessConstraint>
        </uniquenessConstraints></entity>
        <entity name="A_b"><attribute name="c" optional="YES" attributeType="String"/>
        <fetchIndex name="c"><fetchIndexElement property="c" type="Binary" order="ascending"/>
        </fetchIndex></entity>
        """))
    let context = try stack.coldContext()
    try context.performAndWait {
      for value in ["1", "2"] {
        let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        object.setValuesForKeys(["a": value, "b": "b", "a_b": value, "x": 1.5])
      }
      try context.save()
    }
    #expect(
      try Self.names("index", in: stack) == [
        "Z_A_byName", "Z_A_byname1", "Z_A_b_c", "Z_A_b_c1", "Z_A_UNIQUE_a_b", "Z_A_UNIQUE_a_b1",
      ])
    let tables = try Self.names("table", in: stack)
    #expect(tables.contains("Z_RT_A_place") && tables.contains("Z_RT_A_Place1"))
    // Both constraints are enforced.
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    #expect(try connection.values("SELECT count(*) FROM Z_RT_A_Place1") == [[.integer(2)]])
    let second = try stack.coldContext()
    try second.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      request.predicate = NSPredicate(format: "a == '2' AND b == 'b'")
      let count = try second.count(for: request)
      #expect(count == 1)
      let same = NSEntityDescription.insertNewObject(forEntityName: "A", into: second)
      same.setValuesForKeys(["a": "1", "b": "b", "a_b": "3"])
      let error = thrownError { try second.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
    }
  }

  @Test("A migration names an index so that it differs from those that stay")
  func migratedIndexesHaveNamesOfTheirOwn() throws {
    func model(_ indexes: [(name: String, property: String)], _ modifier: String) throws
      -> NSManagedObjectModel
    {
      let elements = indexes.map { index in
        """
        <fetchIndex name="\(index.name)"><fetchIndexElement property="\(index.property)" \
        type="Binary" order="ascending"/></fetchIndex>
        """
      }
      return try Self.document(
        """
        <entity name="A" versionHashModifier="\(modifier)">
        <attribute name="a" optional="YES" attributeType="String"/>
        <attribute name="b" optional="YES" attributeType="String"/>
        \(elements.joined())</entity>
        """)
    }
    let store = try MigratedStore()
    try store.migrate(to: model([("byName", "a"), ("byname", "b")], "1"))
    try store.migrate(to: model([("byname", "b"), ("byname1", "a")], "2"))
    let names = try store.values("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1")
    #expect(names == [[.text("Z_A_byName")], [.text("Z_A_byname1")]])
    try store.migrate(to: model([("byname", "b"), ("byname1", "b"), ("other", "a")], "3"))
    #expect(
      try store.values("SELECT count(*) FROM sqlite_master WHERE type = 'index'") == [[.integer(3)]]
    )
  }

  @Test("Derived attributes whose triggers would have the same name are all kept up to date")
  func triggersHaveNamesOfTheirOwn() throws {
    func derived(_ name: String, _ source: String) -> String {
      """
      <attribute name="\(name)" optional="YES" attributeType="String" derived="YES" \
      derivationExpression="uppercase:(\(source))"/>
      """
    }
    let stack = try TestStack(
      model: Self.document(
        """
        <entity name="A"><attribute name="p" optional="YES" attributeType="String"/>
        <attribute name="q" optional="YES" attributeType="String"/>
        \(derived("bigName", "p"))\(derived("bigname", "q"))</entity>
        """))
    let context = try stack.coldContext()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValuesForKeys(["p": "one", "q": "two"])
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    #expect(
      try connection.values("SELECT ZBIGNAME, ZBIGNAME1 FROM ZA")
        == [[.text("ONE"), .text("TWO")]])
    let triggers = try Self.names("trigger", in: stack)
    #expect(triggers.count == 4 && triggers.contains("Z_DA_ZA_A_bigName_SOURCE_INSERT"))
    #expect(triggers.contains("Z_DA_ZA_A_bigname1_SOURCE_INSERT"))
  }

  @Test("Many-to-many relationships whose names differ in case have tables of their own")
  func joinTablesHaveNamesOfTheirOwn() throws {
    func relationship(_ name: String, _ entity: String, _ inverse: String) -> String {
      """
      <relationship name="\(name)" optional="YES" toMany="YES" destinationEntity="\(entity)" \
      inverseName="\(inverse)"/>
      """
    }
    let stack = try TestStack(
      model: Self.document(
        """
        <entity name="A">\(relationship("tags", "T", "owners"))\(relationship("Tags", "T", "Owners"))
        </entity><entity name="T">\(relationship("owners", "A", "tags"))
        \(relationship("Owners", "A", "Tags"))</entity>
        <entity name="_1tags"><attribute name="a" optional="YES" attributeType="String"/></entity>
        """))
    let context = try stack.coldContext()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      for name in ["tags", "Tags", "Tags"] {
        object.mutableSetValue(forKey: name).add(
          NSEntityDescription.insertNewObject(forEntityName: "T", into: context))
      }
      try context.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let object = try #require(
        try cold.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first)
      #expect((object.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 1)
      #expect((object.value(forKey: "Tags") as? Set<NSManagedObject>)?.count == 2)
    }
  }

  @Test("A migration keeps the direction of inverses whose names differ only in case")
  func migratedInversesKeepTheirDirection() throws {
    func model(_ attributes: String) throws -> NSManagedObjectModel {
      try Self.document(
        """
        <entity name="A"><attribute name="name" optional="YES" attributeType="String"/>
        \(attributes)
        <relationship name="links" optional="YES" toMany="YES" destinationEntity="A" \
        inverseName="Links"/>
        <relationship name="Links" optional="YES" toMany="YES" destinationEntity="A" \
        inverseName="links"/></entity>
        """)
    }
    let old = try model("<attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/>")
    let store = try MigratedStore()
    let context = try store.open(old)
    try context.performAndWait {
      let objects = ["from", "to"].map { name in
        let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      objects[0].mutableSetValue(forKey: "links").add(objects[1])
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let migrated = try store.open(try model(""))
    try migrated.performAndWait {
      for object in try migrated.everyObject(of: "A") {
        let isSource = object.label == "from"
        let counts = ["links", "Links"].map { name in
          (object.value(forKey: name) as? Set<NSManagedObject>)?.count
        }
        #expect(counts == (isSource ? [1, 0] : [0, 1]))
      }
    }
  }
}
