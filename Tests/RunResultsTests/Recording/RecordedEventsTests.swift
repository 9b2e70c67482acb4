import ProfileEvents
import Testing

@testable import RunResults

@Suite("Recorded events are kept in tables")
struct RecordedEventsTests {
  private func event(_ id: Int, _ kind: EventKind = .objectFault, begin: UInt64 = 0) -> Event {
    Event(id: id, parent: 0, kind: kind, begin: begin, duration: 1, thread: 1)
  }

  @Test(arguments: [
    [], [7], [3, 1, 2], [5, 1, 9, 2], [1, 1_000_000, 2], [2, 2, 1, 4], [Int.max, 1, -5],
  ])
  func eventsAreInTheOrderOfTheirIDs(ids: [Int]) {
    let events = RecordedEvents(ids.map { event($0) })
    #expect(events.map(\.id) == ids.sorted())
    for id in ids + ids.map({ $0 &+ 1 }) + [0, Int.max] {
      #expect(events.firstIndex(fromID: id) == ids.sorted().firstIndex { $0 >= id } ?? ids.count)
      #expect(events.event(id)?.id == (ids.contains(id) ? id : nil))
    }
  }

  @Test func partsAreFoundWhateverGapsTheIDsHave() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let limit = Int.random(in: 1...80, using: &random)
      let ids = (0..<limit).filter { _ in Bool.random(using: &random) }.shuffled()
      let events = RecordedEvents(ids.map { event($0) })
      let (low, high) = (Int.random(in: -1...limit), Int.random(in: -1...limit))
      let part = events.part(ids: min(low, high)..<max(low, high))
      let expected = ids.filter { (min(low, high)..<max(low, high)).contains($0) }.sorted()
      #expect(part.map(\.id) == expected, "\(ids) \(low) \(high)")
      #expect(part.only { $0.id % 2 == 0 }.map(\.id) == expected.filter { $0 % 2 == 0 })
    }
  }

  @Test func recordingKeepsWhatItHadWhenMoreIsRecorded() {
    let recorder = Recorder()
    for id in 1...1_500 { recorder.record(event(id)) }
    let earlier = recorder.recording()
    for id in 1_501...4_000 { recorder.record(event(id, .save)) }
    #expect(earlier.events.count == 1_500)
    #expect(earlier.events.allSatisfy { $0.kind == .objectFault })
    #expect(recorder.recording().events.map(\.id) == Array(1...4_000))
  }

  @Test("An event has an origin only if its context or its call site is known")
  func eventWithoutContextAndCallSiteHasNoOrigin() {
    var plain = event(1)
    plain.context = nil
    plain.callSite = nil
    #expect(plain.origin == nil)
    plain.context = "main"
    #expect(plain.origin == EventOrigin(context: "main", callSite: nil))
    plain.context = nil
    #expect(plain.origin == nil)
  }

  @Test func copyOfARecordedEventHasAllItsProperties() throws {
    var full = event(4, .statement, begin: 7)
    full.parent = 2
    full.context = "main"
    full.entity = "Mood"
    full.relationship = "country"
    let object = ObjectReference(store: "S", entity: "Mood", primaryKey: -3)
    full.object = object
    full.source = .database
    full.rows = 9
    full.rounds = 2
    full.migration = MigrationRecord(work: .schema, purpose: "Mood: add ZRATING")
    full.statement = StatementRecord(
      kind: .select, sql: "SELECT 1", binds: ["1"], intArrays: 1, arrays: [[4, 2]],
      work: StatementWork(vmSteps: 5, pagesWritten: 1),
      found: [.init(object: object, className: "Mood")], plan: ["SCAN t0"])
    full.path = "/a/store"
    full.request = RequestRecord(predicate: "TRUEPREDICATE", sort: ["date"])
    full.callSite = CallSite(file: "shell", line: 3)
    full.stack = [1, 2]
    let recorded = try #require(RecordedEvents([event(1), full, event(9)]).event(4))
    let copy = Event(recorded)
    #expect("\(copy)" == "\(full)")
    #expect(copy.rounds == 2 && copy.migration == full.migration && copy.path == "/a/store")
    #expect("\(String(describing: copy.request))" == "\(String(describing: full.request))")
    let statement = try #require(copy.statement)
    #expect(statement.kind == .select && statement.sql == "SELECT 1" && statement.intArrays == 1)
    #expect(statement.arrays == [[4, 2]])
    #expect(statement.binds == ["1"] && statement.plan == ["SCAN t0"])
    #expect(statement.work == full.statement?.work && statement.found == full.statement?.found)
    #expect(recorded.statement?.work?.vmSteps == 5)
    #expect(recorded.statement?.binds == ["1"])
    #expect(recorded.subject == full.subject)
  }

  @Test func onlyTheFirstArraysOfAStatementFromAPlaceAreRecorded() {
    let executions = [1, 2].map { id in
      var execution = event(id, .statement)
      execution.statement = StatementRecord(
        kind: .select, sql: "SELECT 1", intArrays: 1, arrays: [[Int64(id)]])
      return execution
    }
    let recorded = RecordedEvents(executions)
    #expect(recorded.event(1)?.statement?.arrays == [[1]])
    #expect(recorded.event(2)?.statement?.arrays == nil)
    #expect(recorded.event(2).flatMap { Event($0).statement }?.intArrays == 1)
  }

  @Test func eventsOfOneBeginningAreInTheOrderOfTheirIDs() {
    let events = RecordedEvents([
      event(1, begin: 30), event(2, begin: 10), event(4, begin: 20), event(3, begin: 20),
    ])
    #expect(events.byBegin.map(\.id) == [2, 3, 4, 1])
  }
}
