import CoreDataCosts
import Moody
import OpenCoreData
import Synchronization
import Testing

@testable import MoodySync

@Suite("Change processors")
struct ProcessorTests {
  /// A processor of moods that counts what it processes and completes nothing.
  private final class Counter: ElementChangeProcessor {
    let elementsInProgress = InProgressTracker<Mood>()
    let log: Log<Int>

    init(_ log: Log<Int>) { self.log = log }

    var predicateForLocallyTrackedElements: NSPredicate { Mood.waitingForUploadPredicate }

    func setup(for context: any ChangeProcessorContext) {}

    func processChangedLocalElements(_ moods: [Mood], in context: any ChangeProcessorContext) {
      log.add(moods.count)
      elementsInProgress.markObjectsAsComplete(moods)
    }

    func processRemoteChanges<Record: RemoteRecord>(
      _ changes: [RemoteRecordChange<Record>], in context: any ChangeProcessorContext,
      completion: @escaping (Bool) -> Void
    ) {
      completion(true)
    }

    func fetchLatestRemoteRecords(
      in context: any ChangeProcessorContext, completion: @escaping (Bool) -> Void
    ) {
      completion(true)
    }
  }

  @Test("S9-5 a processor is called for inserted and updated objects that match")
  func processorIsCalledForMatchingObjects() throws {
    let stack = try SyncStack()
    let log = Log<Int>()
    try withExtendedLifetime(stack.coordinator([Counter(log)])) {
      func calls(_ change: () throws -> Void) throws -> [Int] {
        let before = log.values.count
        try change()
        stack.drain()
        return Array(log.values.dropFirst(before))
      }
      let id = try #require(try stack.insertMoods { $0.remoteIdentifier = "a" }.first)
      stack.drain()
      #expect(log.values.isEmpty)
      #expect(try calls { try stack.insertMoods() } == [1])
      #expect(
        try calls {
          try stack.view.performAndWait {
            let mood = try #require(try stack.view.existingObject(with: id) as? Mood)
            mood.remoteIdentifier = nil
            try stack.view.save()
          }
        } == [1])
      #expect(try calls { try stack.insertMoods { $0.remoteIdentifier = "b" } } == [])
      #expect(
        try calls {
          try stack.view.performAndWait {
            Country(context: stack.view).numericISO3166Code = 250
            try stack.view.save()
          }
        } == [])
    }
  }

  @Test("S9-6 a mood that wasn't uploaded before a restart is found with one SELECT")
  func moodIsFoundAfterARestart() throws {
    let folder = try StoreFolder()
    try SyncStack(folder).insertMoods()
    let stack = try SyncStack(folder)
    try stack.insertMoods { $0.remoteIdentifier = "a" }
    let coordinator = stack.coordinator()
    try stack.sync.performAndWait {
      let tracked = try #require(
        MoodUploader().entityAndPredicateForLocallyTrackedObjects(in: coordinator))
      #expect(tracked.predicate.predicateFormat.contains("remoteIdentifier == nil"))
      let cost = try costs(of: stack.sync) {
        let moods = try stack.sync.fetch(tracked.fetchRequest)
        #expect(moods.count == 1 && moods.allSatisfy { !$0.isFault })
      }
      #expect(cost.selects == 1 && cost.rows == 1 && cost.faults == 0)
    }
    coordinator.applicationDidBecomeActive()
    stack.drain()
    #expect(stack.remote.uploads.map(\.moods.count) == [1])
    #expect(stack.remote.new.count == 1 && stack.remote.latest.isEmpty)
  }

  @Test("S9-7 an uploaded mood gets its remote identifier and no longer matches")
  func uploadedMoodNoLongerMatches() throws {
    let stack = try SyncStack()
    let processed = Log<[Bool]>()
    let probe = Probe { objects, _ in
      processed.add(objects.map { Mood.waitingForUploadPredicate.evaluate(with: $0) })
    }
    try withExtendedLifetime(stack.coordinator([probe, MoodUploader()])) {
      let id = try #require(try stack.insertMoods().first)
      stack.drain()
      let upload = try #require(stack.remote.uploads.first)
      var mood = try #require(upload.moods.first)
      #expect(mood.id == (try stack.read(id) { $0.recordName }))
      mood.creatorID = "user"
      upload.answer([mood], nil)
      eventually("the update is processed") { processed.values.count == 2 }
      #expect(processed.values == [[true], [false]])
      try stack.read(id) {
        #expect($0.remoteIdentifier == mood.id && $0.creatorID == "user")
      }
      #expect(stack.remote.uploads.count == 1 && stack.retries.delays.isEmpty)
    }
  }

  @Test("S9-8 a mood that is saved again during its upload is uploaded once")
  func moodIsUploadedOnceAtATime() throws {
    let stack = try SyncStack()
    try withExtendedLifetime(stack.coordinator()) {
      let id = try #require(try stack.insertMoods().first)
      try stack.view.performAndWait {
        let mood = try #require(try stack.view.existingObject(with: id) as? Mood)
        for degrees in [1.0, 2.0] {
          mood.latitude = degrees
          try stack.view.save()
        }
      }
      stack.drain()
      #expect(stack.remote.uploads.count == 1)
    }
  }

  @Test("S9-9 a mood that the server rejects is marked for deletion and not uploaded again")
  func rejectedMoodIsMarkedForDeletion() throws {
    let stack = try SyncStack()
    try withExtendedLifetime(stack.coordinator()) {
      let id = try #require(try stack.insertMoods().first)
      stack.drain()
      let upload = try #require(stack.remote.uploads.first)
      upload.answer([], .permanent(upload.moods.map(\.id)))
      try eventually("the mark is saved") {
        try stack.read(id) { $0.markedForDeletionDate != nil }
      }
      #expect(try stack.visibleMoods() == 0)
      try stack.view.performAndWait {
        let mood = try #require(try stack.view.existingObject(with: id) as? Mood)
        mood.latitude = 1
        try stack.view.save()
      }
      stack.drain()
      #expect(stack.remote.uploads.count == 1 && stack.retries.delays.isEmpty)
    }
  }

  @Test("S9-10 a mood that the answer lacks stays as it is, and is uploaded again later")
  func moodThatTheAnswerLacksIsUploadedAgainLater() throws {
    let stack = try SyncStack()
    try withExtendedLifetime(stack.coordinator()) {
      let ids = try stack.insertMoods(3)
      stack.drain()
      let upload = try #require(stack.remote.uploads.first)
      let missing = try #require(try stack.read(ids[1]) { $0.recordName })
      #expect(upload.moods.count == 3)
      upload.answer(upload.moods.filter { $0.id != missing }, nil)
      try eventually("the identifiers are saved") {
        try stack.read(ids[0]) { $0.remoteIdentifier != nil }
      }
      let identified = try ids.map { try stack.read($0) { $0.remoteIdentifier != nil } }
      #expect(identified == [true, false, true])
      eventually("a retry is scheduled") { stack.retries.delays == [1] }
      #expect(stack.remote.uploads.count == 1)
      stack.retries.run()
      stack.drain()
      #expect(stack.remote.uploads.last?.moods.map(\.id) == [missing])
    }
  }

  @Test("S9-11 a deleted mood is hidden, and stays in the store until the server has deleted it")
  func deletedMoodStaysUntilTheServerHasDeletedIt() throws {
    let stack = try SyncStack()
    let processed = Log<Int>()
    let probe = Probe { objects, _ in processed.add(objects.count) }
    let coordinator = stack.coordinator([probe, MoodRemover()])
    let id = try #require(try stack.insertMoods { $0.remoteIdentifier = "a" }.first)
    try stack.view.performAndWait {
      let mood = try #require(try stack.view.existingObject(with: id) as? Mood)
      mood.markForRemoteDeletion()
      let cost = try costs(of: stack.view) { try stack.view.save() }
      #expect(cost.updates == 1 && cost.deletes == 0)
      #expect(try stack.view.fetch(Mood.visibleFetchRequest).isEmpty)
    }
    stack.drain()
    #expect(stack.remote.removals.map(\.ids) == [["a"]])
    #expect(try stack.read(id) { $0.markedForDeletionDate } == nil)
    try #require(stack.remote.removals.first).answer(["a"], nil)
    try eventually("the mood is marked for local deletion") {
      try stack.read(id) { $0.markedForDeletionDate != nil }
    }
    // The rest of the block that saves, and then the processing that the save schedules.
    stack.drain()
    stack.drain()
    #expect(stack.remote.removals.count == 1 && stack.retries.delays.isEmpty)
    let before = processed.values
    try stack.view.performAndWait {
      try stack.view.existingObject(with: id).setValue(
        Date(timeIntervalSinceNow: -180), forKey: "markedForDeletionDate")
      try stack.view.save()
    }
    coordinator.applicationDidEnterBackground()
    stack.view.performAndWait {}
    // A batch deletion leaves the row in the row cache as long as the work that the save schedules
    // retains the object.
    stack.drain()
    #expect(throws: NSError.self) { try stack.read(id) { _ in } }
    // The deletion of an object isn't processed.
    try stack.view.performAndWait {
      let mood = stack.view.mood(1)
      try stack.view.save()
      stack.view.delete(mood)
      try stack.view.save()
    }
    stack.drain()
    #expect(processed.values == before + [1, 1])
  }

  @Test("S9-12 the completion of remote changes is called once, after all processors' completions")
  func completionIsCalledAfterAllProcessors() throws {
    let stack = try SyncStack()
    let pending = Pending()
    let probe = { @Sendable in Probe(remote: { pending.add($0) }) }
    let coordinator = stack.coordinator([probe(), probe(), probe()])
    let called = Log<Bool>()
    stack.sync.performAndWait {
      coordinator.processRemoteChanges([RemoteRecordChange<RemoteMood>.delete("a")]) {
        called.add($0)
      }
      let completions = pending.completions
      #expect(completions.count == 3 && called.values.isEmpty)
      completions[2](true)
      completions[2](true)
      completions[0](true)
      #expect(called.values.isEmpty)
      completions[1](true)
      completions[1](false)
      #expect(called.values == [true])
    }
  }

  /// Completions of the sync context's queue.
  private final class Pending: @unchecked Sendable {  // used on the sync context's queue
    private(set) var completions: [(Bool) -> Void] = []

    func add(_ completion: @escaping (Bool) -> Void) { completions.append(completion) }
  }

  @Test("S9-19 at most two operations run at once, and the first queue has precedence")
  func firstQueueHasPrecedence() {
    let loop = OperationLoop(limit: 2, queues: 2)
    let (started, running) = (Log<String>(), Running())
    func add(_ name: String, to queue: Int) {
      loop.add(to: queue) { done in
        started.add(name)
        running.add(done)
      }
    }
    for number in 1...3 { add("B\(number)", to: 1) }
    for number in 1...3 { add("A\(number)", to: 0) }
    #expect(started.values == ["B1", "B2"])
    while let done = running.takeFirst() {
      done()
      done()
    }
    #expect(started.values == ["B1", "B2", "A1", "A2", "A3", "B3"])
    #expect(running.most == 2)
  }

  /// The operations that run.
  private final class Running: Sendable {
    private let state = Mutex<(running: [@Sendable () -> Void], most: Int)>(([], 0))

    var most: Int { state.withLock { $0.most } }

    func add(_ done: @escaping @Sendable () -> Void) {
      state.withLock { state in
        state.running.append(done)
        state.most = max(state.most, state.running.count)
      }
    }

    func takeFirst() -> (@Sendable () -> Void)? {
      state.withLock { $0.running.isEmpty ? nil : $0.running.removeFirst() }
    }
  }
}
