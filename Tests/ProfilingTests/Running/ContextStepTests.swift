import OpenCoreData
import ProfileEvents
import RunResults
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import ScenarioLanguage

@Suite("Steps in several contexts")
struct ContextStepTests {
  /// Lines, and the expected summaries of some of them by index.
  struct StepSequence: Sendable, CustomTestStringConvertible {
    let name: String
    let lines: [String]
    let summaries: [Int: String]

    var testDescription: String { name }
  }

  static let sequences = [
    StepSequence(
      name: "S11-1: the second save of one row conflicts",
      lines: [
        "context sync", "fetch Mood sort date limit 1 faults no as mine",
        "fetch Mood sort date limit 1 faults no in sync as theirs", "set theirs with latitude 1",
        "save in sync", "set mine with latitude 2", "save fails 133020",
        "context main policy object", "save", "refresh theirs",
        "count Mood where \"latitude == 2\" in sync",
      ],
      summaries: [
        0: "sync created", 4: "saved: 1 updated", 6: "failed with 133020, as expected",
        7: "main changed", 8: "saved: 1 updated", 10: "1 Mood",
      ]),
    StepSequence(
      name: "S11-2: the second save also conflicts through another coordinator",
      lines: [
        "context other coordinator second", "fetch Mood sort date limit 1 as mine",
        "fetch Mood sort date limit 1 in other as theirs", "set theirs with latitude 1",
        "save in other", "set mine with latitude 2", "save fails 133020",
        "context main policy rollback", "save", "count Mood where \"latitude == 1\"",
      ],
      summaries: [6: "failed with 133020, as expected", 9: "1 Mood"]),
    StepSequence(
      name: "steps find objects of other contexts by object ID",
      lines: [
        "context sync", "fetch Mood sort date limit 3 as moods", "touch moods date in sync",
        "set moods with latitude 7 in sync", "save in sync", "count Mood where \"latitude == 7\"",
        "fetch Mood result ids limit 2 as ids", "touch ids date in sync", "touch ids date",
        "context other coordinator second", "touch moods date in other", "insert Mood as fresh",
        "touch fresh date in sync fails 134060", "context edit parent main",
        "touch fresh latitude in edit",
      ],
      summaries: [
        2: "read 1 key path of 3 objects", 4: "saved: 3 updated", 5: "3 Mood",
        7: "read 1 key path of 2 objects", 10: "read 1 key path of 3 objects",
        12: "failed with 134060, as expected", 14: "read 1 key path of 1 object",
      ]),
    StepSequence(
      name: "merging a save updates the other context",
      lines: [
        "context sync", "fetch Mood sort date limit 2 faults no as mine",
        "fetch Mood sort date limit 2 in sync as theirs", "set theirs with latitude 5",
        "save in sync as saved", "merge saved", "drop saved", "save in sync as nothing",
        "merge nothing", "batch-update Mood where \"latitude == 5\" with latitude 6 as changed",
        "merge changed", "set theirs with latitude 8", "merge changed in sync",
        "save in sync", "drop sync",
      ],
      summaries: [
        4: "saved: 2 updated", 5: "merged saved", 7: "nothing to save",
        8: "nothing was saved, so there's nothing to merge", 9: "changed: 2 Mood updated",
        10: "merged changed by object ID", 13: "saved: 2 updated", 14: "sync released",
      ]),
    StepSequence(
      name: "undo and redo apply to steps",
      lines: [
        "context main undoable yes", "fetch Mood sort date limit 1 as m", "set m with latitude 1",
        "set m with longitude 2", "undo", "save", "count Mood where \"longitude == 2\"",
        "undo redo yes", "save", "count Mood where \"longitude == 2\"", "undo times 2", "save",
        "count Mood where \"latitude == 1 OR longitude == 2\"", "undo times 3",
        "undo redo yes times 5", "count Mood where \"latitude == 1 AND longitude == 2\"",
      ],
      summaries: [
        4: "1 group undone", 6: "0 Mood", 7: "1 group redone", 9: "1 Mood",
        10: "2 groups undone", 12: "0 Mood", 13: "0 groups undone", 14: "2 groups redone",
        15: "1 Mood",
      ]),
    StepSequence(
      name: "S11-16: a pinned context sees the rows of its generation",
      lines: [
        "context sync", "pin", "count Mood", "batch-delete Mood in sync", "count Mood",
        "count Mood in sync", "pin to main in sync", "count Mood in sync", "pin to none",
        "count Mood", "pin to main in sync fails 134060",
      ],
      summaries: [
        1: "pinned to current", 2: "200 Mood", 3: "200 Mood deleted", 4: "200 Mood", 5: "0 Mood",
        6: "pinned to main", 7: "200 Mood", 8: "unpinned", 9: "0 Mood",
      ]),
    StepSequence(
      name: "child contexts save only to their parent",
      lines: [
        "context edit parent main", "fetch Mood sort date limit 1 in edit as m",
        "set m with latitude 3", "save in edit", "count Mood where \"latitude == 3\" pending no",
        "save", "count Mood where \"latitude == 3\" pending no", "reset in edit", "drop edit",
      ],
      summaries: [3: "saved: 1 updated", 4: "0 Mood", 5: "saved: 1 updated", 6: "1 Mood"]),
  ]

  @Test(arguments: sequences)
  func stepsHaveTheirSummaries(sequence: StepSequence) throws {
    let typed = try TypedSession()
    let outcomes = try typed.run(sequence.lines)
    for (index, summary) in sequence.summaries {
      #expect(outcomes[index].summary == summary, "\(sequence.lines[index])")
    }
    #expect(outcomes.allSatisfy { $0.endedAsExpected })
  }

  /// An automatic merge belongs to the step that saves.
  @Test
  func automaticMergeBelongsToTheSave() throws {
    let typed = try TypedSession()
    let outcomes = try typed.run([
      "context sync", "context main merges yes", "fetch Mood sort date limit 3 faults no as mine",
      "fetch Mood sort date limit 3 in sync as theirs", "set theirs with latitude 4",
      "save in sync", "touch mine latitude",
    ])
    #expect(outcomes[5].costs.counters.updates == 3)
    #expect(outcomes[6].costs.counters.hits == 3 && outcomes[6].costs.counters.selects == 0)
    let recording = typed.session.recording
    #expect(recording.value(of: .saves, scope: .context("sync")) == 1)
    #expect(recording.value(of: .saves, scope: .context("main")) == 0)
    // Only the three moods, because saving them doesn't register their countries.
    #expect(recording.value(of: .registered, scope: .context("sync")) == 3)
    #expect(recording.value(of: .registered, scope: .entity("Mood")) == 6)
    #expect(recording.value(of: .peak, scope: .entity("Mood")) == 3)
  }

  /// The statements of a child's fetches and faults run in its parent.
  @Test
  func countsOfAContextIncludeThoseOfItsParentsOnItsBehalf() throws {
    let typed = try TypedSession()
    try typed.run([
      "context edit parent main", "fetch Mood sort date limit 3 in edit as mine",
      "fetch Country as countries",
    ])
    let recording = typed.session.recording
    #expect(recording.value(of: .selects, scope: .context("edit")) == 1)
    #expect(recording.value(of: .rows, scope: .context("edit")) == 3)
    #expect(recording.value(of: .selects, scope: .context("main")) == 2)
    #expect(recording.value(of: .selects) == 2)
    let differences = EventDifferences(
      recording: recording, metric: ScopedMetric(.selects, .context("edit")), found: 1)
    #expect(differences.lines.count == 1)
    #expect(differences.lines.first?.hasPrefix("1 SELECT from ") == true)
  }

  /// Reopening the file re-creates all contexts.
  @Test(arguments: [["drop theirs", "drop sync"], ["drop theirs", "pragma busy_timeout to 20"]])
  func peaksIncludeContextsThatNoLongerExist(last: [String]) throws {
    let typed = try TypedSession()
    try typed.run(
      ["context sync", "fetch Mood sort date limit 3 faults no in sync as theirs"] + last
        + ["fetch Mood sort date limit 2 faults no as mine"])
    let recording = typed.session.recording
    #expect(recording.value(of: .peak, scope: .entity("Mood")) == 3)
    #expect(recording.value(of: .peak, scope: .context("sync")) == 3)
    #expect(recording.value(of: .peak) == 3)
    #expect(recording.value(of: .registered) == 2)
  }

  @Test
  func resultsAreReleasedWithTheirName() throws {
    let typed = try TypedSession()
    try typed.run([
      "context sync", "fetch Mood limit 3 in sync as theirs", "set theirs with latitude 4",
      "save in sync as saved", "drop theirs",
    ])
    let registered = { typed.session.recording.value(of: .registered, scope: .context("sync")) }
    #expect(registered() == 3)
    try typed.run(["drop saved"])
    #expect(registered() == 0)
  }
}
