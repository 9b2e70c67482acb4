import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Refreshing and releasing objects")
struct RefreshTests {
  @Test("S6.13, S-D16 the staleness interval limits the use of cached rows", .ofOwnStores)
  func stalenessIntervalLimitsTheUseOfCachedRows() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    let other = bed.context(try bed.secondCoordinator())
    let person = try context.performAndWait { try context.existingObject(with: ids[0]) }
    try other.performAndWait {
      try other.people()[0].label = "new"
      try other.save()
    }
    func read(_ interval: Double) -> (name: String?, selects: Int) {
      context.performAndWait {
        context.stalenessInterval = interval
        context.refresh(person, mergeChanges: false)
        let before = context.counters
        return (person.label, (context.counters - before).selects)
      }
    }
    #expect(read(-1) == ("p1", 0))
    #expect(read(300) == ("p1", 0))
    #expect(read(0) == ("new", 1))
    // A row read just now isn't stale.
    #expect(read(300) == ("new", 0))
    #expect(read(0) == ("new", 1))
    Thread.sleep(forTimeInterval: 0.03)
    #expect(read(0.01) == ("new", 1))
  }

  @Test("A merging refresh reads the row again if the cached one is stale", .ofOwnStores)
  func mergingRefreshReadsAStaleRowAgain() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    let other = bed.context(try bed.secondCoordinator())
    let person = try context.performAndWait { try context.existingObject(with: ids[0]) }
    try other.performAndWait {
      try other.people()[0].number = 50
      try other.save()
    }
    func refresh(_ interval: Double) -> (number: Int64?, selects: Int) {
      context.performAndWait {
        context.stalenessInterval = interval
        let before = context.counters
        context.refresh(person, mergeChanges: true)
        return (person.number, (context.counters - before).selects)
      }
    }
    context.performAndWait { person.label = "mine" }
    #expect(refresh(-1) == (1, 0))
    #expect(refresh(300) == (1, 0))
    #expect(refresh(0) == (50, 1))
    try context.performAndWait {
      #expect(person.label == "mine" && person.changedValues().keys.sorted() == ["name"])
      // The object has the newest version, so there's no conflict.
      try context.save()
    }
  }

  @Test(
    "S6.18, S6.19, S6.20, S-D14, S-D20 a refresh keeps unsaved changes only if it merges",
    arguments: StoreKind.allCases)
  func refreshKeepsUnsavedChangesOnlyIfItMerges(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let (context, other) = (bed.context(), bed.context())
    let people = try context.performAndWait { try context.people() }
    context.performAndWait { for person in people { person.label = "mine" } }
    try other.performAndWait {
      for id in ids { other.object(with: id).number = 50 }
      try other.save()
    }
    try context.performAndWait {
      let before = context.counters
      context.refresh(people[0], mergeChanges: true)
      #expect(!people[0].isFault && people[0].label == "mine" && people[0].number == 50)
      #expect(people[0].hasChanges)
      context.refresh(people[1], mergeChanges: false)
      #expect(people[1].isFault && !people[1].hasChanges && people[1].label == "p2")
      #expect((context.counters - before).selects == 0)
      let made = context.make("Person", ["name": "new"])
      context.refresh(made, mergeChanges: true)
      #expect(made.isInserted && made.label == "new")
      // Only one side's change is discarded, so the inverse doesn't match.
      let team = try #require(people[1].value(forKey: "team") as? NSManagedObject)
      people[1].setValue(nil, forKey: "team")
      context.refresh(people[1], mergeChanges: false)
      #expect(people[1].value(forKey: "team") as? NSManagedObject === team)
      let members = team.value(forKey: "members") as? Set<NSManagedObject>
      #expect(members?.contains(people[1]) == false)
    }
  }

  @Test(
    "S6.21, S-D15, S7.11, S6.51 refreshing all objects keeps unsaved changes",
    arguments: StoreKind.allCases)
  func refreshAllObjectsKeepsUnsavedChanges(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(5)
    let context = bed.context()
    let changes = NoteList(context)
    let people = try context.performAndWait {
      let people = try context.people()
      for person in people { _ = person.label }
      people[0].label = "mine"
      people[1].number = 60
      return people
    }
    context.performAndWait {
      let before = context.counters
      context.refreshAllObjects()
      context.processPendingChanges()
      #expect(people.map(\.isFault) == [false, false, true, true, true])
      #expect(people[0].label == "mine" && people[1].number == 60)
      #expect(changes.union(NSRefreshedObjectsKey).isSuperset(of: people))
      #expect(people[2...].compactMap(\.label) == ["p3", "p4", "p5"])
      let cost = context.counters - before
      #expect(cost.selects == 0 && cost.hits == 3 && cost.misses == 0)
    }
  }

  @Test("S6.22, S6.23 a fetch updates the row cache, and objects if requested")
  func fetchUpdatesTheRowCacheAndObjectsOnlyIfRequested() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let context = bed.context()
    let other = bed.context(try bed.secondCoordinator())
    let person = try context.performAndWait { try context.people()[0] }
    context.performAndWait { #expect(person.label == "p1") }
    func change(_ name: String) throws {
      try other.performAndWait {
        try other.people()[0].label = name
        try other.save()
      }
    }
    try change("second")
    try context.performAndWait {
      _ = try context.people()
      #expect(person.label == "p1")
      let before = context.counters
      context.refresh(person, mergeChanges: false)
      #expect(person.label == "second")
      #expect((context.counters - before).selects == 0)
    }
    try change("third")
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.shouldRefreshRefetchedObjects = true
      _ = try context.fetch(request)
      #expect(person.label == "third")
    }
  }

  @Test("A refreshing fetch keeps unsaved changes, and did-change lists the updated objects")
  func refreshingFetchKeepsChangesAndPostsUpdatedObjects() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let context = bed.context()
    let other = bed.context(try bed.secondCoordinator())
    let people = try context.performAndWait {
      let people = try context.people()
      for person in people { #expect(person.number != nil) }
      people[0].label = "mine"
      context.processPendingChanges()
      return people
    }
    try other.performAndWait {
      for (index, person) in try other.people()[..<2].enumerated() {
        person.label = "theirs \(index)"
        person.setValue(Int64(10 + index), forKey: "serial")
      }
      try other.save()
    }
    let changes = NoteList(context)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.shouldRefreshRefetchedObjects = true
      let before = context.counters
      _ = try context.fetch(request)
      #expect(people.map(\.label) == ["mine", "theirs 1", "p3"])
      #expect(people.map { $0.value(forKey: "serial") as? Int64 } == [10, 11, 3])
      let cost = context.counters - before
      #expect(cost.selects == 1 && cost.hits == 0 && cost.misses == 0)
      context.processPendingChanges()
      let userInfo = changes.notes.last?.userInfo
      #expect(changes.notes.count == 1 && userInfo?[NSUpdatedObjectsKey] == nil)
      #expect(userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> == Set(people[..<2]))
      #expect(people[0].changedValues().keys.sorted() == ["name"])
      // A second fetch finds nothing new.
      _ = try context.fetch(request)
      context.processPendingChanges()
      #expect(changes.notes.count == 1)
      // The object has the newest version, so there's no conflict.
      try context.save()
    }
    try other.performAndWait {
      other.refreshAllObjects()
      let names = try other.people().map(\.label)
      #expect(names == ["mine", "theirs 1", "p3"])
    }
  }

  @Test("A refreshing fetch of a child gets the parent's values, and keeps the child's changes")
  func refreshingFetchOfAChildKeepsChanges() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(2)
    let parent = bed.context()
    let child = bed.child(of: parent)
    let people = child.performAndWait {
      let people = ids.map { child.object(with: $0) }
      for person in people { #expect(person.number != nil) }
      people[0].label = "mine"
      return people
    }
    try parent.performAndWait {
      for person in try parent.people() { person.setValue(Int64(9), forKey: "serial") }
    }
    let changes = NoteList(child)
    try child.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.shouldRefreshRefetchedObjects = true
      _ = try child.fetch(request)
      #expect(people.map(\.label) == ["mine", "p2"] && people[0].hasChanges)
      #expect(people.allSatisfy { $0.value(forKey: "serial") as? Int64 == 9 })
      child.processPendingChanges()
      #expect(changes.union(NSRefreshedObjectsKey) == Set(people))
    }
  }

  @Test(
    "S6.16 committed values are read from the snapshot, without SQL",
    arguments: StoreKind.allCases)
  func committedValuesAreReadFromTheSnapshotWithoutSQL(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    context.performAndWait {
      let person = context.object(with: ids[0])
      person.label = "changed"
      let before = context.counters
      let committed = person.committedValues(forKeys: nil)
      #expect(committed["name"] as? String == "p1" && committed["number"] as? Int64 == 1)
      #expect(context.counters == before)
    }
  }

  @Test(
    "S6.45, S-D11, S-D12 for a missing row, object(with:) is a fault, and existingObject fails",
    arguments: StoreKind.allCases)
  func objectWithIDIsAFaultAndExistingObjectFailsForAMissingRow(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    let gone = bed.context()
    let missing = try gone.performAndWait {
      let made = gone.make("Person")
      try gone.save()
      let id = made.objectID
      gone.delete(made)
      try gone.save()
      return id
    }
    context.performAndWait {
      #expect(context.registeredObject(for: ids[0]) == nil)
      let object = context.object(with: ids[0])
      #expect(object.isFault && context.registeredObject(for: ids[0]) === object)
      #expect(context.object(with: ids[0]) === object)
      let bogus = context.object(with: missing)
      #expect(bogus.isFault && context.counters.selects == 0)
      #expect(bogus.label == nil && bogus.isDeleted)
      #expect(throws: NSError.self) { try context.existingObject(with: missing) }
      #expect(throws: Never.self) { try context.existingObject(with: ids[1]) }
      // The missing row is looked for again.
      #expect(context.counters.selects == bed.selects(3))
    }
  }

  @Test(
    "S3.08, S-D01, S-D02, S-D03 a row is one object per context",
    arguments: StoreKind.allCases)
  func rowIsOneObjectPerContext(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let (context, other) = (bed.context(), bed.context())
    try context.performAndWait {
      let people = try context.people()
      let team = try #require(people[0].value(forKey: "team") as? NSManagedObject)
      #expect(people[1].value(forKey: "team") as? NSManagedObject === team && team.isFault)
      _ = team.label
      #expect((people[1].value(forKey: "team") as? NSManagedObject)?.isFault == false)
      #expect(context.object(with: ids[0]) === people[0])
      let members = team.value(forKey: "members") as? Set<NSManagedObject>
      #expect(members?.contains { $0 === people[0] } == true)
      people[0].label = "mine"
      other.performAndWait {
        let theirs = other.object(with: ids[0])
        #expect(theirs !== people[0] && theirs.objectID == people[0].objectID)
        #expect(theirs.label == "p1")
      }
    }
  }

  @Test(
    "S-D04, S-D05, S-D06, S6.48 unchanged objects are released, and changed ones are retained",
    arguments: StoreKind.allCases)
  func unchangedObjectsAreReleasedAndChangedOnesRetained(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(5)
    let context = bed.context()
    try context.performAndWait { _ = try context.people() }
    context.performAndWait { #expect(context.registeredCount == 0) }
    #expect(bed.store?.cachedRowCount == 0)
    try context.performAndWait {
      try context.people()[0].label = "changed"
      context.delete(try context.people()[1])
      _ = context.make("Person")
    }
    try context.performAndWait {
      #expect(context.registeredObjects.filter(\.hasChanges).count >= 3)
      try context.save()
    }
    context.performAndWait { #expect(context.registeredCount == 0) }
    context.performAndWait { context.retainsRegisteredObjects = true }
    try context.performAndWait { _ = try context.people() }
    context.performAndWait { #expect(context.registeredCount == 5) }
  }

  @Test(
    "S6.50, S-D09 a retain cycle of both sides lasts until one is refreshed",
    arguments: StoreKind.allCases)
  func retainCycleOfBothSidesLastsUntilARefresh(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    context.performAndWait { _ = context.object(with: ids[0]).value(forKeyPath: "team.name") }
    context.performAndWait { #expect(context.registeredCount == 0) }
    context.performAndWait {
      _ = context.object(with: ids[0]).value(forKeyPath: "team.members")
    }
    context.performAndWait {
      #expect(context.registeredCount == 3)
      context.refresh(context.object(with: ids[0]), mergeChanges: false)
    }
    context.performAndWait { #expect(context.registeredCount == 0) }
  }

  @Test(
    "S-D10, S-G12 reset removes all objects and posts a notification", arguments: StoreKind.allCases
  )
  func resetRemovesAllObjectsAndPostsANotification(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    try bed.addPeople(2)
    let context = bed.context()
    let changes = NoteList(context)
    let people = try context.performAndWait { try context.people() }
    context.performAndWait {
      people[0].label = "lost"
      context.delete(people[1])
      context.processPendingChanges()
      #expect(changes.union(NSUpdatedObjectsKey).contains(people[0]))
      #expect(changes.union(NSDeletedObjectsKey) == [people[1]])
      let registered = people.map(\.objectID)
      context.reset()
      let ids = changes.notes.last?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
      #expect(ids.map { Set($0) }?.isSuperset(of: registered) == true)
      #expect(!context.hasChanges && context.registeredCount == 0)
      #expect(people[0].managedObjectContext == nil)
    }
  }

  @Test("A refreshed object without changes is a fault, and fires again")
  func refreshedCleanObjectIsAFaultAndFiresAgain() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    context.performAndWait {
      let person = context.object(with: ids[0])
      #expect(person.label == "p1")
      context.refresh(person, mergeChanges: true)
      #expect(person.isFault && person.faultingState > 0)
      #expect(person.label == "p1" && person.faultingState == 0)
    }
  }

  @Test("Inserting and deleting take linear time")
  func insertingAndDeletingTakesLinearTime() throws {
    let bed = try ContextBed(.memory)
    let context = bed.context()
    context.performAndWait {
      let started = MonotonicClock.now()
      let made = (0..<20_000).map { _ in context.make("Tag") }
      for object in made { context.delete(object) }
      context.processPendingChanges()
      #expect(!context.hasChanges && context.registeredCount == 0)
      let seconds = Double(MonotonicClock.now() - started) / 1e9
      // Quadratic removal takes minutes; this is a fraction of a second.
      #expect(seconds < 20)
    }
  }

  @Test(
    "A new object refreshed without merging becomes a fault with its default values")
  func newObjectRefreshedWithoutMergingHasDefaultValues() throws {
    let context = try GraphStack(.sqlite, model: DrivingModel.make()).context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "a", "age": Int16(7), "note": "kept"])
      context.refresh(driver, mergeChanges: true)
      #expect(!driver.isFault && driver.value(forKey: "name") as? String == "a")
      context.refresh(driver, mergeChanges: false)
      #expect(driver.isFault && driver.isInserted && context.insertedObjects == [driver])
      #expect(driver.value(forKey: "name") as? String == "N. N.")
      #expect(driver.value(forKey: "age") == nil && driver.value(forKey: "note") == nil)
      #expect(!driver.isFault && context.faultError == nil)
      context.refresh(driver, mergeChanges: false)
      try context.save()
      #expect(driver.value(forKey: "name") as? String == "N. N.")
      let found = try context.all("Driver")
      #expect(found == [driver])
    }
  }

  @Test(
    "After a reset or without its context, an object reads as nil, its transients as defaults",
    arguments: StoreKind.allCases)
  func objectWithoutAContextReadsAsNilAndTransientDefaults(_ kind: StoreKind) throws {
    let model = try DrivingModel.make()
    let note = model.entitiesByName["Driver"]?.attributesByName["note"]
    note?.defaultValue = "none"
    let stack = try GraphStack(kind, model: model)
    let context = try stack.context()
    let (driver, fault, ids) = try context.performAndWait {
      let driver = context.make("Driver", ["name": "a"])
      #expect(driver.value(forKey: "note") as? String == "none")
      try context.save()
      driver.setValue("set", forKey: "note")
      let fault = context.make("Driver", ["name": "b"])
      try context.save()
      context.refresh(fault, mergeChanges: false)
      _ = try context.all("Driver")
      let ids = [driver.objectID, fault.objectID]
      context.reset()
      return (driver, fault, ids)
    }
    for (object, id) in [(driver, ids[0]), (fault, ids[1])] {
      #expect(object.objectID == id)
      #expect(object.isFault && object.managedObjectContext == nil && !object.hasChanges)
      #expect(
        object.value(forKey: "name") == nil && object.value(forKey: "note") as? String == "none")
      #expect((object.value(forKey: "cars") as? Set<NSManagedObject>)?.isEmpty == true)
      object.setValue("mine", forKey: "name")
      #expect(object.value(forKey: "name") as? String == "mine")
    }
    var other: NSManagedObjectContext? = try stack.context()
    let orphan = try other?.performAndWait { try other?.all("Driver").first }
    other = nil
    #expect(orphan?.isFault == true && orphan?.managedObjectContext == nil)
    #expect(orphan?.value(forKey: "name") == nil)
  }

  @Test("A refresh that discards a deletion removes it from the next did-change")
  func discardedDeletionIsNotPosted() throws {
    let bed = try ContextBed(.memory)
    let ids = try bed.addPeople(1)
    let context = bed.context()
    let changes = NoteList(context)
    try context.performAndWait {
      let person = try context.existingObject(with: ids[0])
      context.delete(person)
      context.refresh(person, mergeChanges: false)
      context.processPendingChanges()
      #expect(!person.isDeleted && !context.hasChanges)
      let userInfo = changes.notes.last?.userInfo
      #expect(userInfo?[NSDeletedObjectsKey] == nil)
      #expect(userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> == [person])
    }
  }
}
