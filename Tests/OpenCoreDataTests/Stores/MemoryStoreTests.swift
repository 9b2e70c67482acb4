import OpenCoreData
import ProfileEvents
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("In-memory stores")
struct MemoryStoreTests {
  /// A coordinator with a new in-memory store of two continents, four countries, and eight moods.
  private func filledCoordinator() throws -> NSPersistentStoreCoordinator {
    SampleClasses.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try TestModels.moody())
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = context(coordinator)
    try context.performAndWait {
      let continents = (0..<2).map { index in
        let continent = Continent(context: context)
        continent.numericISO3166Code = Int16(1000 + index)
        return continent
      }
      let countries = (0..<4).map { index in
        let country = Country(context: context)
        country.numericISO3166Code = Int16(index + 1)
        country.continent = continents[index % 2]
        return country
      }
      for index in 0..<8 {
        let mood = Mood(context: context)
        mood.date = Date(timeIntervalSinceReferenceDate: Double(index))
        mood.colors = Data([UInt8(index)])
        mood.country = countries[index % 4]
      }
      try context.save()
    }
    return coordinator
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("A predicate that has read a transient property of an object doesn't read it of a row")
  func rowsHaveNoTransientProperties() throws {
    let mood = SchemaModels.attribute("mood", .stringAttributeType)
    mood.isTransient = true
    let owner = SchemaModels.entity("Owner", [mood])
    let pet = SchemaModels.entity("Pet", [SchemaModels.attribute("name", .stringAttributeType)])
    SchemaModels.relate(owner, "pets", many: true, pet, "owner", many: false)
    let model = NSManagedObjectModel()
    model.entities = [owner, pet]
    let context = try SharedStack(.memory, model).context()
    try context.performAndWait {
      let ann = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      let rex = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
      ann.setValue("calm", forKey: "mood")
      rex.setValue("calm", forKey: "name")
      rex.setValue(ann, forKey: "owner")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
      let predicate = NSPredicate(format: "SUBQUERY(pets, $p, $p.name == mood).@count == 1")
      request.predicate = predicate
      #expect(predicate.evaluate(with: ann))
      try context.save()
      let error = thrownError { _ = try context.fetch(request) }
      #expect(error?.localizedDescription.contains("no persistent property 'mood'") == true)
    }
  }

  @Test("Predicates over relationships, sorts, and limits apply, and no statement runs")
  func fetchesApplyPredicatesSortsAndLimitsWithoutStatements() throws {
    let context = context(try filledCoordinator())
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      request.predicate = NSPredicate(
        format: "country.continent.numericISO3166Code == %d", 1001)
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
      request.fetchOffset = 1
      request.fetchLimit = 2
      let moods = try context.fetch(request)
      #expect(moods.compactMap { ($0.value(forKey: "colors") as? Data)?.first } == [5, 3])
      request.fetchOffset = 0
      request.fetchLimit = 0
      #expect(try context.count(for: request) == 4)
      let lands = NSFetchRequest<NSManagedObject>(entityName: "Country")
      lands.predicate = NSPredicate(format: "moods.@count == 2 AND ANY moods.date < %@", Date.now)
      lands.relationshipKeyPathsForPrefetching = ["moods"]
      let countries = try context.fetch(lands)
      #expect(countries.count == 4)
      let related = countries.map { ($0.value(forKey: "moods") as? Set<NSManagedObject>)?.count }
      #expect(related == [2, 2, 2, 2])
      #expect(context.counters.selects == 0)
      #expect(context.counters.relationshipFaultHits == 4)
      #expect(context.counters.relationshipFaultMisses == 0)
    }
  }

  @Test("Relationships change on both sides, and deletions remove references")
  func relationshipsChangeOnBothSidesAndDeletionsRemoveReferences() throws {
    let coordinator = try filledCoordinator()
    let first = context(coordinator)
    try first.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Country")
      request.sortDescriptors = [NSSortDescriptor(key: "numericISO3166Code", ascending: true)]
      let countries = try first.fetch(request)
      let moods = try first.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood"))
      for mood in moods.prefix(4) { mood.setValue(countries[0], forKey: "country") }
      first.delete(moods[7])
      try first.save()
    }
    let second = context(coordinator)
    try second.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Country")
      request.sortDescriptors = [NSSortDescriptor(key: "numericISO3166Code", ascending: true)]
      let counts = try second.fetch(request).map {
        ($0.value(forKey: "moods") as? Set<NSManagedObject>)?.count
      }
      #expect(counts == [5, 1, 1, 0])
    }
  }

  @Test("A row that changed since it was read is a conflict")
  func rowChangedSinceItWasReadIsAConflict() throws {
    let coordinator = try filledCoordinator()
    let (first, second) = (context(coordinator), context(coordinator))
    let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
    request.returnsObjectsAsFaults = false
    let mine = try first.performAndWait { try first.fetch(request) }
    let theirs = try second.performAndWait { try second.fetch(request) }
    try first.performAndWait {
      mine[0].setValue(Data([99]), forKey: "colors")
      try first.save()
    }
    second.performAndWait {
      theirs[0].setValue(Data([98]), forKey: "colors")
      let error = #expect(throws: NSError.self) { try second.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
  }

  @Test("A key that the entity lacks is an error")
  func unknownKeyInAPredicateIsAnError() throws {
    let context = context(try filledCoordinator())
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      request.predicate = NSPredicate(format: "colour == 3")
      let error = #expect(throws: NSError.self) { try context.fetch(request) }
      #expect(error?.localizedDescription.contains("'colour'") == true)
    }
  }

  @Test("A negative offset or limit is none, as in SQL")
  func negativeOffsetOrLimitIsNone() throws {
    let context = context(try filledCoordinator())
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      (request.fetchOffset, request.fetchLimit) = (-1, -2)
      let moods = try context.fetch(request)
      #expect(moods.count == 8)
      #expect(try context.count(for: request) == 8)
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Mood")
      (dictionaries.fetchOffset, dictionaries.resultType) = (-1, .dictionaryResultType)
      #expect(try context.fetch(dictionaries).count == 8)
    }
  }

  @Test(
    "A fault of a removed store can't be read, and the store releases its rows",
    arguments: [StoreKind.memory, .xml, .binary])
  func removedStoresReleaseTheirRows(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.company())
    let writer = try stack.coldContext()
    try writer.performAndWait {
      _ = writer.make("Employee", ["name": "Ada"])
      try writer.save()
      writer.reset()
    }
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first as? MemoryStore)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.includesPropertyValues = false
      let ada = try #require(try context.fetch(request).first)
      #expect(ada.isFault)
      try coordinator.remove(store)
      #expect(ada.value(forKey: "name") == nil)
      #expect(ada.isFault && !ada.isDeleted)
      #expect(context.faultError?.code == NSPersistentStoreOperationError)
    }
    let isEmpty = store.contents.withLock { $0.tables.rows.allSatisfy(\.isEmpty) }
    #expect(isEmpty)
  }

  @Test("An order by a to-many relationship is an error, as in SQL")
  func orderByAToManyRelationshipIsAnError() throws {
    let context = context(try filledCoordinator())
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Country")
      request.sortDescriptors = [NSSortDescriptor(key: "moods", ascending: true)]
      let error = #expect(throws: NSError.self) { try context.fetch(request) }
      #expect(error?.localizedDescription.contains("'moods'") == true)
    }
  }
}
