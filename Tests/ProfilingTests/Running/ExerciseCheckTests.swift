import Foundation
import Profiling
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import RunResults
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Exercises and their solutions")
struct ExerciseCheckTests {
  /// A scenario with an exercise, which the log of the tests names instead of printing its data.
  struct Lesson: Sendable, CustomTestStringConvertible {
    let scenario: Scenario
    var testDescription: String { scenario.fileName }
  }

  /// The scenarios with an exercise; those that can't be read are reported by other tests.
  private static let lessons = PackagedScenarios.all.compactMap {
    try? ScenarioReader.read($0, path: $0.path)
  }.filter { $0.exercise != nil }.map(Lesson.init)

  private static func solution(of lesson: Scenario) throws -> Scenario {
    let file = PackagedScenarios.folder.deletingLastPathComponent()
      .appendingPathComponent("Solutions/\(lesson.fileName).yml")
    return try ScenarioReader.read(file, path: "Solutions/\(lesson.fileName).yml")
  }

  @Test func mostChaptersHaveAnExercise() {
    let chapters = Set(Self.lessons.compactMap(\.scenario.chapter))
    #expect(Self.lessons.count >= 15)
    #expect(chapters.isSuperset(of: [6, 7, 8, 10, 11, 12, 13, 14, 15]))
  }

  /// What is in the lesson is too expensive, and the solution does the same work within the budget.
  @Test(arguments: lessons)
  func solutionMeetsTheBudgetThatTheLessonMisses(lesson: Lesson) throws {
    let lesson = lesson.scenario
    let check = try ExerciseCheck(of: Self.solution(of: lesson), against: lesson)
    #expect(check.passes, "\(lesson.fileName): \(check.budget) \(check.differences)")
    #expect(check.start.contains { !$0.isMet }, "\(lesson.fileName): there's nothing to do")
    let start = try ExerciseCheck(of: lesson, against: lesson)
    #expect(!start.passes && start.differences.isEmpty, "\(lesson.fileName)")
  }

  private static let lesson = """
    name: Notes
    model: Notes
    data: {Folder: {count: 2, name: text 4}, Note: {count: 6, text: text 8, folder: cycle}}
    steps:
      - {fetch: Note, faults: no, as: notes}
      - {touch: notes, read: [folder.name]}
    variants:
      - name: plain
        then: [{set: notes, with: {text: new}}, {save: null}]
    exercise: {task: Do it., variant: plain, budget: {selects: at most Folder}}
    """

  private func read(_ text: String) throws -> Scenario {
    try ScenarioReader.read(
      text: text, url: PackagedScenarios.folder.appendingPathComponent("a.yml"), path: "a.yml")
  }

  /// A change of the lesson that's cheap enough but does less, and the expected sentence.
  @Test(
    arguments: [
      ("\n  - {touch: notes, read: [folder.name]}", "", "Folder.name: 2 of 2 values are missing"),
      (
        "[folder.name]", "[folder.name], limit: 1", "Folder.name: 1 of 2 values is missing"
      ),
      ("with: {text: new}", "with: {text: old}", "ZNOTE has different values at the end"),
      (
        "{save: null}]", "{insert: Note, with: {text: b}}, {save: null}]",
        "ZNOTE has 7 rows at the end, not 6"
      ),
      (
        "faults: no, as: notes", "faults: no, limit: 5, as: notes",
        "the result `notes`: 1 of 6 values is missing"
      ),
    ])
  func cheaperButDifferentWorkIsDetected(from: String, to: String, sentence: String) throws {
    let text = Self.lesson.replacing(from, with: to)
    try #require(text != Self.lesson)
    let check = try ExerciseCheck(of: read(text), against: read(Self.lesson))
    #expect(check.differences.contains(sentence), "\(check.differences)")
    #expect(!check.passes)
  }

  @Test func objectsAWalkReachesThroughARelationshipAreWork() throws {
    let steps = "steps:\n  - {fetch: Folder, as: folders}\n  - {walk: folders, through: [notes]}"
    let lesson = Self.lesson.replacing("steps:", with: steps)
      .replacing("\n  - {touch: notes, read: [folder.name]}", with: "")
    let same = try ExerciseCheck(of: read(lesson), against: read(lesson))
    #expect(same.differences.isEmpty)
    let less = lesson.replacing(", through: [notes]", with: "")
    let check = try ExerciseCheck(of: read(less), against: read(lesson))
    #expect(check.differences == ["Note: 6 of 6 values are missing"])
  }

  /// Reading an object does more than reaching it.
  @Test(arguments: [
    ("{touch: folders, read: [name, notes.text]}", []),
    ("{touch: folders, read: [notes]}", []),
    ("{walk: folders, through: [notes.folder]}", []),
    ("{touch: folders, read: [name]}", ["Note: 6 of 6 values are missing"]),
    (
      "{touch: folders, read: [notes.text], limit: 1}",
      ["Folder: 1 of 2 values is missing", "Note: 3 of 6 values are missing"]
    ),
  ])
  func objectsThatAreReadAreReached(step: String, differences: [String]) throws {
    let walk = "{walk: folders, through: [notes]}"
    let steps = "steps:\n  - {fetch: Folder, as: folders}\n  - \(walk)"
    let lesson = Self.lesson.replacing("steps:", with: steps)
      .replacing("\n  - {touch: notes, read: [folder.name]}", with: "")
    let text = lesson.replacing(walk, with: step)
    let check = try ExerciseCheck(of: read(text), against: read(lesson))
    #expect(check.differences == differences)
  }

  @Test func readingMoreIsTheSameWork() throws {
    let text = Self.lesson.replacing("[folder.name]", with: "[text, folder.name]")
      .replacing("faults: no", with: "faults: no, prefetch: [folder]")
    let check = try ExerciseCheck(of: read(text), against: read(Self.lesson))
    #expect(check.passes && check.differences.isEmpty)
    #expect(check.start.map(\.isMet) == [false])
  }

  /// Primary keys aren't compared, except those of the objects that others refer to.
  @Test(arguments: [
    ("text: a", []),
    ("text: a, folder: one", ["ZNOTE has different values at the end"]),
  ])
  func newObjectsAreComparedByTheKeysTheyReferTo(note: String, differences: [String]) throws {
    let one = "{insert: Folder, with: {name: first}, as: one}"
    let two = "{insert: Folder, with: {name: second}, as: two}"
    func lesson(_ folders: String) -> String {
      Self.lesson.replacing(
        "{save: null}]",
        with: "\(folders), {insert: Note, with: {\(note)}}, {save: null}, {drop: one}, {drop: two}]"
      )
    }
    let check = try ExerciseCheck(
      of: read(lesson("\(two), \(one)")), against: read(lesson("\(one), \(two)")))
    #expect(check.differences == differences)
  }

  @Test func missingExerciseAndMissingVariantAreErrors() throws {
    let lesson = try read(Self.lesson)
    var other = lesson
    other.exercise = nil
    #expect(throws: InvalidInputError.self) { try ExerciseCheck(of: lesson, against: other) }
    other.variants[0].name = "another"
    #expect(throws: InvalidInputError.self) { try ExerciseCheck(of: other, against: lesson) }
  }

  /// A value of `exercise`, and the column and the message of its problem.
  @Test(
    arguments: [
      ("{tsak: x}", 12, "an exercise has no key `tsak`"),
      ("{task: x, variant: plain}", 1, "the exercise has no `budget`"),
      ("{task: x, variant: plian, budget: {selects: 1}}", 30, "there's no variant `plian`"),
      ("{task: x, variant: plain, budget: {selcts: 1}}", 46, "unknown metric `selcts`"),
      (
        "{task: x, variant: plain, budget: {selects: Noet}}", 55,
        "`Noet` isn't an entity, so it has no row count"
      ),
    ])
  func problemsAreReportedAtTheirColumn(exercise: String, column: Int, message: String) throws {
    let head = Self.lesson.split(separator: "\n").dropLast().joined(separator: "\n")
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try read("\(head)\nexercise: \(exercise)")
    }
    #expect(
      error.diagnostics.contains {
        $0.line == 10 && $0.column == column && $0.problem.message == message
      }, "\(error)")
  }
}
