import CoreDataCosts
import Moody
import OpenCoreData
import Testing

@testable import MoodySync

@Suite("Downloading, and answers that get lost")
struct DownloadTests {
  private func mood(_ id: String, country: Int16? = nil) -> RemoteMood {
    RemoteMood(
      id: id, creatorID: "user", date: Date(timeIntervalSinceReferenceDate: 60),
      colors: Data([1, 2, 3]), latitude: 1, longitude: 2, countryCode: country)
  }

  /// Answers the next fetch of new moods; returns whether the changes were saved.
  private func answer(
    _ stack: SyncStack, _ changes: [RemoteRecordChange<RemoteMood>]
  ) throws -> Bool {
    let saved = Log<Bool>()
    let answer = try #require(stack.remote.new.last)
    answer(changes, nil) { saved.add($0) }
    eventually("the changes are saved") { saved.values.count == 1 }
    return saved.values.first == true
  }

  @Test("A device without moods fetches the latest, and then what has changed since")
  func firstFetchIsOfTheLatestMoods() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    coordinator.applicationDidBecomeActive()
    coordinator.applicationDidBecomeActive()
    stack.drain()
    #expect(stack.remote.latest.count == 1 && stack.remote.new.isEmpty)
    let cost = try costs(of: stack.store) {
      let answer = try #require(stack.remote.latest.first)
      answer([mood("a", country: 250), mood("b", country: 250)], nil)
      eventually("new moods are fetched") { stack.remote.new.count == 1 }
    }
    // Moods, countries, and the new country's continent are each fetched once.
    #expect(cost.saves == 1 && cost.inserts == 4 && cost.fetches == 3)
    #expect(try answer(stack, [.insert(mood("a")), .delete("b"), .insert(mood("c"))]))
    #expect(try stack.visibleMoods() == 2)
    try stack.view.performAndWait {
      let country = try #require(try Country.fetch(in: stack.view).first)
      #expect(country.numberOfMoods == 1 && country.moods.first?.recordName == "a")
    }
    // All of this is the server's, so there's nothing to upload.
    stack.drain()
    #expect(stack.remote.uploads.isEmpty && stack.remote.removals.isEmpty)
  }

  @Test("A mood whose country has the number of a continent gets no country")
  func countryDoesNotReplaceAContinent() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    try stack.insertMoods { $0.remoteIdentifier = "z" }
    for changes in [[mood("a", country: 356)], [mood("b", country: 10_003), mood("c")]] {
      coordinator.remoteDidChange()
      stack.drain()
      #expect(try answer(stack, changes.map { .insert($0) }))
    }
    #expect(try stack.visibleMoods() == 4)
    let codes = try stack.view.performAndWait {
      [
        try Country.fetch(in: stack.view).map(\.numericISO3166Code),
        try Continent.fetch(in: stack.view).map(\.numericISO3166Code),
      ]
    }
    #expect(codes == [[356], [10_003]])
  }

  @Test("The last of several changes decides, and changes can be applied again")
  func changesCanBeAppliedAgain() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    try stack.insertMoods { $0.remoteIdentifier = "z" }
    for _ in 0..<2 {
      coordinator.remoteDidChange()
      stack.drain()
      #expect(
        try answer(
          stack,
          [
            .insert(mood("a")), .insert(mood("b")), .delete("a"), .delete("b"), .insert(mood("b")),
            .update(mood("b")), .delete("unknown"),
          ]))
      #expect(try stack.visibleMoods() == 2)
    }
    #expect(try stack.sync.performAndWait { try Mood.count(in: stack.sync) } == 2)
  }

  @Test("Only one fetch is in progress at a time")
  func fetchesDontOverlap() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    stack.drain()
    let changed = try #require(stack.remote.changed)
    changed()
    stack.drain()
    for _ in 0..<3 { coordinator.remoteDidChange() }
    stack.drain()
    #expect(stack.remote.new.count == 1)
    #expect(try answer(stack, []))
    eventually("the changes in the meantime are fetched once") { stack.remote.new.count == 2 }
    #expect(try answer(stack, []))
    stack.drain()
    #expect(stack.remote.new.count == 2)
  }

  @Test("Changes that can't be saved aren't confirmed, and are fetched again later")
  func unsavedChangesAreFetchedAgain() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    try stack.insertMoods { $0.remoteIdentifier = "z" }
    coordinator.remoteDidChange()
    stack.drain()
    stack.sync.performAndWait { stack.sync.mood(1).setValue(nil, forKey: "colors") }
    #expect(try !answer(stack, [.insert(mood("a"))]))
    #expect(try stack.visibleMoods() == 1 && stack.retries.delays == [1])
    stack.retries.run()
    eventually("the changes are fetched again") { stack.remote.new.count == 2 }
    #expect(try answer(stack, [.insert(mood("a"))]))
    #expect(try stack.visibleMoods() == 2)
  }

  @Test("A mood whose upload was never answered isn't inserted a second time")
  func lostAnswerDoesNotDuplicateTheMood() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    let id = try #require(try stack.insertMoods().first)
    stack.drain()
    let upload = try #require(stack.remote.uploads.first)
    upload.answer([], .temporary)
    eventually("a retry is scheduled") { stack.retries.delays == [1] }
    coordinator.remoteDidChange()
    stack.drain()
    #expect(try answer(stack, upload.moods.map { .insert($0) }))
    #expect(try stack.read(id) { $0.remoteIdentifier } == upload.moods.first?.id)
    #expect(try stack.visibleMoods() == 1)
    stack.retries.run()
    stack.drain()
    #expect(stack.remote.uploads.count == 1)
  }

  @Test("A second answer has no effect")
  func secondAnswerHasNoEffect() throws {
    let stack = try SyncStack()
    try withExtendedLifetime(stack.coordinator()) {
      let id = try #require(try stack.insertMoods().first)
      stack.drain()
      let upload = try #require(stack.remote.uploads.first)
      upload.answer(upload.moods, nil)
      upload.answer([], .permanent(upload.moods.map(\.id)))
      try eventually("the identifier is saved") {
        try stack.read(id) { $0.remoteIdentifier != nil }
      }
      stack.drain()
      #expect(try stack.read(id) { $0.markedForDeletionDate } == nil)
    }
  }

  @Test("A mood that is deleted during its upload is removed from the server")
  func deletionDuringAnUploadReachesTheServer() throws {
    let stack = try SyncStack()
    try withExtendedLifetime(stack.coordinator()) {
      let id = try #require(try stack.insertMoods().first)
      stack.drain()
      try stack.view.performAndWait {
        (try stack.view.existingObject(with: id) as? Mood)?.markForRemoteDeletion()
        try stack.view.save()
      }
      stack.drain()
      let upload = try #require(stack.remote.uploads.first)
      #expect(stack.remote.removals.map(\.ids) == [upload.moods.map(\.id)])
      try #require(stack.remote.removals.first).answer(upload.moods.map(\.id), nil)
      upload.answer([], .permanent(upload.moods.map(\.id)))
      try eventually("the mood is marked for local deletion") {
        try stack.read(id) { $0.markedForDeletionDate != nil }
      }
    }
  }

  @Test("A mood from before there were record names gets one, and is uploaded then")
  func moodWithoutARecordNameGetsOne() throws {
    let stack = try SyncStack()
    try withExtendedLifetime(stack.coordinator()) {
      let id = try #require(try stack.insertMoods { $0.recordName = nil }.first)
      eventually("the mood is uploaded") { stack.remote.uploads.count == 1 }
      let name = try #require(try stack.read(id) { $0.recordName })
      #expect(stack.remote.uploads.first?.moods.map(\.id) == [name])
    }
  }

  @Test("Retries wait longer each time, up to a minute")
  func retriesWaitLongerEachTime() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    try stack.insertMoods { $0.remoteIdentifier = "z" }
    coordinator.applicationDidBecomeActive()
    for count in 1...8 {
      eventually("the fetch is repeated") { stack.remote.new.count == count }
      let answer = try #require(stack.remote.new.last)
      answer([], .temporary) { _ in }
      eventually("a retry is scheduled") { stack.retries.delays.count == count }
      stack.retries.run()
    }
    #expect(stack.retries.delays == [1, 2, 4, 8, 16, 32, 60, 60])
  }

  @Test("Retries of uploads wait longer each time, too, although fetches succeed")
  func retriesOfUploadsWaitLongerEachTime() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    try stack.insertMoods { $0.remoteIdentifier = "z" }
    try stack.insertMoods()
    coordinator.applicationDidBecomeActive()
    for count in 1...4 {
      eventually("the upload and the fetch are repeated") {
        stack.remote.uploads.count == count && stack.remote.new.count == count
      }
      #expect(try answer(stack, []))
      try #require(stack.remote.uploads.last).answer([], .temporary)
      eventually("a retry is scheduled") { stack.retries.delays.count == count }
      if count < 4 { stack.retries.run() }
    }
    #expect(stack.retries.delays == [1, 2, 4, 8])
    stack.retries.run()
    eventually("the upload is repeated") { stack.remote.uploads.count == 5 }
    let upload = try #require(stack.remote.uploads.last)
    upload.answer(upload.moods, nil)
    try stack.insertMoods()
    eventually("another mood is uploaded") { stack.remote.uploads.count == 6 }
    try #require(stack.remote.uploads.last).answer([], .temporary)
    eventually("a retry is scheduled") { stack.retries.delays.count == 5 }
    #expect(stack.retries.delays.last == 1)
  }

  @Test("Retries of answers that can't be saved wait longer each time")
  func retriesOfUnsavedAnswersWaitLonger() throws {
    let stack = try SyncStack()
    let coordinator = stack.coordinator()
    try stack.insertMoods()
    for count in 1...4 {
      eventually("the mood is uploaded") { stack.remote.uploads.count == count }
      stack.sync.performAndWait { stack.sync.mood(1).setValue(nil, forKey: "colors") }
      let upload = try #require(stack.remote.uploads.last)
      upload.answer(upload.moods, nil)
      eventually("a retry is scheduled") { stack.retries.delays.count == count }
      stack.retries.run()
    }
    #expect(stack.retries.delays == [1, 2, 4, 8])
    withExtendedLifetime(coordinator) {}
  }

  @Test("The console remote answers immediately and logs each request")
  func consoleRemoteAnswersImmediately() throws {
    let stack = try SyncStack()
    let lines = Log<String>()
    let coordinator = SyncCoordinator(
      viewContext: stack.view, syncContext: stack.sync, remote: ConsoleRemote { lines.add($0) },
      changeProcessors: [MoodUploader(), MoodDownloader(), MoodRemover()])
    let id = try #require(try stack.insertMoods().first)
    try eventually("the mood is uploaded") { try stack.read(id) { $0.remoteIdentifier != nil } }
    try stack.view.performAndWait {
      (try stack.view.existingObject(with: id) as? Mood)?.markForRemoteDeletion()
      try stack.view.save()
    }
    try eventually("the mood is removed") {
      try stack.read(id) { $0.markedForDeletionDate != nil }
    }
    coordinator.applicationDidBecomeActive()
    eventually("new moods are fetched") { lines.values.count == 4 }
    #expect(
      lines.values == [
        "subscribe to moods", "upload 1 moods", "remove 1 moods", "fetch new moods",
      ])
  }
}
