import OpenCoreData
import ProfileEvents
import Testing

@Suite("Fetched results controllers")
struct ResultsControllerTests {
  /// Employees of three departments, in a file or in memory.
  private struct Company {
    let stack: TestStack
    let coordinator: NSPersistentStoreCoordinator

    init(type: NSPersistentStore.StoreType = .sqlite, employees: Int = 6) throws {
      stack = try TestStack(model: TestModels.company())
      coordinator = try Company.coordinator(stack, type)
      let context = self.context()
      try context.performAndWait {
        let departments = ["A", "B", "C"].map { name in
          let department = context.insert("Department")
          department.setValue(name, forKey: "name")
          return department
        }
        for index in 0..<employees {
          let employee = context.insert("Employee")
          employee.setValue(String(format: "e%03d", index), forKey: "name")
          employee.setValue(departments[index * 3 / max(employees, 1)], forKey: "department")
        }
        try context.save()
      }
    }

    static func coordinator(
      _ stack: TestStack, _ type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStoreCoordinator {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
      try coordinator.addPersistentStore(type: type, at: stack.storeURL)
      return coordinator
    }

    func context(_ other: NSPersistentStoreCoordinator? = nil) -> NSManagedObjectContext {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = other ?? coordinator
      return context
    }
  }

  private func controller(
    _ context: NSManagedObjectContext, sections: String? = nil, batch: Int = 0,
    cache: String? = nil, predicate: NSPredicate? = nil
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors =
      (sections.map { [NSSortDescriptor(key: $0, ascending: true)] } ?? [])
      + [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchBatchSize = batch
    request.predicate = predicate
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
      cacheName: cache)
  }

  private func names(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
    (controller.fetchedObjects ?? []).compactMap { $0.value(forKey: "name") as? String }
  }

  static let types: [NSPersistentStore.StoreType] = [.sqlite, .inMemory]

  @Test(
    "S3.10 S-I02 one change calls will, delete, insert, move, update, did, with old and new index paths",
    arguments: types, [0, 2])
  func oneSetOfChangesCallsTheDelegateInOrder(
    type: NSPersistentStore.StoreType, batch: Int
  ) throws {
    let company = try Company(type: type)
    let context = company.context()
    try context.performAndWait {
      let controller = controller(context, batch: batch)
      let listener = ResultsListener()
      controller.delegate = listener
      context.insert("Employee").setValue("e9", forKey: "name")
      context.processPendingChanges()
      #expect(listener.lines.isEmpty)
      try controller.performFetch()
      listener.start(controller.sections)
      let all = try #require(controller.fetchedObjects)
      #expect(names(controller).last == "e9")
      context.delete(all[1])
      context.insert("Employee").setValue("e0005", forKey: "name")
      all[4].setValue("a", forKey: "name")
      all[5].setValue("e005", forKey: "name")
      context.processPendingChanges()
      #expect(
        listener.lines == [
          "will", "delete [0, 1]", "insert [0, 2]", "move [0, 4] [0, 0]", "update [0, 5]", "did",
        ])
      #expect(names(controller) == ["a", "e000", "e0005", "e002", "e003", "e005", "e9"])
      #expect(listener.mirror.first?.objects == controller.fetchedObjects)
    }
  }

  @Test("S3.11 a merged change makes the same calls", arguments: types)
  func mergedChangeCallsTheDelegate(type: NSPersistentStore.StoreType) throws {
    let company = try Company(type: type)
    let (mine, theirs) = (company.context(), company.context())
    try mine.performAndWait {
      let controller = controller(mine)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      #expect(names(controller).last == "e005")
      let third = controller.object(at: IndexPath(item: 2, section: 0))
      try theirs.performAndWait {
        theirs.object(with: third.objectID).setValue("z", forKey: "name")
        try theirs.save()
      }
      mine.refresh(third, mergeChanges: true)
      mine.processPendingChanges()
      #expect(listener.lines == ["will", "move [0, 2] [0, 5]", "did"])
      #expect(names(controller).last == "z")
    }
  }

  @Test("A refreshed object whose row no longer exists isn't inserted again", arguments: types)
  func refreshedObjectWithoutARowIsNotInserted(type: NSPersistentStore.StoreType) throws {
    let company = try Company(type: type)
    let (mine, theirs) = (company.context(), company.context())
    try mine.performAndWait {
      let controller = controller(mine)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      let gone = controller.object(at: IndexPath(item: 2, section: 0))
      let saved = NoteList(theirs, .NSManagedObjectContextDidSave)
      try theirs.performAndWait {
        theirs.delete(theirs.object(with: gone.objectID))
        try theirs.save()
      }
      mine.mergeChanges(fromContextDidSave: try #require(saved.notes.last))
      #expect(gone.isDeleted && controller.fetchedObjects?.count == 5)
      listener.start(controller.sections)
      mine.refreshAllObjects()
      mine.processPendingChanges()
      #expect(gone.isDeleted && !listener.lines.contains { $0.hasPrefix("insert") })
      #expect(names(controller) == ["e000", "e001", "e003", "e004", "e005"])
    }
  }

  @Test("S-I03 sections follow the key path, the first sort descriptor", arguments: [0, 2])
  func sectionsFollowTheKeyPathAndRequireItsSort(batch: Int) throws {
    let company = try Company()
    let context = company.context()
    try context.performAndWait {
      let right = controller(context, sections: "department.name", batch: batch)
      try right.performFetch()
      #expect(right.sections?.map(\.name) == ["A", "B", "C"])
      #expect(right.sections?.map(\.numberOfObjects) == [2, 2, 2])
      #expect(right.sectionIndexTitles == ["A", "B", "C"])
      #expect(right.section(forSectionIndexTitle: "C", at: 2) == 2)
      let last = right.object(at: IndexPath(item: 1, section: 2))
      #expect(last.value(forKey: "name") as? String == "e005")
      #expect(right.indexPath(forObject: last) == IndexPath(item: 1, section: 2))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let first = right.object(at: IndexPath(item: 0, section: 0))
      let other = right.object(at: IndexPath(item: 0, section: 2))
      first.setValue(other.value(forKey: "department"), forKey: "department")
      let wrong = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context,
        sectionNameKeyPath: "department.name", cacheName: nil)
      let error = #expect(throws: NSError.self) { try wrong.performFetch() }
      #expect(error?.localizedDescription.contains("section 'C' aren't contiguous") == true)
    }
  }

  @Test(
    "S-I04 a section is deleted with its last object and inserted with its first",
    arguments: types)
  func sectionsAreDeletedAndInsertedWithTheirObjects(type: NSPersistentStore.StoreType) throws {
    let company = try Company(type: type, employees: 3)
    let context = company.context()
    try context.performAndWait {
      let controller = controller(context, sections: "department.name")
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      let (a, b) = (
        controller.object(at: IndexPath(item: 0, section: 0)),
        controller.object(at: IndexPath(item: 0, section: 1))
      )
      a.setValue(b.value(forKey: "department"), forKey: "department")
      context.processPendingChanges()
      #expect(
        listener.lines == ["will", "section delete 0", "move [0, 0] [0, 0]", "did"])
      let department = context.insert("Department")
      department.setValue("Aa", forKey: "name")
      listener.lines = []
      b.setValue(department, forKey: "department")
      context.processPendingChanges()
      #expect(
        listener.lines == ["will", "section insert 0", "move [0, 1] [0, 0]", "did"])
      #expect(controller.sections?.map(\.name) == ["Aa", "B", "C"])
      #expect(controller.snapshot.sectionIdentifiers == ["Aa", "B", "C"])
      #expect(controller.snapshot.numberOfItems == 3)
    }
  }

  @Test("S-I05 S8.17 the cache saves the SELECTs of IDs and sections until the store changes")
  func cacheSavesSelectsUntilTheStoreChanges() throws {
    let company = try Company(employees: 30)
    let name = "ResultsControllerTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    /// SELECTs and rows of a cold run.
    func run() throws -> [Int] {
      let context = company.context(try Company.coordinator(company.stack, .sqlite))
      return try context.performAndWait {
        let controller = controller(context, sections: "department.name", batch: 10, cache: name)
        try controller.performFetch()
        #expect(controller.sections?.map(\.numberOfObjects) == [10, 10, 10])
        return [context.counters.selects, context.counters.rows]
      }
    }
    // Two signatures; the object IDs; three batches of ten; three departments.
    #expect(try run() == [2 + 1 + 3 + 3, 2 + 30 + 30 + 3])
    #expect(try run() == [2, 2])
    let writer = company.context()
    try writer.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      try writer.fetch(request).first?.setValue("A", forKey: "name")
      try writer.save()
    }
    #expect(try run() == [9, 65])
  }

  @Test("S-I06 a changed request under the same name is an error until the cache is deleted")
  func cacheOfAnotherRequestIsAnError() throws {
    let company = try Company()
    let name = "ResultsControllerTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    let context = company.context()
    try context.performAndWait {
      try controller(context, cache: name).performFetch()
      let predicate = NSPredicate(format: "name < %@", "e003")
      let changed = controller(context, cache: name, predicate: predicate)
      let error = #expect(throws: NSError.self) { try changed.performFetch() }
      #expect(error?.code == NSCoreDataError)
      NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
      try changed.performFetch()
      #expect(names(changed) == ["e000", "e001", "e002"])
    }
  }

  @Test("S-I01 a controller requires sort descriptors")
  func sortDescriptorsAreRequired() async {
    let unsorted = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = NSFetchedResultsController(
        fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Employee"),
        managedObjectContext: NSManagedObjectContext(
          concurrencyType: .privateQueueConcurrencyType), sectionNameKeyPath: nil, cacheName: nil)
    }
    #expect(unsorted.message.contains("needs a fetch request with sort descriptors"))
  }

  @Test("Applying the reported changes gives the fetched objects", arguments: types, [0, 3])
  func reportedChangesReproduceTheFetchedObjects(
    type: NSPersistentStore.StoreType, batch: Int
  ) throws {
    let company = try Company(type: type, employees: 20)
    let context = company.context()
    var random = SeededRandom(seed: 7)
    try context.performAndWait {
      let predicate = NSPredicate(format: "name < 'x'")
      let controller = controller(
        context, sections: "department.name", batch: batch, predicate: predicate)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      let departments = try context.fetch(
        NSFetchRequest<NSManagedObject>(entityName: "Department"))
      for step in 0..<150 {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          change(controller, context, departments, &random)
        }
        context.processPendingChanges()
        if step % 10 == 9 { try context.save() }
        let objects = (controller.sections ?? []).map { $0.objects as? [NSManagedObject] ?? [] }
        #expect(listener.mirror.map(\.objects) == objects, "step \(step)")
        #expect(listener.mirror.map(\.name) == controller.sections?.map(\.name))
        let keys = objects.joined().map { object in
          [object.value(forKeyPath: "department.name"), object.value(forKey: "name")]
            .compactMap { $0 as? String }.joined(separator: " ")
        }
        #expect(keys == keys.sorted(), "step \(step)")
        #expect(Set(objects.joined()) == Set(try context.fetch(controller.fetchRequest)))
      }
    }
  }

  @Test("Empty sort descriptors are accepted: new objects are appended")
  func emptySortDescriptorsAppendNewObjects() throws {
    let company = try Company()
    let context = company.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.sortDescriptors = []
      for sections in [nil, "department.name"] {
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
          cacheName: nil)
        let listener = ResultsListener()
        controller.delegate = listener
        try controller.performFetch()
        listener.start(controller.sections)
        let first = controller.object(at: IndexPath(item: 0, section: 0))
        let new = context.insert("Employee")
        new.setValue("a", forKey: "name")
        new.setValue(first.value(forKey: "department"), forKey: "department")
        first.setValue("z", forKey: "name")
        context.processPendingChanges()
        #expect(listener.mirror.map(\.name) == controller.sections?.map(\.name))
        #expect(listener.mirror.flatMap(\.objects) == controller.fetchedObjects)
        let index = controller.indexPath(forObject: new)
        #expect(index == (sections == nil ? IndexPath(item: 6, section: 0) : [0, 2]))
        context.rollback()
      }
    }
  }

  @Test("A section that is deleted has no objects")
  func deletedSectionHasNoObjects() throws {
    let company = try Company()
    let context = company.context()
    try context.performAndWait {
      let controller = controller(context, sections: "department.name")
      let listener = SectionListener()
      controller.delegate = listener
      try controller.performFetch()
      for object in controller.sections?[1].objects as? [NSManagedObject] ?? [] {
        context.delete(object)
      }
      context.processPendingChanges()
      #expect(listener.deleted.map(\.name) == ["B"])
      #expect(listener.deleted.map(\.numberOfObjects) == [0])
      #expect(listener.deleted.map { $0.objects?.count } == [0])
    }
  }

  @Test("A section that was requested before a change has the objects of its present section")
  func sectionsFollowTheResults() throws {
    let company = try Company()
    let context = company.context()
    try context.performAndWait {
      let controller = controller(context, sections: "department.name")
      let listener = SectionListener()
      controller.delegate = listener
      try controller.performFetch()
      let sections = try #require(controller.sections)
      let first = try #require(sections[0].objects as? [NSManagedObject])
      let last = try #require(sections[2].objects as? [NSManagedObject])
      for object in first { context.delete(object) }
      context.processPendingChanges()
      #expect(sections[0].numberOfObjects == 0 && sections[0].objects?.isEmpty == true)
      #expect(sections[2].numberOfObjects == last.count)
      #expect(sections[2].objects as? [NSManagedObject] == last)
      for object in last { context.delete(object) }
      context.processPendingChanges()
      #expect(sections[2].objects?.isEmpty == true)
    }
  }

  @Test(
    "New objects that compare equal are in the order of their insertion", arguments: types, [0, 2])
  func equalNewObjectsAreInTheOrderOfInsertion(
    type: NSPersistentStore.StoreType, batch: Int
  ) throws {
    let company = try Company(type: type, employees: 0)
    let context = company.context()
    try context.performAndWait {
      let controller = controller(context, batch: batch)
      let listener = SectionListener()
      controller.delegate = listener
      try controller.performFetch()
      let inserted = (0..<3).map { _ in
        let employee = context.insert("Employee")
        employee.setValue("same", forKey: "name")
        return employee
      }
      context.processPendingChanges()
      #expect(controller.fetchedObjects == inserted)
      try context.save()
      try controller.performFetch()
      #expect(controller.fetchedObjects == inserted)
    }
  }

  @Test("A controller retains the four batches used last")
  func batchesUsedLastAreRetained() throws {
    let company = try Company(employees: 60)
    let context = company.context()
    try context.performAndWait {
      let controller = controller(context, batch: 10)
      try controller.performFetch()
      func selects(_ item: Int) -> Int {
        let before = context.counters.selects
        _ = controller.object(at: IndexPath(item: item, section: 0)).objectID
        return context.counters.selects - before
      }
      for item in [0, 10, 20, 30] { #expect(selects(item) == 1) }
      #expect(selects(5) == 0)
      #expect(selects(40) == 1)
      #expect(selects(9) == 0 && selects(29) == 0 && selects(39) == 0)
      #expect(selects(10) == 1, "the batch used least recently was released")
    }
  }

  @Test("A cache isn't used after a save that changed a table that only the predicate reads")
  func cacheDependsOnTheTablesOfThePredicate() throws {
    let company = try Company()
    let cache = "OpenCoreDataTests-\(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: cache) }
    let context = company.context()
    try context.performAndWait {
      func names() throws -> [String] {
        let controller = controller(
          context, batch: 2, cache: cache, predicate: NSPredicate(format: "department.name == 'A'"))
        try controller.performFetch()
        return self.names(controller)
      }
      func selects() throws -> Int {
        let before = context.counters.selects
        #expect(try names() == ["e000", "e001"])
        return context.counters.selects - before
      }
      let first = try selects()
      #expect(try selects() < first, "the cache is used")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      for department in try context.fetch(request) { department.setValue("Z", forKey: "name") }
      try context.save()
      #expect(try names().isEmpty)
    }
  }

  private func change(
    _ controller: NSFetchedResultsController<NSManagedObject>, _ context: NSManagedObjectContext,
    _ departments: [NSManagedObject], _ random: inout SeededRandom
  ) {
    let letters = ["a", "b", "e", "f", "w", "y"]
    let name = (letters.randomElement(using: &random) ?? "a") + "\(random.next() % 30)"
    guard Int.random(in: 0..<5, using: &random) > 0,
      let object = controller.fetchedObjects?.filter({ !$0.isDeleted })
        .randomElement(using: &random)
    else {
      let employee = context.insert("Employee")
      employee.setValue(name, forKey: "name")
      employee.setValue(departments.randomElement(using: &random), forKey: "department")
      return
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: context.delete(object)
    case 1: object.setValue(departments.randomElement(using: &random), forKey: "department")
    default: object.setValue(name, forKey: "name")
    }
  }
}

extension NSManagedObjectContext {
  fileprivate func insert(_ entity: String) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
  }
}

/// Records the sections that a controller deletes.
private final class SectionListener: NSFetchedResultsControllerDelegate {
  var deleted: [any NSFetchedResultsSectionInfo] = []

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    if type == .delete { deleted.append(sectionInfo) }
  }
}
