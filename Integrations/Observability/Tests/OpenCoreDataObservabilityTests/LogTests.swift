import InMemoryLogging
import Logging
import OpenCoreData
import OpenCoreDataObservability
import Testing

@Suite("Lines of the log")
struct LogTests {
  @Test func anOperationIsALineAtItsLevel() throws {
    let store = try MoodStore(moods: 4, countries: 2) { $0.logLevel = .info }
    try store.perform { context in
      context.name = "list"
      try store.readCountries(context)
    }
    let entries = store.log.entries
    #expect(
      entries.map { "\($0.level) \($0.message)" } == [
        "info fetch Mood", "info fault Country", "info fault Country",
      ])
    var metadata = try #require(entries.first).metadata
    let removed = metadata.removeValue(forKey: "coredata.duration")
    let duration = try #require(removed)
    #expect(try #require(Double("\(duration)")) > 0)
    #expect(
      metadata == [
        "coredata.operation": "fetch", "coredata.entity": "Mood", "coredata.count": "4",
        "coredata.statements": "1", "coredata.rows": "4", "coredata.misses": "0",
        "coredata.context": "list",
      ])
    #expect(entries.last?.metadata["coredata.fault.source"] == "store")
  }

  @Test func noOperationIsSlowWithTheLongestDuration() throws {
    let store = try MoodStore(moods: 1, countries: 1) { $0.slowDuration = .seconds(Int64.max) }
    try store.perform { try store.readCountries($0) }
    #expect(store.log.entries.allSatisfy { $0.level == .debug })
    #expect(!store.log.entries.isEmpty)
  }

  @Test func slowAndFailedOperationsHaveHigherLevels() throws {
    let slow = try MoodStore(moods: 4, countries: 2) { $0.slowDuration = .zero }
    try slow.perform { try slow.readCountries($0, prefetching: true) }
    let entry = try #require(slow.log.entries.first)
    #expect(entry.level == .warning && "\(entry.message)" == "slow fetch Mood")
    #expect("\(entry.metadata["db.query.text"] ?? "")".hasPrefix("SELECT 0, t0.Z_PK"))
    #expect(entry.metadata["db.query.summary"] != nil)

    let failing = try MoodStore(moods: 0, countries: 1) { $0.logLevel = nil }
    #expect(throws: NSError.self) {
      try failing.perform { context in
        try failing.readCountries(context)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        try context.save()
      }
    }
    #expect(failing.log.entries.map { "\($0.level) \($0.message)" } == ["error failed save"])
    #expect(
      failing.log.entries.first?.metadata["error.type"]
        == "NSCocoaErrorDomain.\(NSValidationMissingMandatoryPropertyError)")
  }
}
