import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

@Suite("Relationships")
struct RelationshipTests {
  private let stack: PostgresStack

  init() throws { stack = try PostgresStack(SampleModels.company()) }

  private func write(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      try body(context)
      try context.save()
    }
  }

  private func read(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = try stack.coldContext()
    try context.performAndWait { try body(context) }
  }

  @Test("A to-one and its to-many inverse are read from one column")
  func toOneAndInverse() throws {
    try write { context in
      let sales = context.insert("Department", ["name": "Sales"])
      context.insert("Person", ["name": "Ada", "department": sales])
      context.insert("Manager", ["name": "Ben", "department": sales, "level": 3])
      context.insert("Department", ["name": "Labs"])
    }
    try write { context in
      let labs = try context.all("Department")[0]
      #expect(labs.names("people") == [])
      try context.all("Person")[0].setValue(labs, forKey: "department")
    }
    try read { context in
      let departments = try context.all("Department")
      #expect(departments.map { $0.names("people") } == [["Ada"], ["Ben"]])
      let people = try context.all("Person")
      #expect(
        people.map { ($0.value(forKey: "department") as? NSManagedObject)?.name } == [
          "Labs", "Sales",
        ])
      #expect(people.map(\.entity.name) == ["Person", "Manager"])
      #expect((people[1].value(forKey: "level") as? NSNumber)?.intValue == 3)
    }
    try write { context in try context.all("Person")[1].setValue(nil, forKey: "department") }
    try read { context in
      try expectEqual(context.all("Department")[1].names("people"), [])
      try expectEqual(context.all("Person")[1].value(forKey: "department") as? NSManagedObject, nil)
    }
  }

  @Test("A destination has its own entity, also if it's below that of the relationship")
  func destinationsHaveTheirEntities() throws {
    try write { context in
      let boss = context.insert("Manager", ["name": "Ben", "level": 1])
      context.insert("Person", ["name": "Ada", "boss": boss])
      context.insert("Note", ["name": "n", "about": boss])
    }
    try read { context in
      let ada = try context.all("Person")[0]
      let boss = try #require(ada.value(forKey: "boss") as? NSManagedObject)
      #expect((boss.entity.name, boss.name) == ("Manager", "Ben"))
      #expect(boss.names("reports") == ["Ada"])
      let about = try context.all("Note")[0].value(forKey: "about") as? NSManagedObject
      #expect(about === boss)
    }
  }

  @Test("Pairs of a many-to-many are added and removed from both sides")
  func manyToMany() throws {
    try write { context in
      let (swift, sql) = (
        context.insert("Skill", ["name": "Swift"]), context.insert("Skill", ["name": "SQL"])
      )
      context.insert("Person", ["name": "Ada", "skills": Set([swift, sql])])
      context.insert("Person", ["name": "Ben", "skills": Set([sql])])
    }
    try read { context in
      try expectEqual(
        context.all("Person").map { $0.names("skills") }, [["SQL", "Swift"], ["SQL"]])
      try expectEqual(context.all("Skill").map { $0.names("people") }, [["Ada", "Ben"], ["Ada"]])
    }
    try write { context in
      let (skills, people) = (try context.all("Skill"), try context.all("Person"))
      skills[0].mutableSetValue(forKey: "people").remove(people[0])
      people[1].mutableSetValue(forKey: "skills").add(skills[1])
    }
    try read { context in
      try expectEqual(
        context.all("Person").map { $0.names("skills") }, [["Swift"], ["SQL", "Swift"]])
    }
    try write { context in context.delete(try context.all("Skill")[1]) }
    try read { context in
      try expectEqual(context.all("Person").map { $0.names("skills") }, [[], ["SQL"]])
    }
  }

  @Test("Two contexts that change different pairs of one object both succeed")
  func pairsAreChangedOneByOne() throws {
    try write { context in
      for name in ["Swift", "SQL", "C"] { context.insert("Skill", ["name": name]) }
      context.insert("Person", ["name": "Ada"])
    }
    let (first, second) = (try stack.coldContext(), try stack.coldContext())
    first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try second.performAndWait { _ = try second.all("Person")[0].names("skills") }
    try first.performAndWait {
      let skill = try first.all("Skill")[0]
      try first.all("Person")[0].mutableSetValue(forKey: "skills").add(skill)
      try first.save()
    }
    try second.performAndWait {
      let skill = try second.all("Skill")[1]
      try second.all("Person")[0].mutableSetValue(forKey: "skills").add(skill)
      try second.save()
    }
    try read { context in try expectEqual(context.all("Person")[0].names("skills"), ["C", "SQL"]) }
  }

  @Test("A relationship that is its own inverse is read from both ends")
  func symmetricRelationship() throws {
    try write { context in
      let ada = context.insert("Person", ["name": "Ada"])
      context.insert("Person", ["name": "Ben", "friends": Set([ada])])
      context.insert("Person", ["name": "Cleo", "friends": Set([ada])])
    }
    try read { context in
      try expectEqual(
        context.all("Person").map { $0.names("friends") },
        [
          ["Ben", "Cleo"], ["Ada"], ["Ada"],
        ])
    }
    try write { context in
      let people = try context.all("Person")
      people[1].mutableSetValue(forKey: "friends").remove(people[0])
    }
    try write { context in context.delete(try context.all("Person")[2]) }
    try read { context in
      try expectEqual(context.all("Person").map { $0.names("friends") }, [[], []])
    }
    let pairs = try TestServer.connection().query(
      "SELECT count(*) FROM \(stack.quoted).\"Person_friends\"")
    #expect(pairs.integer(0, 0) == 0)
  }

  @Test("Ordered relationships keep their order, with and without an inverse, and many-to-many")
  func orderedRelationships() throws {
    func setList(_ object: NSManagedObject, _ key: String, _ list: [NSManagedObject]) {
      let set = object.mutableOrderedSetValue(forKey: key)
      set.removeAllObjects()
      for member in list { set.add(member) }
    }
    try write { context in
      let tasks = ["c", "a", "b"].map { context.insert("Task", ["name": $0]) }
      let notes = ["z", "x", "y"].map { context.insert("Note", ["name": $0]) }
      let sales = context.insert("Department", ["name": "Sales"])
      setList(sales, "tasks", tasks)
      setList(sales, "steps", notes)
      setList(context.insert("Person", ["name": "Ada"]), "favorites", tasks)
      setList(context.insert("Person", ["name": "Ben"]), "favorites", tasks.reversed())
    }
    try read { context in
      let sales = try context.all("Department")[0]
      #expect(sales.listedNames("tasks") == ["c", "a", "b"])
      #expect(sales.listedNames("steps") == ["z", "x", "y"])
      let people = try context.all("Person")
      #expect(people.map { $0.listedNames("favorites") } == [["c", "a", "b"], ["b", "a", "c"]])
      try expectEqual(context.all("Task")[0].names("fans"), ["Ada", "Ben"])
    }
    try write { context in
      let sales = try context.all("Department")[0]
      let tasks = try context.all("Task")
      setList(sales, "tasks", [tasks[1], tasks[2], context.insert("Task", ["name": "d"])])
      sales.mutableOrderedSetValue(forKey: "steps").moveObjects(at: IndexSet(integer: 2), to: 0)
      let ada = try context.all("Person")[0]
      ada.mutableOrderedSetValue(forKey: "favorites").removeObject(at: 1)
    }
    try read { context in
      let sales = try context.all("Department")[0]
      #expect(sales.listedNames("tasks") == ["b", "c", "d"])
      #expect(sales.listedNames("steps") == ["y", "z", "x"])
      let people = try context.all("Person")
      #expect(people.map { $0.listedNames("favorites") } == [["c", "b"], ["b", "a", "c"]])
    }
  }

  @Test("One-to-one, and a to-many without an inverse")
  func oneToOneAndWithoutInverse() throws {
    try write { context in
      let badge = context.insert("Badge", ["number": 7])
      context.insert("Person", ["name": "Ada", "badge": badge])
      let notes = ["n1", "n2"].map { context.insert("Note", ["name": $0]) }
      context.insert("Department", ["name": "Labs", "notes": Set(notes)])
      context.insert("Department", ["name": "Sales"])
    }
    try write { context in
      let departments = try context.all("Department")
      #expect(departments[0].names("notes") == ["n1", "n2"])
      let note = try context.all("Note")[0]
      departments[0].mutableSetValue(forKey: "notes").remove(note)
      departments[1].mutableSetValue(forKey: "notes").add(note)
    }
    try read { context in
      try expectEqual(context.all("Department").map { $0.names("notes") }, [["n2"], ["n1"]])
      let ada = try context.all("Person")[0]
      let badge = ada.value(forKey: "badge") as? NSManagedObject
      #expect((badge?.value(forKey: "number") as? NSNumber)?.intValue == 7)
      #expect(badge?.value(forKey: "owner") as? NSManagedObject === ada)
    }
    try write { context in context.delete(try context.all("Department")[0]) }
    try read { context in try expectEqual(context.all("Note").count, 2) }
  }

  @Test("A deleted object's row is gone, and a fault for it is error 133000")
  func deletedRowsAreGone() throws {
    try write { context in context.insert("Person", ["name": "Ada"]) }
    let reader = try stack.coldContext()
    let ada = try reader.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.includesPropertyValues = false
      return try reader.fetch(request)[0]
    }
    try write { context in context.delete(try context.all("Person")[0]) }
    reader.performAndWait {
      let error = #expect(throws: NSError.self) {
        try reader.existingObject(with: ada.objectID)
      }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }
  }
}
