import CoreDataCosts
import OpenCoreData
import Testing

@Suite("Fetches over several stores")
struct SeveralStoresFetchTests {
  @Test(
    "S6.08, S-A16 one fetch is a SELECT in each store, and one sorted list",
    arguments: TwoStores.Pair.allCases)
  func fetchIsASelectInEachStoreAndOneSortedList(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(7)
    let context = two.context()
    try context.performAndWait {
      var found: [NSManagedObject] = []
      let cost = try costs(of: context) { found = try context.fetch(TwoStores.request()) }
      #expect(cost.fetches == 1 && cost.selects == pair.files && cost.faults == 0)
      #expect(
        found.map { $0.objectID.persistentStore === two.stores[0] }.prefix(3) == [
          true, false, true,
        ])
      let reading = costs(of: context) {
        #expect(found.map(\.nameValue) == (0..<7).map { "e0\($0)" })
      }
      #expect(reading.faults == 7 && reading.hits == 7 && reading.selects == 0)
      let limited = try costs(of: context) {
        let request = TwoStores.request {
          $0.fetchLimit = 3
          $0.fetchOffset = 2
          $0.returnsObjectsAsFaults = false
        }
        let found = try context.fetch(request)
        #expect(found.map(\.nameValue) == ["e02", "e03", "e04"])
        #expect(try context.count(for: request) == 3)
      }
      #expect(limited.selects == 2 * pair.files)
      for (number, store) in two.stores.enumerated() {
        let single = try costs(of: context) {
          let request = TwoStores.request { $0.affectedStores = [store] }
          let found = try context.fetch(request)
          #expect(found.count == 4 - number)
          #expect(try context.count(for: request) == 4 - number)
        }
        #expect(single.selects == (pair.kinds[number] == .sqlite ? 2 : 0))
      }
      #expect(try context.count(for: TwoStores.request { $0.affectedStores = [] }) == 0)
    }
  }

  @Test(
    "IDs, dictionaries, batches, and prefetches combine two stores",
    arguments: TwoStores.Pair.allCases)
  func idsDictionariesBatchesAndPrefetchesCombineTwoStores(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(9)
    let context = two.context()
    try context.performAndWait {
      let keys = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
      keys.resultType = .managedObjectIDResultType
      keys.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
      for withValues in [true, false] {
        keys.includesPropertyValues = withValues
        let ids = try context.fetch(keys)
        #expect(
          ids.map { context.object(with: $0).nameValue } == (0..<9).reversed().map { "e0\($0)" })
        #expect(Set(ids).count == 9)
      }
      let names = NSFetchRequest<NSDictionary>(entityName: "Employee")
      names.resultType = .dictionaryResultType
      names.propertiesToFetch = ["name"]
      names.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      names.fetchOffset = 7
      #expect(try context.fetch(names).compactMap { $0["name"] as? String } == ["e07", "e08"])
      names.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: true)]
      #expect(throws: NSError.self) { try context.fetch(names) }
      let batched = try context.fetchBatched(TwoStores.request { $0.fetchBatchSize = 4 })
      #expect(batched.count == 9)
      let batch = costs(of: context) { #expect(batched[5].nameValue == "e05") }
      #expect(batch.selects == pair.files)
      let byHome = TwoStores.request {
        $0.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: false)]
        $0.relationshipKeyPathsForPrefetching = ["department"]
      }
      let found = try context.fetch(byHome)
      #expect(found.first?.nameValue == "e08" && found.last?.nameValue == "e00")
      let prefetched = costs(of: context) {
        for employee in found {
          let home = employee.value(forKey: "department") as? NSManagedObject
          #expect(home?.objectID.persistentStore === employee.objectID.persistentStore)
          #expect(home?.nameValue?.dropFirst() == employee.nameValue?.dropFirst(2))
        }
      }
      #expect(prefetched.misses == 0)
    }
  }

  @Test(
    "Dictionaries of two stores are sorted by values at the end of key paths",
    arguments: TwoStores.Pair.allCases)
  func dictionariesAreSortedByKeyPaths(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(5)
    let context = two.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "department", "department.name"]
      request.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: false)]
      request.fetchLimit = 3
      let found = try context.fetch(request)
      #expect(found.map { $0["name"] as? String } == ["e04", "e03", "e02"])
      #expect(found.allSatisfy { $0.count == 3 })
    }
  }

  @Test("Objects of two stores are sorted by their keys", arguments: TwoStores.Pair.allCases)
  func objectsAreSortedByTheirKeys(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(6)
    let context = two.context()
    try context.performAndWait {
      for key in ["self", "objectID"] {
        let request = TwoStores.request {
          $0.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
        }
        let keys = try context.fetch(request).compactMap {
          Int($0.objectID.uriRepresentation().lastPathComponent.dropFirst())
        }
        #expect(keys.count == 6 && keys == keys.sorted(by: >))
      }
    }
  }

  @Test(
    "Unsaved changes, a child, and a results controller include two stores",
    arguments: TwoStores.Pair.allCases)
  func unsavedChangesChildAndResultsControllerIncludeTwoStores(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(4)
    let context = two.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: TwoStores.request { $0.fetchBatchSize = 2 }, managedObjectContext: context,
        sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      let new = context.make("Employee", ["name": "e015"])
      context.assign(new, to: two.stores[1])
      #expect(
        try context.fetch(TwoStores.request()).map(\.nameValue)
          == ["e00", "e01", "e015", "e02", "e03"])
      #expect(
        try context.count(for: TwoStores.request { $0.affectedStores = [two.stores[0]] }) == 2)
      try context.save()
      #expect(new.objectID.persistentStore === two.stores[1])
      try controller.performFetch()
      #expect(controller.fetchedObjects?.map(\.nameValue) == ["e00", "e01", "e015", "e02", "e03"])
      #expect(controller.indexPath(forObject: new)?.item == 2)
    }
    try child.performAndWait {
      let found = try child.fetch(TwoStores.request())
      #expect(found.map(\.nameValue) == ["e00", "e01", "e015", "e02", "e03"])
      found[1].setValue("e09", forKey: "name")
      let made = child.make("Employee", ["name": "e10"])
      child.assign(made, to: two.stores[1])
      try child.save()
    }
    try context.performAndWait {
      try context.save()
      let cold = two.context()
      try cold.performAndWait {
        let second = TwoStores.request { $0.affectedStores = [two.stores[1]] }
        let found = try cold.fetch(second)
        #expect(found.map(\.nameValue) == ["e015", "e03", "e09", "e10"])
      }
    }
  }

  @Test("A pinned context reads both stores as they were", arguments: TwoStores.Pair.allCases)
  func pinnedContextReadsBothStoresAsTheyWere(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(4)
    let pinned = two.context()
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      #expect(try pinned.count(for: TwoStores.request()) == 4)
    }
    let writer = two.context()
    try writer.performAndWait {
      for employee in try writer.fetch(TwoStores.request()) {
        employee.setValue("x", forKey: "name")
      }
      try writer.save()
    }
    try pinned.performAndWait {
      #expect(
        try pinned.fetch(TwoStores.request()).map(\.nameValue) == ["e00", "e01", "e02", "e03"])
      try pinned.setQueryGenerationFrom(nil)
      pinned.refreshAllObjects()
      #expect(try pinned.fetch(TwoStores.request()).map(\.nameValue) == ["x", "x", "x", "x"])
    }
  }

  @Test(
    "A limit and an offset of any size are valid; negative ones are none",
    arguments: TwoStores.Pair.allCases)
  func limitsAndOffsetsOfAnySizeAreValid(pair: TwoStores.Pair) throws {
    let two = try TwoStores(pair)
    try two.addEmployees(4)
    let context = two.context()
    try context.performAndWait {
      for (limit, offset, count) in [(Int.max, 1, 3), (-1, 1, 3), (2, -1, 2), (-1, Int.max, 0)] {
        let request = TwoStores.request {
          $0.fetchLimit = limit
          $0.fetchOffset = offset
        }
        var counts = [try context.fetch(request).count, try context.count(for: request)]
        #expect(counts == [count, count], "limit \(limit), offset \(offset)")
        request.affectedStores = [two.stores[1]]
        counts = [try context.fetch(request).count, try context.count(for: request)]
        let part = min(count, offset == 1 ? 1 : 2)
        #expect(counts == [part, part], "limit \(limit), offset \(offset)")
      }
    }
  }
}
