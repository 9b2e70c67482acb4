import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

@Suite("Faults and lost connections")
struct FaultTests {
  private let stack: PostgresStack

  init() throws {
    stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    try context.performAndWait {
      let sales = context.insert("Department", ["name": "Sales"])
      for (index, name) in ["Ada", "Ben", "Cleo"].enumerated() {
        context.insert("Person", ["name": name, "age": index, "department": sales])
      }
      context.insert("Person", ["name": "Dan", "age": 3])
      try context.save()
    }
  }

  /// Changes all rows without the framework, so that what is read later differs.
  private func changeRows() throws {
    try TestServer.connection().query(
      "UPDATE \(stack.quoted).\"Person\" SET age = age + 100, z_opt = z_opt + 1")
  }

  private func ages(_ objects: [NSManagedObject]) -> [Int] {
    objects.map { ($0.value(forKey: "age") as? NSNumber)?.intValue ?? 0 }
  }

  @Test("A fetch reads the rows with its SELECT: faults fire without another one")
  func fetchesFillTheRowCache() throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      let people = try context.all("Person")
      #expect(people.allSatisfy { $0.isFault })
      try changeRows()
      #expect(ages(people) == [0, 1, 2, 3])
      #expect(try context.all("Person").first === people.first)
      context.refreshAllObjects()
      #expect(ages(people) == [100, 101, 102, 103])
    }
  }

  @Test("Without property values, each fault reads its row")
  func faultsReadTheirRows() throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.includesPropertyValues = false
      let people = try context.fetch(request)
      try changeRows()
      #expect(ages(people) == [100, 101, 102, 103])
    }
  }

  @Test("Prefetching reads the destinations with the fetch")
  func prefetching() throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      request.relationshipKeyPathsForPrefetching = ["people.department", "tasks"]
      let sales = try #require(try context.fetch(request).first)
      try changeRows()
      try TestServer.connection().query(
        "UPDATE \(stack.quoted).\"Person\" SET department = NULL, z_opt = z_opt + 1")
      let people = sales.value(forKey: "people") as? Set<NSManagedObject> ?? []
      #expect(ages(people.sorted { $0.name ?? "" < $1.name ?? "" }) == [0, 1, 2])
      #expect(sales.listedNames("tasks") == [])
    }
  }

  @Test("A prefetched relationship is one of the entity, not only of an entity below it")
  func prefetchingOfSiblings() throws {
    let shape = SampleModels.entity("Shape", [SampleModels.attribute("name", .stringAttributeType)])
    let (circle, square) = (SampleModels.entity("Circle", []), SampleModels.entity("Square", []))
    shape.subentities = [circle, square]
    let (dot, edge) = (SampleModels.entity("Dot", []), SampleModels.entity("Edge", []))
    SampleModels.relate(circle, "parts", SampleModels.many, dot, "owner", SampleModels.one)
    SampleModels.relate(square, "parts", SampleModels.many, edge, "owner", SampleModels.one)
    let stack = try PostgresStack(SampleModels.model([shape, circle, square, dot, edge]))
    let context = stack.context()
    try context.performAndWait {
      context.insert("Circle", ["name": "c", "parts": Set([context.insert("Dot")])])
      context.insert("Square", ["name": "s", "parts": Set([context.insert("Edge")])])
      try context.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shape")
      request.relationshipKeyPathsForPrefetching = ["parts"]
      let error = #expect(throws: NSError.self) { try cold.fetch(request) }
      #expect(error?.code == NSCoreDataError)
      #expect(error?.localizedDescription.contains("'parts'") == true)
      for entity in ["Circle", "Square"] {
        request.entity = stack.model.entitiesByName[entity]
        let found = try #require(try cold.fetch(request).first)
        #expect((found.value(forKey: "parts") as? Set<NSManagedObject>)?.count == 1)
      }
    }
  }

  @Test("The rows of a batch are read together")
  func batches() throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.fetchBatchSize = 2
      let people = try context.fetchBatched(request)
      #expect(people.count == 4)
      let first = people[0]
      #expect(first.name == "Ada")
      try changeRows()
      #expect(people[1].value(forKey: "age") as? Int == 1)
      #expect(people[2].value(forKey: "age") as? Int == 102)
    }
  }

  @Test("Rows are read again after the staleness interval, and refetched ones if requested")
  func staleRows() throws {
    let context = try stack.coldContext()
    try context.performAndWait {
      let ada = try context.named("Ada")
      #expect(ages([ada]) == [0])
      try changeRows()
      context.refresh(ada, mergeChanges: false)
      #expect(ages([ada]) == [0])
      context.stalenessInterval = 0
      context.refresh(ada, mergeChanges: false)
      #expect(ages([ada]) == [100])
      try changeRows()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "name == 'Ada'")
      request.shouldRefreshRefetchedObjects = true
      let again = try context.fetch(request)
      #expect(again.first === ada)
      #expect(ages(again) == [200])
    }
  }

  @Test("A results controller and a child context use the store")
  func controllersAndChildren() throws {
    final class Delegate: NSFetchedResultsControllerDelegate {}
    let context = try stack.coldContext()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [
      NSSortDescriptor(key: "department.name", ascending: true),
      NSSortDescriptor(key: "name", ascending: true),
    ]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context,
      sectionNameKeyPath: "department.name", cacheName: nil)
    let delegate = Delegate()
    try context.performAndWait {
      controller.delegate = delegate
      try controller.performFetch()
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 3])
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try child.performAndWait {
      let dan = try child.named("Dan")
      dan.setValue(try child.named("Sales", "Department"), forKey: "department")
      try child.save()
    }
    try context.performAndWait {
      try context.save()
      #expect(controller.sections?.map(\.numberOfObjects) == [4])
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      try expectEqual(cold.named("Sales", "Department").names("people").count, 4)
    }
    withExtendedLifetime(delegate) {}
  }

  @Test("A store goes on after the server has closed its connections")
  func lostConnections() throws {
    let context = try stack.coldContext()
    let killer = try TestServer.connection()
    // Other tests' connections are spared: only those that used this schema last.
    func kill() throws {
      let killed = try killer.query(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
          + "WHERE pid <> pg_backend_pid() AND strpos(query, $1) > 0",
        [.text(stack.schema)])
      #expect((killed.integer(0, 0) ?? 0) > 0)
    }
    try context.performAndWait {
      let people = try context.all("Person")
      try kill()
      try expectEqual(context.all("Person"), people)
      try kill()
      people[0].setValue("Adele", forKey: "name")
      context.insert("Person", ["name": "Eve"])
      try context.save()
      try context.all("Department").forEach(context.delete)
      try kill()
      try context.save()
      let names = try context.all("Person").map(\.name)
      #expect(names == ["Adele", "Ben", "Cleo", "Dan", "Eve"])
    }
  }
}
