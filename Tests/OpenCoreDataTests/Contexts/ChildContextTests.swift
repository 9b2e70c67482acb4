import Dispatch
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Fetches and faults of child contexts")
struct ChildContextTests {
  @Test(
    "S-G10 a child's fetch includes the parent's unsaved changes",
    arguments: StoreKind.allCases)
  func childFetchIncludesTheParentsUnsavedChanges(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(3)
    let (parent, events) = (bed.context(), bed.events)
    let child = bed.child(of: parent)
    let grandchild = bed.child(of: child)
    parent.performAndWait {
      parent.object(with: ids[0]).label = "changed"
      parent.delete(parent.object(with: ids[1]))
      _ = parent.make("Person", ["name": "new", "number": Int64(9)])
    }
    bed.coordinator.eventHub.add(events)
    for context in [child, grandchild] {
      try context.performAndWait {
        let before = (context.counters, parent.performAndWait { parent.counters })
        let found = try context.people()
        #expect(found.map(\.label) == ["changed", "p3", "new"])
        #expect(found.allSatisfy { $0.managedObjectContext === context })
        #expect(!context.hasChanges && found.allSatisfy { !$0.isInserted })
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 3)
        #expect((context.counters - before.0).selects == 0)
        #expect((context.counters - before.0).objectFaultsFromParent == 3)
        let cost = parent.performAndWait { parent.counters } - before.1
        // The count fetches object IDs, since there are unsaved changes.
        #expect(cost.selects == bed.selects(2))
        #expect(found.map(\.objectID.isTemporaryID) == [false, false, true])
      }
    }
    let inner = events.events.filter { $0.kind == .statement && $0.statement?.kind == .select }
    let fetches = events.events.filter { $0.kind == .fetch }.map(\.id)
    #expect(inner.allSatisfy { fetches.contains($0.parent) })
    #expect(events.events.contains { $0.kind == .fetch && fetches.contains($0.parent) })
  }

  @Test(
    "A child's fault fires the parent's fault",
    arguments: StoreKind.allCases)
  func childFaultFiresTheParentsFault(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let parent = bed.context()
    let child = bed.child(of: parent)
    bed.coordinator.eventHub.add(bed.events)
    child.performAndWait {
      let person = child.object(with: ids[0])
      #expect(person.label == "p1")
      let team = person.value(forKey: "team") as? NSManagedObject
      #expect((team?.value(forKey: "members") as? Set<NSManagedObject>)?.count == 2)
      #expect(child.counters.objectFaultsFromParent == 2)
      #expect(child.counters.relationshipFaultsFromParent == 1)
      #expect(child.counters.hits == 0 && child.counters.misses == 0)
    }
    let faults = bed.events.events.filter { $0.kind == .objectFault }
    let outer = faults.filter { $0.source == .parent }
    #expect(outer.count == 2)
    for fault in outer {
      #expect(faults.contains { $0.parent == fault.id && $0.source != .parent })
    }
    parent.performAndWait {
      #expect(parent.counters.selects == bed.selects(3))
      // Objects registered for the child are released.
      #expect(parent.registeredCount == 0)
    }
  }

  @Test("Batch size and prefetching have no effect in a child unless enabled", .ofOwnStores)
  func childIgnoresBatchSizeAndPrefetchingUnlessEnabled() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(50)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.fetchBatchSize = 20
    request.relationshipKeyPathsForPrefetching = ["team.members"]
    for isPassedOn in [false, true] {
      let parent = bed.context()
      let child = bed.child(of: parent)
      child.prefetchesThroughParent = isPassedOn
      try child.performAndWait {
        let batched = try child.fetchBatched(request)
        #expect(batched.count == 50)
        #expect(batched[0].value(forKey: "name") as? String == "p1")
        let batch = parent.performAndWait { parent.counters }
        #expect(batch.prefetches == (isPassedOn ? 2 : 0))
        #expect(batch.selects == (isPassedOn ? 4 : 2) && batch.rows == (isPassedOn ? 121 : 100))
        let team = batched[0].value(forKey: "team") as? NSManagedObject
        #expect(team?.value(forKey: "name") as? String == "t")
        let cost = parent.performAndWait { parent.counters } - batch
        #expect(cost.selects == (isPassedOn ? 0 : 1))
      }
      let all = try child.performAndWait { try child.fetch(request).count }
      #expect(all == 50)
    }
  }

  @Test("S10-22 a child's fetch waits while its parent is busy")
  func childFetchWaitsWhileItsParentIsBusy() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(1)
    let parent = bed.context()
    let child = bed.child(of: parent)
    let (isFree, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    parent.perform { isFree.wait() }
    child.perform {
      _ = try? child.people()
      isDone.signal()
    }
    #expect(isDone.wait(timeout: .now() + .milliseconds(100)) == .timedOut)
    isFree.signal()
    #expect(isDone.waitForSignal())
  }

  @Test(
    "S10-19, S-G11 a discarded child leaves no changes",
    arguments: StoreKind.allCases)
  func discardedChildLeavesNoChanges(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let parent = bed.context()
    do {
      let child = bed.child(of: parent)
      child.performAndWait {
        child.object(with: ids[0]).label = "scratch"
        child.delete(child.object(with: ids[1]))
        _ = child.make("Person", ["name": "new"])
      }
    }
    try parent.performAndWait {
      #expect(!parent.hasChanges)
      let names = try parent.people().map(\.label)
      #expect(names == ["p1", "p2"])
    }
  }

  @Test(
    "S10-23, S10-24, S10-25 a merge reaches a child through its parent",
    arguments: StoreKind.allCases)
  func mergeReachesAChildThroughItsParent(_ kind: StoreKind) throws {
    for way in ["child only", "both", "parent first"] {
      let bed = try ContextBed(kind)
      let ids = try bed.addPeople(1)
      let (parent, importer) = (bed.context(), bed.context())
      let child = bed.child(of: parent)
      let (above, held) = try (
        parent.performAndWait { try parent.existingObject(with: ids[0]) },
        child.performAndWait { try child.existingObject(with: ids[0]) }
      )
      let saved = NoteList(importer, .NSManagedObjectContextDidSave)
      try importer.performAndWait {
        importer.object(with: ids[0]).label = "imported"
        try importer.save()
      }
      let note = try #require(saved.notes.last)
      let before = parent.performAndWait { parent.counters }
      switch way {
      case "child only":
        child.performAndWait { child.mergeChanges(fromContextDidSave: note) }
      case "both":
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [child, parent])
      default:
        parent.performAndWait { parent.mergeChanges(fromContextDidSave: note) }
        child.performAndWait { child.mergeChanges(fromContextDidSave: note) }
      }
      child.performAndWait {
        #expect(held.isFault && held.label == (way == "child only" ? "p1" : "imported"))
      }
      let cost = parent.performAndWait { parent.counters } - before
      #expect(cost.selects == bed.selects(way == "both" ? 1 : 0))
      withExtendedLifetime(above) {}
    }
  }

  @Test(
    "S11-42 a child's save doesn't use its merge policy",
    arguments: StoreKind.allCases)
  func childSaveDoesNotUseItsMergePolicy(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let parent = bed.context()
    let child = bed.child(of: parent)
    child.mergePolicy = UnusedPolicy(merge: .rollbackMergePolicyType)
    let mine = try child.performAndWait {
      let mine = try child.existingObject(with: ids[0])
      mine.label = "child's"
      return mine
    }
    try parent.performAndWait {
      let theirs = try parent.existingObject(with: ids[0])
      theirs.label = "parent's"
      try parent.save()
      try child.performAndWait { try child.save() }
      #expect(theirs.label == "child's" && parent.hasChanges)
    }
    child.performAndWait { #expect(mine.label == "child's" && !child.hasChanges) }
  }
  @Test(
    "A number that the parent has set to nil is 0 in a child's property",
    arguments: StoreKind.allCases)
  func numberSetToNilInTheParentIsZeroInTheChild(_ kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    let parent = try stack.coldContext()
    let id = try parent.performAndWait {
      let continent = Continent(context: parent)
      continent.numericISO3166Code = 7
      continent.numberOfCountries = 5
      try parent.save()
      continent.setValue(nil, forKey: "numberOfCountries")
      return continent.objectID
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let continent = try #require(child.object(with: id) as? Continent)
      #expect(continent.value(forKey: "numberOfCountries") == nil)
      // The first read looks the slot up, and the second one reads the row's bytes.
      #expect(continent.numberOfCountries == 0)
      #expect(continent.numberOfCountries == 0)
    }
  }
}

/// Records an issue if it's used.
private final class UnusedPolicy: NSMergePolicy {
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    Issue.record("a child's merge policy was used")
    try super.resolve(optimisticLockingConflicts: list)
  }
}
