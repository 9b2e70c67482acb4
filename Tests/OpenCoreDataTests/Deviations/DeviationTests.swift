import CoreDataCosts
import ManagedModel
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Differences from Core Data listed in DEVIATIONS.md")
struct DeviationTests {
  @Test func declaredPropertiesReadAndWriteModeledValues() throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    try context.performAndWait {
      let country = Country(context: context)
      country.numericISO3166Code = 276
      let mood = Mood(context: context)
      mood.date = Date(timeIntervalSinceReferenceDate: 3)
      mood.colors = Data([9])
      mood.latitude = 52.5
      mood.country = country
      #expect(mood.value(forKey: "latitude") as? Double == 52.5)
      #expect(mood.longitude == nil && country.moods == [mood])
      #expect(country.value(forKey: "numericISO3166Code") as? Int16 == 276)
      try context.save()
      context.refreshAllObjects()
      #expect(mood.isFault && mood.latitude == 52.5 && mood.country === country)
    }
  }

  /// Returns the class of the objects of an entity that names a class.
  private func objectClass(_ name: String) -> NSManagedObject.Type {
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.managedObjectClassName = name
    return ManagedObjectClasses.find(for: entity)
  }

  @Test func classesAreFoundByRegistrationThenByName() {
    RegisteredThing.registerClass(named: "SomethingElse")
    #expect(objectClass("SomethingElse") == RegisteredThing.self)
    #expect(objectClass("OpenCoreDataTests.NamedThing") == NamedThing.self)
    #expect(objectClass("NoSuchModule.NoSuchClass") == NSManagedObject.self)
    #expect(objectClass("NamedThing") == NSManagedObject.self)
  }

  @Test func classOfAnotherModuleIsNotMatchedByName() {
    NamesakeThing.registerClass()
    for name in ["NamesakeThing", ".NamesakeThing", "OpenCoreDataTests.NamesakeThing"] {
      #expect(objectClass(name) == NamesakeThing.self, "\(name)")
    }
    #expect(objectClass("Elsewhere.NamesakeThing") == NSManagedObject.self)
    NamesakeThing.registerClass(named: "Elsewhere.NamesakeThing")
    #expect(objectClass("Elsewhere.NamesakeThing") == NamesakeThing.self)
  }

  @Test func validateValueIsOverriddenInsteadOfNamedValidators() throws {
    CheckedArticle.registerClass(named: "CheckedArticle")
    let model = TestModels.library()
    model.entitiesByName["Article"]?.managedObjectClassName = "CheckedArticle"
    let context = try TestStack(model: model).coldContext()
    context.performAndWait {
      let article = context.make("Article", ["string": "forbidden"])
      #expect(throws: NSError.self) { try context.save() }
      article.setValue("allowed", forKey: "string")
      #expect(throws: Never.self) { try context.save() }
    }
  }

  @Test func callSiteIsTheLineOfTheCall() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      _ = try context.fetch(request); let line = #line
      let fetch = try #require(events.events.last { $0.kind == .fetch })
      #expect(fetch.callSite == CallSite(file: #fileID, line: line))
    }
  }

  @Test func fetchWithABatchSizeLoadsAllBatches() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(50, countries: 1)
    let context = try stack.coldContext()
    context.performAndWait {
      let cost = costs(of: context) {
        #expect((try? Mood.fetch(in: context) { $0.fetchBatchSize = 20 })?.count == 50)
      }
      #expect(cost.selects == 1 + 3 && cost.rows == 100)
    }
  }

  @Test func batchedResultKeepsFourBatchesAndTheOneLoading() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(100, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = Mood.sortedFetchRequest
      request.fetchBatchSize = 10
      let moods = try context.fetchBatched(request)
      for mood in moods { _ = mood.objectID }
      #expect(context.peakRegisteredCount(ofEntity: "Mood") == 50)
      #expect(context.registeredCount(ofEntity: "Mood") == 40)
      #expect(costs(of: context) { _ = moods[65].objectID }.selects == 0)
      #expect(costs(of: context) { _ = moods[55].objectID }.selects == 1)
    }
  }

  @Test(arguments: [(interval: -1.0, misses: 0), (0.0, 1), (60.0, 0)])
  func stalenessIntervalLimitsTheAgeOfCachedRows(interval: Double, misses: Int) throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let mood = try #require(try Mood.fetch(in: context).first)
      context.stalenessInterval = interval
      #expect(costs(of: context) { _ = mood.date }.misses == misses)
    }
  }

  /// A context that overrides its staleness interval.
  private final class AgingContext: NSManagedObjectContext, @unchecked Sendable {
    // Used only on its queue.
    var age = -1.0

    override var stalenessInterval: Double {
      get { age }
      set { age = newValue }
    }
  }

  @Test func overriddenStalenessIntervalIsReadPerBlockOrPerFault() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let context = AgingContext(concurrencyType: .privateQueueConcurrencyType)
    context.age = 0
    context.persistentStoreCoordinator = try stack.coldContext().persistentStoreCoordinator
    func misses(_ before: () -> Void = {}) throws -> Int {
      let mood = try #require(try Mood.fetch(in: context).first)
      context.refresh(mood, mergeChanges: false)
      // Caches the row of the fault.
      _ = try Mood.fetch(in: context)
      before()
      return costs(of: context) { _ = mood.date }.misses
    }
    // Outside of a block, the value is from when the coordinator was set.
    #expect(try misses() == 1)
    context.age = -1
    let negative = try context.performAndWait {
      let found = [try misses(), try misses { context.age = 0 }]
      context.age = -1
      return found
    }
    #expect(negative == [0, 0])
    context.age = 60
    let positive = try context.performAndWait {
      // An interval of 0 or more is read for each fault.
      [try misses(), try misses { context.age = 0 }, try misses { context.age = -1 }]
    }
    #expect(positive == [0, 1, 0])
  }

  @Test func inverseIsSetAtOnceOnBothSides() throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    context.performAndWait {
      let (first, second) = (Country(context: context), Country(context: context))
      let mood = Mood(context: context)
      mood.country = first
      #expect(first.moods == [mood])
      mood.country = second
      #expect(first.moods.isEmpty && second.moods == [mood])
      first.moods = [mood]
      #expect(mood.country === first && second.moods.isEmpty)
    }
  }

  @Test func unreferencedUnchangedObjectsAreReleased() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(9, countries: 1)
    let context = try stack.coldContext()
    let kept = try context.performAndWait { try Mood.fetch(in: context).first }
    context.performAndWait {
      #expect(context.registry.count == 1)
      withExtendedLifetime(kept) {}
    }
  }

  @Test func prefetchedRowsAreReleasedWithTheFetchedObjects() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(6, countries: 3)
    let context = try stack.coldContext()
    try context.performAndWait {
      var moods = try Mood.fetch(in: context) {
        $0.relationshipKeyPathsForPrefetching = ["country"]
        $0.returnsObjectsAsFaults = false
      }
      #expect(try stack.cachedRows(context) == 6 + 3)
      moods.removeLast(5)
      #expect(try stack.cachedRows(context) == 1 + 3)
      context.refresh(moods[0], mergeChanges: true)
      #expect(try stack.cachedRows(context) == 1)
    }
  }

  @Test func prefetchingToOneRelationshipRequiresPropertyValues() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(6, countries: 3)
    let context = try stack.coldContext()
    try context.performAndWait {
      let cost = try costs(of: context) {
        _ = try Mood.fetch(in: context) {
          $0.includesPropertyValues = false
          $0.relationshipKeyPathsForPrefetching = ["country"]
        }
      }
      #expect(cost.selects == 1 && cost.prefetches == 0)
    }
  }

  @Test func countIncludesPendingChanges() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(3, countries: 1)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let moods = try Mood.fetch(in: context)
      context.delete(moods[0])
      let cost = costs(of: context) { #expect((try? Mood.count(in: context)) == 2) }
      #expect(cost.selects == 1)
      #expect(events.statements(.select).last == "SELECT 0, t0.Z_PK FROM ZMOOD t0")
    }
  }

  @Test func newStoreHasOpenCoreDataDigests() throws {
    let stack = try TestStack.moody()
    let context = try stack.coldContext()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    let hashes = store.metadata["NSStoreModelVersionHashes"] as? [String: Data]
    #expect(hashes == stack.model.entityVersionHashesByName)
    #expect(store.metadata[StoreMetadata.digestFormulaKey] as? Int != nil)
    let other = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
    do {
      try other.addPersistentStore(type: .sqlite, at: stack.storeURL)
      Issue.record("a store of another model was opened")
    } catch let error as NSError {
      #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
      #expect(error.localizedDescription.contains("Mood"))
    }
  }

  /// An empty store whose tags have a transformable name.
  private func transformableTags(_ transformer: String?) throws -> TestStack {
    let model = TestModels.library()
    let kept = try #require(model.entitiesByName["Tag"]?.attributesByName["name"])
    kept.attributeType = .transformableAttributeType
    kept.valueTransformerName = transformer
    return try TestStack(model: model)
  }

  @Test(arguments: [nil, "NoSuchTransformer"])
  func transformableWithoutTransformerReadsAsBytes(transformer: String?) throws {
    let stack = try transformableTags(transformer)
    let writer = try stack.coldContext()
    try writer.performAndWait {
      _ = writer.make("Tag", ["name": Data([1, 2])])
      try writer.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
      #expect(tags.first?.value(forKey: "name") as? Data == Data([1, 2]))
    }
  }

  @Test func fetchRequestsAndGenerationsCannotBeArchived() {
    let values: [Any] = [NSFetchRequest<NSManagedObject>(), NSQueryGenerationToken.current]
    #expect(values.allSatisfy { !($0 is any NSCoding) })
  }

  @Test func transformableThatNamesNoTransformerArchivesItsValues() throws {
    let stack = try transformableTags(nil)
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NSString("x"), requiringSecureCoding: true)
    let writer = try stack.coldContext()
    try writer.performAndWait {
      for value in [["a", "b"], archive] as [Any] { _ = writer.make("Tag", ["name": value]) }
      try writer.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let values = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        .map { $0.value(forKey: "name") }
      #expect(values.contains { $0 as? [String] == ["a", "b"] })
      #expect(values.contains { $0 as? Data == archive })
    }
  }
}

final class RegisteredThing: NSManagedObject {}

final class NamedThing: NSManagedObject {}

final class NamesakeThing: NSManagedObject {}

final class CheckedArticle: NSManagedObject {
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    if key == "string", value as? String == "forbidden" {
      throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError)
    }
  }
}
