import OpenCoreData
import ProfileEvents
import Profiling
import Synchronization
import Testing
import WorkbenchFixtures

@testable import RunResults

@Suite("Track of saves")
struct SaveTrackTests {
  /// Collects lines of a log from any thread.
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  @Test("S15-16 a save is one event with a duration, which Core Data's log lines don't contain")
  func savesHaveADuration() throws {
    let typed = try TypedSession(moods: 20)
    let lines = Lines()
    typed.session.add(SQLDebugLog(level: 1) { line in lines.all.withLock { $0.append(line) } })
    try typed.run(["fetch Mood limit 7 as moods", "set moods with latitude 1"])
    lines.all.withLock { $0 = [] }
    let outcome = try #require(try typed.run(["save"]).first)
    let recording = typed.session.recording
    let saves = recording.events.filter { $0.kind == .save }
    #expect(saves.map(\.rows) == [7] && outcome.costs.counters.updates == 7)
    #expect(saves.allSatisfy { $0.duration > 0 })
    let track = try #require(recording.tracks().first { $0.name.rawValue == "Saves" })
    #expect(track.count == 1 && track.marks.allSatisfy { $0.end > $0.begin })
    let log = lines.all.withLock { $0 }
    #expect(log.count { $0.contains("UPDATE ZMOOD") } == 7)
    #expect(log.contains { $0.hasSuffix("COMMIT") })
    let own = log.filter { $0.hasPrefix("cdprof: ") }
    let coreDataLines = log.filter { !$0.hasPrefix("cdprof: ") }
    #expect(own.count { $0.contains("save execution time") } == 1)
    #expect(
      !coreDataLines.contains { $0.contains("execution time") || $0.lowercased().contains("save") })
  }
}
