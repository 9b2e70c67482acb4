import CoreDataCosts
import Moody
import OpenCoreData
import Synchronization
import Testing

@testable import MoodySync

@Suite("The contexts of synchronizing")
struct ContextTests {
  @Test("S9-1 an insert in the view context is one INSERT, and is merged once")
  func insertIsMergedIntoTheOtherContext() throws {
    let stack = try SyncStack()
    let (merged, saved) = (Log<[Int]>(), Log<[Int]>())
    let observations = [
      Observation(of: .NSManagedObjectContextDidMergeChangesObjectIDs, from: stack.sync) { note in
        merged.add(
          [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey].map {
            (note.userInfo?[$0] as? Set<NSManagedObjectID>)?.count ?? 0
          })
      },
      Observation(of: .NSManagedObjectContextDidSave, from: stack.view) { note in
        let changes = SavedChanges(note)
        saved.add([changes.inserted.count, changes.updated.count])
      },
    ]
    try withExtendedLifetime((stack.coordinator(), observations)) {
      let cost = try costs(of: stack.view) { try stack.insertMoods() }
      stack.drain()
      #expect(cost.inserts == 1 && cost.saves == 1 && cost.updates == 0 && cost.selects == 0)
      #expect(saved.values == [[1, 0]])
      #expect(merged.values == [[1, 0, 0]])
    }
  }

  @Test("S9-2 a processor reads a saved object from the row cache")
  func remappedObjectIsFulfilledFromTheRowCache() throws {
    let stack = try SyncStack()
    let log = Log<Costs>()
    let probe = Probe { objects, context in
      #expect(objects.allSatisfy { $0.isFault && $0.managedObjectContext === context.context })
      log.add(costs(of: context.context) { for object in objects { _ = (object as? Mood)?.date } })
    }
    try withExtendedLifetime(stack.coordinator([probe])) {
      try stack.insertMoods()
      stack.drain()
      let cost = try #require(log.values.first)
      #expect(cost.faults == 1 && cost.hits == 1 && cost.selects == 0 && log.values.count == 1)
    }
  }

  @Test("S9-3 without its notification, an object is read with a SELECT")
  func objectWithoutItsOriginalIsReadFromTheStore() throws {
    let stack = try SyncStack()
    var writer: NSManagedObjectContext? = NSManagedObjectContext(.privateQueue)
    writer?.persistentStoreCoordinator = stack.store
    let id = try writer?.performAndWait { [writer] in
      let mood = writer?.mood(1)
      try writer?.save()
      return mood?.objectID
    }
    writer = nil
    let saved = try #require(id)
    stack.sync.performAndWait {
      let moods = [saved].remap(to: stack.sync)
      let cost = costs(of: stack.sync) { _ = (moods.first as? Mood)?.date }
      #expect(cost.misses == 1 && cost.hits == 0 && cost.selects == 1 && cost.rows == 1)
    }
  }

  @Test("S9-4 remapping a registered object returns the same instance")
  func remappingARegisteredObjectReturnsIt() throws {
    let stack = try SyncStack()
    try stack.sync.performAndWait {
      let mood = stack.sync.mood(1)
      try stack.sync.save()
      let before = stack.sync.registeredObjects.count
      let cost = costs(of: stack.sync) {
        let remapped = [mood.objectID].remap(to: stack.sync)
        #expect(remapped.count == 1 && remapped.first === mood)
      }
      #expect(cost.statements == 0 && cost.faults == 0)
      #expect(stack.sync.registeredObjects.count == before)
    }
  }

  @Test("A change of the sync context is merged into the view context, and processed too")
  func changesOfBothContextsAreMergedAndProcessed() throws {
    let stack = try SyncStack()
    let processed = Log<Int>()
    let probe = Probe { objects, _ in processed.add(objects.count) }
    try withExtendedLifetime(stack.coordinator([probe])) {
      let id = try #require(try stack.insertMoods().first)
      let mood = try stack.view.performAndWait {
        try #require(try stack.view.existingObject(with: id) as? Mood)
      }
      try stack.sync.performAndWait {
        let own = try #require(try stack.sync.existingObject(with: id) as? Mood)
        own.remoteIdentifier = "a"
        try stack.sync.save()
      }
      stack.view.performAndWait { #expect(mood.remoteIdentifier == "a") }
      stack.drain()
      #expect(processed.values == [1, 1])
      #expect(stack.view.performAndWait { stack.view.tracksLocalChanges })
      #expect(stack.sync.performAndWait { !stack.sync.tracksLocalChanges })
    }
  }

  // MARK: Grouping and saving

  /// Saves with the group busy; returns the numbers of saves before and after the group is empty,
  /// and the results of the completions.
  private func saves(_ changes: Int) throws -> (before: Int, after: Int, results: [Bool]) {
    let stack = try SyncStack()
    let (saved, results) = (Log<Int>(), Log<Bool>())
    let observation = Observation(of: .NSManagedObjectContextDidSave, from: stack.sync) { _ in
      saved.add(1)
    }
    return try withExtendedLifetime(observation) {
      let group = DispatchGroup()
      group.enter()
      let cost = costs(of: stack.sync) {
        for minute in 0..<changes { stack.sync.mood(minute) }
        stack.sync.delayedSaveOrRollback(group: group) { results.add($0) }
      }
      #expect(cost.inserts == (changes > 100 ? changes : 0))
      let before = saved.values.count
      group.leave()
      eventually("the completion is called") { results.values.count == 1 }
      let rows = try stack.sync.performAndWait { try Mood.count(in: stack.sync) }
      #expect(rows == changes)
      return (before, saved.values.count, results.values)
    }
  }

  @Test("S9-13 a delayed save of 100 changes waits for the group")
  func saveWaitsForTheGroup() throws {
    #expect(try saves(100) == (0, 1, [true]))
  }

  @Test("S9-14 a delayed save of 101 changes doesn't wait")
  func manyChangesAreSavedImmediately() throws {
    #expect(try saves(101) == (1, 1, [true]))
  }

  @Test("S9-15 a delayed save without changes succeeds without a save")
  func nothingIsSavedWithoutChanges() throws {
    let stack = try SyncStack()
    let results = Log<Bool>()
    let cost = costs(of: stack.store) {
      let group = DispatchGroup()
      stack.sync.perform(group: group) {
        stack.sync.delayedSaveOrRollback(group: group) { results.add($0) }
      }
      eventually("the completion is called") { results.values.count == 1 }
    }
    #expect(results.values == [true])
    #expect(cost.saves == 0 && cost.statements == 0 && cost.transactions == 0)
  }

  @Test("S9-16 five answers in one group share one save")
  func answersShareOneSave() throws {
    let stack = try SyncStack()
    let results = Log<Bool>()
    let group = DispatchGroup()
    let cost = costs(of: stack.store) {
      stack.sync.performAndWait {
        // All five are scheduled before the first runs.
        for minute in 1...5 {
          stack.sync.perform(group: group) {
            stack.sync.mood(minute)
            stack.sync.delayedSaveOrRollback(group: group) { results.add($0) }
          }
        }
      }
      eventually("all completions are called") { results.values.count == 5 }
    }
    #expect(results.values == [true, true, true, true, true])
    #expect(cost.saves == 1 && cost.inserts == 5)
  }

  @Test("A delayed save that fails rolls back, and fails for all that waited for it")
  func failedSaveFailsForAllThatWaitedForIt() throws {
    let stack = try SyncStack()
    let results = Log<Bool>()
    try withExtendedLifetime(stack.coordinator([])) { coordinator in
      stack.sync.performAndWait {
        coordinator.perform {
          stack.sync.mood(1).setValue(nil, forKey: "colors")
          coordinator.delayedSaveOrRollback { results.add($0) }
          coordinator.delayedSaveOrRollback { results.add($0) }
        }
      }
      eventually("both completions are called") { results.values.count == 2 }
      #expect(results.values == [false, false])
      #expect(stack.retries.delays == [1])
      let visible = try stack.visibleMoods()
      #expect(visible == 0)
    }
  }
}
