import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Batch deletions")
struct BatchDeleteTests {
  private func values(_ stack: SharedStack, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    return try connection.values(sql)
  }

  @Test("S7.39, S-E25 one DELETE removes the rows; the context and the row cache don't change")
  func rowsAreDeletedInOneStatementWithoutTheContext() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      for index in 0..<10 { _ = context.make("Item", ["a": Int32(index)]) }
      try context.save()
      let items = try context.everyObject(of: "Item")
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      fetch.predicate = NSPredicate(format: "a < 6")
      let request = NSBatchDeleteRequest(fetchRequest: fetch)
      let cost = try costs(of: context) { try context.execute(request) }
      #expect(cost.deletes == 1 && cost.selects == 0 && cost.transactions == 1)
      #expect(try values(stack, "SELECT COUNT(*) FROM ZITEM") == [[.integer(4)]])
      #expect(context.registeredObjects == Set(items) && !items[0].isDeleted)
      context.refresh(items[0], mergeChanges: false)
      let read = costs(of: context) { #expect(items[0].value(forKey: "a") as? Int32 == 0) }
      #expect(read.hits == 1 && read.selects == 0)
    }
  }

  @Test("A copy of a request is independent, by fetch request or object IDs")
  func copiedRequestIsIndependent() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      for index in 0..<6 { _ = context.make("Item", ["a": Int32(index)]) }
      try context.save()
      let ids = try context.everyObject(of: "Item").map(\.objectID)
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      fetch.predicate = NSPredicate(format: "a < 2")
      let original = NSBatchDeleteRequest(fetchRequest: fetch)
      original.resultType = .resultTypeCount
      let copy = try #require(original.copy() as? NSBatchDeleteRequest)
      fetch.predicate = nil
      #expect((try context.execute(copy) as? NSBatchDeleteResult)?.result as? Int == 2)
      let byID = NSBatchDeleteRequest(objectIDs: [ids[5]]).copy() as? NSBatchDeleteRequest
      try context.execute(try #require(byID))
      #expect(
        try values(stack, "SELECT ZA FROM ZITEM ORDER BY ZA")
          == [[.integer(2)], [.integer(3)], [.integer(4)]])
    }
  }

  @Test("S7.40 the result is a status, the object IDs, or a count; limits are respected")
  func resultIsAStatusObjectIDsOrACount() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    try context.performAndWait {
      for index in 0..<6 { _ = context.make("Item", ["a": Int32(index)]) }
      try context.save()
      let ids = try context.everyObject(of: "Item").map(\.objectID)
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Item")
      fetch.sortDescriptors = [NSSortDescriptor(key: "a", ascending: false)]
      fetch.fetchLimit = 2
      let limited = NSBatchDeleteRequest(fetchRequest: fetch)
      limited.resultType = .resultTypeObjectIDs
      var result = try context.execute(limited) as? NSBatchDeleteResult
      #expect(Set(result?.result as? [NSManagedObjectID] ?? []) == Set(ids[4...]))
      let given = NSBatchDeleteRequest(objectIDs: Array(ids[1...2]))
      given.resultType = .resultTypeCount
      result = try context.execute(given) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 2)
      given.resultType = .resultTypeStatusOnly
      result = try context.execute(given) as? NSBatchDeleteResult
      #expect(result?.result as? Bool == true)
      let left = try values(stack, "SELECT ZA FROM ZITEM ORDER BY 1")
      #expect(left == [[.integer(0)], [.integer(3)]])
    }
  }

  @Test("IDs of another store delete nothing; those of another coordinator over the file do")
  func idsOfAnotherStoreDeleteNothing() throws {
    let model = SavingModels.items()
    let (stack, other) = (try SharedStack(.sqlite, model), try SharedStack(.sqlite, model))
    let (context, elsewhere) = (stack.context(), other.context())
    let id = try context.performAndWait {
      let item = context.make("Item")
      try context.save()
      return item.objectID
    }
    let request = NSBatchDeleteRequest(objectIDs: [id])
    request.resultType = .resultTypeCount
    try elsewhere.performAndWait {
      _ = elsewhere.make("Item")
      try elsewhere.save()
      let result = try elsewhere.execute(request) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 0)
    }
    #expect(try values(other, "SELECT COUNT(*) FROM ZITEM") == [[.integer(1)]])
    let foreign = try stack.foreignContext()
    try foreign.performAndWait {
      let result = try foreign.execute(request) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 1)
    }
    #expect(try values(stack, "SELECT COUNT(*) FROM ZITEM") == [[.integer(0)]])
  }

  @Test("References to a deleted row are nil, and join rows are deleted")
  func referencesAreNullifiedAndJoinRowsDeleted() throws {
    let company = try SharedStack(.sqlite, TestModels.company())
    let context = company.context()
    try context.performAndWait {
      let homes = ["A", "B"].map { context.make("Department", ["name": $0]) }
      for home in homes { _ = context.make("Employee", ["department": home]) }
      try context.save()
      let cost = try costs(of: context) {
        try context.execute(NSBatchDeleteRequest(objectIDs: [homes[0].objectID]))
      }
      #expect(cost.deletes == 1 && cost.updates == 1 && cost.transactions == 1)
    }
    #expect(
      try values(company, "SELECT ZDEPARTMENT, Z_OPT FROM ZEMPLOYEE ORDER BY Z_PK") == [
        [.null, .integer(2)], [.integer(2), .integer(1)],
      ])
    let library = try SharedStack(.sqlite, TestModels.library())
    let other = library.context()
    try other.performAndWait {
      let tags: [NSManagedObject] = (0..<2).map { _ in other.make("Tag") }
      for _ in 0..<3 { _ = other.make("Article", ["tags": Set(tags)]) }
      try other.save()
      try other.execute(NSBatchDeleteRequest(objectIDs: [tags[0].objectID]))
    }
    #expect(try values(library, "SELECT COUNT(*) FROM Z_1TAGS") == [[.integer(3)]])
  }

  @Test("A deletion after which an object has no required destination fails, and deletes nothing")
  func requiredDestinationsAreNotDeleted() throws {
    let stack = try SharedStack(.sqlite, SavingModels.regions())
    let context = stack.context()
    try context.performAndWait {
      let city = context.make("City", ["country": context.make("Country", ["code": "FR"])])
      _ = context.make("Country", ["code": "DE"])
      try context.save()
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Region")
      let error = thrownError { try context.execute(NSBatchDeleteRequest(fetchRequest: fetch)) }
      #expect(error?.code == NSPersistentStoreSaveError)
      let reason = error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String
      #expect(reason == "The batch deletion failed due to the required inverse City.country.")
      let message = try #require(error?.localizedDescription)
      #expect(message.contains("City.country. It would be nil in 1 row:"))
      #expect(try values(stack, "SELECT COUNT(*) FROM ZREGION") == [[.integer(2)]])
      let cities = try values(stack, "SELECT ZCOUNTRY, Z_OPT FROM ZCITY")
      #expect(cities == [[.integer(1), .integer(1)]])
      try context.execute(NSBatchDeleteRequest(objectIDs: [city.objectID]))
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
    }
    #expect(try values(stack, "SELECT COUNT(*) FROM ZREGION") == [[.integer(0)]])
  }

  @Test("Deny rules don't stop a deletion; references become nil")
  func denyRulesAreIgnored() throws {
    let kinship = try SharedStack(.sqlite, KinshipModel.make())
    let other = kinship.context()
    try other.performAndWait {
      let list = other.make("List", ["name": "L"])
      _ = other.make("Kept", ["list": list])
      try other.save()
      try other.execute(NSBatchDeleteRequest(objectIDs: [list.objectID]))
    }
    #expect(try values(kinship, "SELECT ZLIST FROM ZKEPT") == [[.null]])
    #expect(try values(kinship, "SELECT COUNT(*) FROM ZLIST") == [[.integer(0)]])
  }

  @Test func requestsWithoutIDsOrOfSeveralEntitiesAreProgrammerErrors() async {
    let empty = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = NSBatchDeleteRequest(objectIDs: [])
    }
    #expect(empty.message.contains("needs at least one: check if the array is empty"))
    let mixed = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try SharedStack(.sqlite, TestModels.company()).context()
      context.performAndWait {
        let objects = ["Department", "Employee"].map { context.make($0) }
        _ = NSBatchDeleteRequest(objectIDs: objects.map(\.objectID))
      }
    }
    #expect(mixed.message.contains("is of one entity; create one request for each"))
  }
}
