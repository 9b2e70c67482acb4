import Dispatch
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Queues of contexts")
struct QueueTests {
  @Test("S10-27, S-G15 ConcurrencyDebug stops the process when a context is used off its queue")
  func concurrencyDebugStopsTheProcessOffQueue() async {
    let fetch = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("CDPROF_CONCURRENCY_DEBUG", "1", 1)
      let context = try ContextBed(.memory).context()
      _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
    }
    #expect(fetch.message.contains("not on its own queue"))
    let access = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("CDPROF_CONCURRENCY_DEBUG", "1", 1)
      let bed = try ContextBed(.memory)
      let context = bed.context()
      let id = try bed.addPeople(1)[0]
      let person = context.performAndWait {
        let person = context.object(with: id)
        _ = person.label
        return person
      }
      _ = person.label
    }
    #expect(access.message.contains("not on its own queue"))
    let insertion = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("CDPROF_CONCURRENCY_DEBUG", "1", 1)
      let context = try ContextBed(.memory).context()
      _ = context.make("Person")
    }
    #expect(insertion.message.contains("not on its own queue"))
  }

  @Test("S15-14 the message of ConcurrencyDebug names the object, its context, and both queues")
  func concurrencyDebugMessageNamesObjectContextAndQueues() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("CDPROF_CONCURRENCY_DEBUG", "1", 1)
      let bed = try ContextBed(.memory)
      let id = try bed.addPeople(1)[0]
      let (list, other) = (bed.context(), bed.context())
      (list.name, other.name) = ("list", "import")
      let person = list.performAndWait { list.object(with: id) }
      other.performAndWait { _ = person.label }
    }
    let content = try #require(result?.standardErrorContent)
    let text = String(decoding: content, as: UTF8.self)
    #expect(text.contains("/Person/p1> of the context 'list'"))
    #expect(text.contains("on the queue of the context 'import', not on its own queue"))
  }

  @Test(
    "S15-15 without ConcurrencyDebug, nothing is checked",
    arguments: StoreKind.allCases)
  func nothingIsCheckedWithoutConcurrencyDebug(_ kind: StoreKind) throws {
    #expect(!QueueGuard.isOn)
    let bed = try ContextBed(kind)
    let id = try bed.addPeople(1)[0]
    let context = bed.context()
    let (person, before) = context.performAndWait {
      let person = context.object(with: id)
      #expect(person.label == "p1")
      return (person, context.counters)
    }
    // Off the context's queue, but not concurrently.
    #expect(person.label == "p1" && person.number == 1)
    #expect(person.state.isDisjoint(with: .guarded))
    let cost = context.performAndWait { context.counters - before }
    #expect(cost.selects == 0 && cost.objectFaults == 0 && cost.rows == 0)
  }

  @Test("S-G19 writers of one coordinator wait for its writer; those of two wait in SQLite")
  func writersWaitInTheCoordinatorOrInSQLite() throws {
    let stack = try TestStack(model: WorkshopModel.make())
    // SQLite's wait times out after 10 ms; the wait for a coordinator's writer has no limit.
    let options = [NSPersistentStoreTimeoutOption: 0.01]
    let contexts = try [
      stack.coldContext(options: options), stack.coldContext(options: options),
    ]
    let own = try #require(contexts[0].persistentStoreCoordinator?.firstStore as? SQLiteStore)
    for (index, context) in contexts.enumerated() {
      let (isWriting, hold, saved) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      DispatchQueue.global().async {
        try? own.pool.withWriter { connection in
          try? connection.execute("BEGIN IMMEDIATE")
          isWriting.signal()
          hold.wait()
          try? connection.execute("ROLLBACK")
        }
      }
      isWriting.wait()
      let error = Mutex<NSError?>(nil)
      context.perform {
        _ = context.make("Team", ["name": "waited"])
        error.withLock { $0 = context.saveError() }
        saved.signal()
      }
      if index == 0 {
        #expect(saved.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
        hold.signal()
      }
      #expect(saved.waitForSignal())
      if index == 1 { hold.signal() }
      let code = error.withLock { $0?.userInfo[NSSQLiteErrorDomain] as? Int }
      #expect(code == (index == 0 ? nil : 5))
    }
  }

  @Test("S-D13 removing a context's coordinator stops the process")
  func removingTheCoordinatorStopsTheProcess() async {
    let removal = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try ContextBed(.memory).context()
      context.persistentStoreCoordinator = nil
    }
    #expect(removal.message.contains("a context's coordinator can't be replaced"))
  }

  @Test("ConcurrencyDebug doesn't affect correct programs")
  func concurrencyDebugDoesNotAffectCorrectPrograms() async {
    await #expect(processExitsWith: .success) {
      setenv("CDPROF_CONCURRENCY_DEBUG", "1", 1)
      #expect(QueueGuard.isOn)
      let bed = try ContextBed(.sqlite)
      let ids = try bed.addPeople(3)
      let parent = bed.context()
      let child = bed.child(of: parent)
      try child.performAndWait {
        for person in try child.people() { person.label = "child" }
        _ = child.make("Person", ["name": "new"])
        child.delete(child.object(with: ids[1]))
        try child.save()
        try parent.performAndWait {
          try parent.save()
          parent.refreshAllObjects()
        }
        child.reset()
      }
      parent.performAndWait { parent.reset() }
    }
  }

  @Test("ConcurrencyDebug is enabled by argument or environment")
  func concurrencyDebugIsEnabledByArgumentOrEnvironment() {
    let flag = "-com.apple.CoreData.ConcurrencyDebug"
    #expect(QueueGuard.isRequested(["program", flag, "1"], nil))
    #expect(!QueueGuard.isRequested(["program", flag, "0"], nil))
    #expect(!QueueGuard.isRequested(["program", flag], nil))
    #expect(QueueGuard.isRequested([], "1"))
    #expect(!QueueGuard.isRequested([], "0") && !QueueGuard.isRequested([], nil))
  }

  @Test("S10-28 readers don't wait for a writer")
  func readersDoNotWaitForAWriter() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(2)
    let store = try #require(bed.store as? SQLiteStore)
    let read = DispatchSemaphore(value: 0)
    let hold = DispatchSemaphore(value: 0)
    let isWriting = DispatchSemaphore(value: 0)
    let written = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      // A save that is in the middle of writing.
      try? store.pool.withWriter { connection in
        try? connection.execute("BEGIN IMMEDIATE")
        try? connection.execute("UPDATE ZTEAM SET ZNAME = 'half'")
        isWriting.signal()
        hold.wait()
        try? connection.execute("ROLLBACK")
      }
      written.signal()
    }
    isWriting.wait()
    for _ in 0..<2 {
      let reader = bed.context()
      reader.perform {
        let names = (try? reader.people().compactMap { $0.value(forKeyPath: "team.name") }) ?? []
        #expect(names as? [String] == ["t", "t"])
        read.signal()
      }
    }
    for _ in 0..<2 { #expect(read.waitForSignal()) }
    hold.signal()
    written.wait()
  }

  @Test("Nested blocks of related contexts don't deadlock")
  func nestedBlocksOfRelatedContextsDoNotDeadlock() throws {
    let bed = try ContextBed(.memory)
    try bed.addPeople(2)
    let (parent, other) = (bed.context(), bed.context())
    let (child, sibling) = (bed.child(of: parent), bed.child(of: parent))
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      parent.performAndWait {
        child.performAndWait {
          _ = try? child.people().map(\.label)
          parent.performAndWait {
            sibling.performAndWait {
              _ = try? sibling.people().map(\.label)
              other.performAndWait { child.performAndWait { _ = try? child.save() } }
            }
          }
        }
      }
      done.signal()
    }
    #expect(done.waitForSignal())
  }

  @Test("Children, parents, and writers work concurrently")
  func childrenParentsAndWritersWorkConcurrently() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(20)
    let parent = bed.context()
    let contexts = (0..<6).map { $0 < 4 ? bed.child(of: parent) : bed.context() }
    for context in contexts[4...] {
      context.performAndWait { context.automaticallyMergesChangesFromParent = true }
    }
    try contexts[5].performAndWait { try contexts[5].setQueryGenerationFrom(.current) }
    let saved = Atomic<Int>(0)
    let deadline = Date().addingTimeInterval(ConcurrentContextTests.seconds / 2)
    DispatchQueue.concurrentPerform(iterations: 6) { worker in
      var random = SeededRandom(seed: UInt64(worker))
      let context = contexts[worker]
      while Date() < deadline {
        context.performAndWait {
          guard let people = try? context.people(), !people.isEmpty else { return }
          for person in people {
            #expect(person.label != nil)
            _ = person.value(forKeyPath: "team.members")
          }
          guard worker != 3 else { return context.reset() }
          let person = people[Int.random(in: 0..<people.count, using: &random)]
          person.label = "w\(worker)"
          do {
            try context.save()
            saved.add(1, ordering: .relaxed)
            if worker < 4 { parent.performAndWait { (try? parent.save()) ?? parent.rollback() } }
          } catch {
            context.rollback()
          }
        }
      }
    }
    #expect(saved.load(ordering: .relaxed) > 0)
    parent.performAndWait { parent.reset() }
  }

  @Test("Objects can be released on another thread")
  func objectsCanBeReleasedOnAnotherThread() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(50)
    let parent = bed.context()
    let child = bed.child(of: parent)
    for _ in 0..<20 {
      nonisolated(unsafe) var held = try child.performAndWait { try child.people() }
      let released = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        withExtendedLifetime(held) { held = [] }
        released.signal()
      }
      child.performAndWait { _ = child.registeredCount }
      released.wait()
    }
    child.performAndWait { #expect(child.registeredCount == 0) }
    parent.performAndWait { #expect(parent.registeredCount == 0) }
    #expect(bed.store?.withShared { $0.rows.ownerCount } == 0)
  }
}
