import CoreDataCosts
import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Schema of a model")
struct ModelTablesTests {
  /// Reads a model from the elements of a model document.
  static func model(_ inside: String) throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data("<model>\(inside)</model>".utf8), file: "Test")
  }

  /// The columns of a table without `Z_PK` and `Z_OPT`; empty if there's no such table.
  static func columns(of table: String, in stack: TestStack) throws -> [String] {
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    return try connection.values("SELECT name FROM pragma_table_info(?)", [.text(table)])
      .compactMap { row in
        if case .text(let name) = row[0], !["Z_PK", "Z_OPT"].contains(name) { name } else { nil }
      }
  }

  static let people = """
    <entity name="Person" isAbstract="YES"><attribute name="name" optional="YES"
    attributeType="String"/></entity>
    <entity name="Employee" parentEntity="Person"><attribute name="salary" optional="YES"
    attributeType="Double"/></entity>
    <entity name="Customer" parentEntity="Person"><attribute name="number" optional="YES"
    attributeType="Integer 32"/></entity>
    """

  private func insert(
    _ entity: String, _ values: [String: Any], in context: NSManagedObjectContext
  ) {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
  }

  @Test("S4.01, S-A09 subentities share one table with the union of their columns")
  func subentitiesShareATable() throws {
    let stack = try TestStack(model: Self.model(Self.people))
    _ = try stack.coldContext()
    #expect(
      try Self.columns(of: "ZPERSON", in: stack) == ["Z_ENT", "ZNUMBER", "ZSALARY", "ZNAME"])
    #expect(try Self.columns(of: "ZEMPLOYEE", in: stack).isEmpty)
    #expect(try Self.columns(of: "ZCUSTOMER", in: stack).isEmpty)
    let more =
      Self.people + #"""
        <entity name="Guest" parentEntity="Person"><attribute name="room" optional="YES"
        attributeType="Integer 16"/></entity>
        """#
    let wider = try TestStack(model: Self.model(more))
    _ = try wider.coldContext()
    #expect(try Self.columns(of: "ZPERSON", in: wider).contains("ZROOM"))
  }

  @Test("S4.02, S-A10 fetching a parent entity includes its subentities, in one SELECT")
  func fetchingAParentEntityIncludesSubentitiesInOneSelect() throws {
    let stack = try TestStack(model: Self.model(Self.people))
    let filling = try stack.coldContext()
    try filling.performAndWait {
      for (index, name) in ["d", "b", "a", "c"].enumerated() {
        let isEmployee = index.isMultiple(of: 2)
        insert(
          isEmployee ? "Employee" : "Customer",
          ["name": name, isEmployee ? "salary" : "number": index], in: filling)
      }
      try filling.save()
    }
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      var people: [NSManagedObject] = []
      var cost = try costs(of: context) { people = try context.fetch(request) }
      #expect(cost.selects == 1 && cost.rows == 4 && cost.faults == 0)
      #expect(people.map(\.entity.name) == ["Employee", "Customer", "Customer", "Employee"])
      #expect(people.map { $0.value(forKey: "name") as? String } == ["a", "b", "c", "d"])
      cost = try costs(of: context) {
        people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer"))
      }
      #expect(cost.selects == 1 && cost.rows == 2)
      #expect(Set(people.map(\.entity.name)) == ["Customer"])
      let texts = events.statements(.select)
      #expect(texts.allSatisfy { $0.contains("FROM ZPERSON t0") })
      #expect(texts.last?.contains("t0.Z_ENT = ?") == true)
    }
  }

  @Test("S3.07 an indexed attribute has an index that sorting uses; others need a temp B-tree")
  func indexedAttributeHasAnIndexUsedForSorting() throws {
    let model = try Self.model(
      """
      <entity name="Note"><attribute name="date" optional="YES" attributeType="Date" indexed="YES"/>
      <attribute name="size" optional="YES" attributeType="Integer 64"/></entity>
      """)
    let stack = try TestStack(model: model)
    _ = try stack.coldContext()
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    let indexes = try connection.values(
      "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZNOTE'")
    #expect(
      indexes == [[.text("CREATE INDEX Z_Note_date ON ZNOTE (ZDATE COLLATE BINARY ASC)")]])
    for (column, index) in [("ZDATE", "Z_Note_date"), ("ZSIZE", nil)] as [(String, String?)] {
      let plan = try connection.values("EXPLAIN QUERY PLAN SELECT * FROM ZNOTE ORDER BY \(column)")
        .compactMap { row in if case .text(let text) = row[3] { text } else { nil } }
      #expect(plan.contains { $0.contains("TEMP B-TREE") } == (index == nil))
      #expect(plan.contains { $0.contains("USING INDEX \(index ?? "?")") } == (index != nil))
    }
  }

  @Test("S4.11 many-to-many has a join table, one-to-many a column")
  func onlyManyToManyHasAJoinTable() throws {
    let library = try TestStack(model: TestModels.library())
    _ = try library.coldContext()
    #expect(try Self.columns(of: "Z_1TAGS", in: library) == ["Z_1ARTICLES", "Z_2TAGS"])
    let company = try TestStack(model: TestModels.company())
    _ = try company.coldContext()
    #expect(try Self.columns(of: "ZEMPLOYEE", in: company) == ["Z_ENT", "ZDEPARTMENT", "ZNAME"])
    let statements = try TestModels.company().creationStatements()
    #expect(!statements.contains { $0.hasPrefix("CREATE TABLE Z_") && $0.contains("EMPLOYEES") })
  }

  @Test("S4.13 several relationships of two entities are separate; a tree refers to itself")
  func relationshipsBetweenTheSameEntitiesAreIndependent() throws {
    let model = try Self.model(
      """
      <entity name="Person"><relationship name="children" toMany="YES" optional="YES"
      destinationEntity="Person" inverseName="parent"/><relationship name="parent" maxCount="1"
      optional="YES" destinationEntity="Person" inverseName="children"/>
      <relationship name="owned" toMany="YES" optional="YES" destinationEntity="House"
      inverseName="owner"/><relationship name="rented" toMany="YES" optional="YES"
      destinationEntity="House" inverseName="tenant"/></entity>
      <entity name="House"><relationship name="owner" maxCount="1" optional="YES"
      destinationEntity="Person" inverseName="owned"/><relationship name="tenant" maxCount="1"
      optional="YES" destinationEntity="Person" inverseName="rented"/></entity>
      """)
    let stack = try TestStack(model: model)
    let filling = try stack.coldContext()
    try filling.performAndWait {
      let house = NSEntityDescription.insertNewObject(forEntityName: "House", into: filling)
      let people = (0..<3).map { _ in
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: filling)
      }
      house.setValue(people[0], forKey: "owner")
      house.setValue(people[1], forKey: "tenant")
      people[1].setValue(people[0], forKey: "parent")
      people[2].setValue(people[1], forKey: "parent")
      try filling.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let house = try #require(
        context.fetch(NSFetchRequest<NSManagedObject>(entityName: "House")).first)
      let owner = try #require(house.value(forKey: "owner") as? NSManagedObject)
      let tenant = try #require(house.value(forKey: "tenant") as? NSManagedObject)
      #expect(owner !== tenant)
      #expect(owner.value(forKey: "owned") as? Set<NSManagedObject> == [house])
      #expect((owner.value(forKey: "rented") as? Set<NSManagedObject>)?.isEmpty == true)
      #expect(tenant.value(forKey: "rented") as? Set<NSManagedObject> == [house])
      #expect(owner.value(forKey: "children") as? Set<NSManagedObject> == [tenant])
      let grandchild = (tenant.value(forKey: "children") as? Set<NSManagedObject>)?.first
      #expect(grandchild?.value(forKeyPath: "parent.parent") as? NSManagedObject === owner)
    }
  }

  @Test("S4.14 without an inverse, deleting the destination leaves a dangling reference")
  func deletingTheDestinationWithoutInverseLeavesADanglingReference() throws {
    let model = try Self.model(
      """
      <entity name="Note"><relationship name="author" maxCount="1" optional="YES"
      destinationEntity="Person"/></entity><entity name="Person"/>
      """)
    let stack = try TestStack(model: model)
    let context = try stack.coldContext()
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      note.setValue(person, forKey: "author")
      try context.save()
      context.delete(person)
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    let dangling = try connection.values(
      "SELECT COUNT(*) FROM ZNOTE WHERE ZAUTHOR IS NOT NULL "
        + "AND ZAUTHOR NOT IN (SELECT Z_PK FROM ZPERSON)")
    #expect(dangling == [[.integer(1)]])
  }

  @Test("S5.01 values have SQLite's storage classes: Booleans are 0 or 1, dates are reals")
  func valuesHaveTheirSQLiteStorageClasses() throws {
    let stack = try TestStack(model: TestModels.library())
    let context = try stack.coldContext()
    try context.performAndWait {
      insert(
        "Article",
        [
          "bool": true, "date": Date(timeIntervalSinceReferenceDate: 1.5), "int16": Int16(7),
          "double": 0.5, "string": "x", "data": Data([1]), "uuid": UUID(),
        ], in: context)
      insert("Article", ["bool": false], in: context)
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    let rows = try connection.values(
      """
      SELECT ZBOOL, ZDATE, ZINT16, ZDOUBLE, ZSTRING, typeof(ZDATA), typeof(ZUUID) FROM ZARTICLE \
      ORDER BY ZBOOL DESC
      """)
    #expect(
      rows == [
        [
          .integer(1), .real(1.5), .integer(7), .real(0.5), .text("x"), .text("blob"),
          .text("blob"),
        ],
        [.integer(0), .null, .null, .null, .null, .text("null"), .text("null")],
      ])
  }
}
