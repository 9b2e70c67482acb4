import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Differences of stores from Core Data listed in DEVIATIONS.md")
struct StoreDeviationTests {
  /// A model of prices, with a partial index of the given predicate.
  private static func model(index predicate: NSPredicate? = nil) -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = [
      TestModels.attribute("name", .stringAttributeType),
      TestModels.attribute("price", .decimalAttributeType),
    ]
    if let predicate {
      let index = NSFetchIndexDescription(
        name: "cheap",
        elements: [
          NSFetchIndexElementDescription(
            property: item.properties[0], collationType: .binary)
        ])
      index.partialIndexPredicate = predicate
      item.indexes = [index]
    }
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  @Test func sqlComputesDecimalsAsDoubles() throws {
    let stack = try TestStack(model: Self.model())
    let context = try stack.coldContext()
    try context.performAndWait {
      let item = context.make("Item", ["price": Decimal(1) / 10])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "price * 3 == %@", NSDecimalNumber(string: "0.3"))
      #expect(request.predicate?.evaluate(with: item) == true)
      try context.save()
      #expect(try context.count(for: request) == 0)
      request.predicate = NSPredicate(format: "price == %@", NSDecimalNumber(string: "0.1"))
      #expect(try context.count(for: request) == 1)
    }
  }

  @Test func objectsAndIDsIgnorePropertiesToFetch() throws {
    let stack = try TestStack(model: Self.model())
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      for _ in 0..<2 { _ = context.make("Item", ["name": "same", "price": Decimal(1)]) }
      try context.save()
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      request.propertiesToFetch = ["name"]
      request.returnsDistinctResults = true
      for type in [NSFetchRequestResultType.managedObjectResultType, .managedObjectIDResultType] {
        request.resultType = type
        #expect(try context.fetch(request).count == 2)
      }
      context.reset()
      request.resultType = .managedObjectResultType
      let before = events.statements(.select).count
      let items = try context.fetch(request) as? [NSManagedObject]
      #expect(items?.first?.value(forKey: "price") as? Decimal == 1)
      // The fetch has read the price, too.
      #expect(events.statements(.select).count == before + 1)
    }
  }

  @Test func resultsControllerOverSeveralStoresHasNoCacheFile() throws {
    let stores = try TwoStores(.files)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stores.coordinator
    let name = "Several \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    func statements(cacheName: String?) throws -> [String] {
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "text",
          cacheName: cacheName)
        let before = stores.events.statements().count
        try controller.performFetch()
        return Array(stores.events.statements().dropFirst(before))
      }
    }
    // With one store, the cache costs a SELECT for the state of the table.
    let expected = try statements(cacheName: nil)
    #expect(expected.count == 2)
    for _ in 0..<2 { #expect(try statements(cacheName: name) == expected) }
  }

  @Test(arguments: [StoreKind.sqlite, .xml, .binary])
  func optionsOfOtherPlatformsAreAccepted(kind: StoreKind) throws {
    let options: [AnyHashable: Any] = [
      NSValidateXMLStoreOption: false, NSBinaryStoreSecureDecodingClasses: ["NSUUID"],
      NSBinaryStoreInsecureDecodingCompatibilityOption: true,
      NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete",
    ]
    let stack = try TestStack(kind, model: TestModels.company())
    for count in 1...2 {
      let context = try stack.coldContext(options: options)
      try context.performAndWait {
        _ = context.make("Employee", ["name": "e\(count)"])
        try context.save()
        let employees = try context.everyObject(of: "Employee")
        #expect(employees.count == count)
      }
    }
  }

  @Test func versionNumberIsThatOfNewStores() throws {
    let stack = try TestStack(model: Self.model())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let version = store.metadata["NSPersistenceFrameworkVersion"] as? Int
    #expect(version == Int(NSCoreDataVersionNumber))
    coordinator.setMetadata([NSPersistentStoreOSCompatibility: "10.4"], for: store)
    #expect(store.metadata[NSPersistentStoreOSCompatibility] as? String == "10.4")
    #expect(store.metadata["NSPersistenceFrameworkVersion"] as? Int == version)
  }

  @Test func partialIndexOfAnUnusualPredicateHasAllRows() throws {
    for (format, condition) in [
      ("price > 2", "WHERE ZPRICE > 2.0"), ("name.length > 2", nil), ("name IN {'a'}", nil),
    ] {
      let stack = try TestStack(model: Self.model(index: NSPredicate(format: format)))
      _ = try stack.coldContext()
      let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
      defer { connection.close() }
      let rows = try connection.values(
        "SELECT sql FROM sqlite_master WHERE name = 'Z_Item_cheap'")
      guard case .text(let sql)? = rows.first?.first else {
        Issue.record("no index for \(format)")
        continue
      }
      #expect(sql.contains("WHERE") == (condition != nil), "\(sql)")
      if let condition { #expect(sql.hasSuffix(condition), "\(sql)") }
    }
  }
}
