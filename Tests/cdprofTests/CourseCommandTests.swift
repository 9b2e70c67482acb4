import Foundation
import Testing

@Suite("cdprof check and cdprof course")
struct CourseCommandTests {
  private let program = try? BuiltProgram()

  private static let lesson = """
    name: Notes
    model: Notes
    data: {Folder: {count: 3, name: text 4}, Note: {count: 6, text: text 8, folder: cycle}}
    steps: [{fetch: Note, faults: no, as: notes}, {touch: notes, read: [folder.name]}]
    variants: [{name: plain, expect: {selects: 1 + Folder}}]
    predict: {question: How many?, count: plain.selects}
    exercise: {task: Do it., variant: plain, budget: {selects: at most 2}}
    """

  private func write() throws -> BuiltProgram {
    let program = try #require(program)
    try FileManager.default.createDirectory(
      at: program.folder.file("Scenarios"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: PackageFiles.scenario("Models"), toPath: program.folder.file("Scenarios/Models").path)
    let lesson = Self.lesson
    _ = try program.folder.write(lesson, to: "Scenarios/notes.yml")
    _ = try program.folder.write(
      lesson.replacing("faults: no", with: "prefetch: [folder], faults: no"),
      to: "Scenarios/mine.yml")
    return program
  }

  @Test func checkFindsTheLessonAndReportsLinesOfTheFile() throws {
    let program = try write()
    let solved = try program.run(["check", "Scenarios/mine.yml"])
    #expect(solved.status == 0, "\(solved.output)\(solved.errors)")
    #expect(solved.output.contains("✓ selects: 2, budget at most 2 (4 in the lesson)"))
    let start = try program.run(["check", "Scenarios/notes.yml", "--lesson", "Scenarios/notes.yml"])
    #expect(start.status == 3 && start.output.contains("notes.yml:4"), "\(start.output)")
    let json = try program.run(["check", "Scenarios/mine.yml", "--json"])
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(json.status == 0 && object?["passes"] as? Bool == true)
    #expect(try program.run(["check", "missing.yml"]).status == 66)
    _ = try program.folder.write(
      Self.lesson.split(separator: "\n").dropLast().joined(separator: "\n")
        .replacing("name: Notes", with: "name: Other"), to: "Scenarios/none.yml")
    let none = try program.run(["check", "Scenarios/none.yml"])
    #expect(none.status == 65 && none.errors.contains("has no exercise"), "\(none.errors)")
  }

  @Test("A lesson elsewhere is next to its solution; an only scenario is its own lesson")
  func lessonElsewhereIsNextToItsSolution() throws {
    let program = try write()
    try FileManager.default.moveItem(
      at: program.folder.file("Scenarios"), to: program.folder.file("Elsewhere"))
    #expect(try program.run(["list"]).status == 66)
    let solved = try program.run(["check", "Elsewhere/mine.yml"])
    #expect(solved.status == 0 && solved.output.contains("(4 in the lesson)"), "\(solved.output)")
    let less = Self.lesson.replacing("faults: no", with: "limit: 1, faults: no")
    _ = try program.folder.write(less, to: "Elsewhere/less.yml")
    let several = try program.run(["check", "Elsewhere/less.yml"])
    #expect(several.status == 65 && several.errors.contains("mine.yml, notes.yml"))
    try FileManager.default.removeItem(at: program.folder.file("Elsewhere/mine.yml"))
    let cheating = try program.run(["check", "Elsewhere/less.yml"])
    #expect(cheating.status == 3 && cheating.output.contains("the work isn't the same"))
    try FileManager.default.removeItem(at: program.folder.file("Elsewhere/less.yml"))
    let check = try program.run(["check", "Elsewhere/notes.yml"])
    #expect(check.status == 3 && check.output.contains("notes.yml:4"), "\(check.errors)")
  }

  /// The lesson has a line about its findings, which the solution doesn't have.
  @Test func linesOfTheBudgetAreComparedWithTheirOwn() throws {
    let program = try write()
    let steps = """
      name: Storm
      model: Notes
      data: {Folder: {count: 12, name: text 4}}
      steps:
        - {fetch: Folder, values: no, as: all}
        - {touch: all, read: [name]}
        - {sql: "SELECT nope", fails: 1}
      variants: [{name: slow}]
      exercise: {task: Do it., variant: slow, budget: {selects: at most 2}}
      """
    _ = try program.folder.write(steps, to: "Scenarios/storm.yml")
    _ = try program.folder.write(
      steps.replacing("values: no", with: "values: yes"), to: "Scenarios/fast.yml")
    let solved = try program.run(
      ["check", "Scenarios/fast.yml", "--lesson", "Scenarios/storm.yml"])
    #expect(solved.status == 0, "\(solved.output)\(solved.errors)")
    #expect(
      solved.output.hasSuffix(
        "  ✓ selects: 1, budget at most 2 (13 in the lesson)\n  ✓ fails: 1, budget 1\n"))
  }

  @Test func courseIsWrittenFromARunAndFromItsResults() throws {
    let program = try write()
    try FileManager.default.removeItem(at: program.folder.file("Scenarios/mine.yml"))
    _ = try program.folder.write("# Notes\n\n- notes\n", to: "Scenarios/course.md")
    let run = try program.run(["course", "Scenarios", "--out", "site"])
    #expect(run.status == 0 && run.output == "written: site/index.html\n", "\(run.errors)")
    for page in ["index", "notes", "glossary"] {
      #expect(FileManager.default.fileExists(atPath: program.folder.file("site/\(page).html").path))
    }
    let missing = try program.run(["course", "Scenarios", "--out", "site", "--results", "none"])
    #expect(missing.status == 66)
    #expect(try program.run(["run", "Scenarios", "--report", "json", "--out", "r"]).status == 0)
    let again = try program.run(["course", "Scenarios", "--out", "site", "--results", "r"])
    #expect(again.status == 0, "\(again.errors)")
    _ = try program.folder.write("mine", to: "other/index.html")
    #expect(
      try program.run(["course", "Scenarios", "--out", "other", "--results", "r"]).status == 65)
    // Nothing was written before.
    let files = try FileManager.default.contentsOfDirectory(
      atPath: program.folder.file("other").path)
    #expect(files == ["index.html"])
  }

  @Test(
    "A scenario whose page would replace another page of the course is an error",
    arguments: ["index", "glossary", "06-a/chapter"])
  func scenariosDoNotReplaceOtherPages(name: String) throws {
    let program = try write()
    _ = try program.folder.write("# Chapter 6\n", to: "Scenarios/06-a/chapter.md")
    _ = try program.folder.write(Self.lesson, to: "Scenarios/\(name).yml")
    let course = try program.run(["course", "Scenarios", "--out", "site"])
    #expect(course.status == 65 && course.output.isEmpty)
    let message = "Scenarios/\(name).yml would be \(name).html"
    #expect(course.errors.contains(message), "\(course.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("site").path))
  }

  @Test("Two scenarios that would have the same page are an error")
  func scenariosHaveTheirOwnPages() throws {
    let program = try write()
    _ = try program.folder.write(Self.lesson, to: "Scenarios/notes.yaml")
    let course = try program.run(["course", "Scenarios", "--out", "site"])
    #expect(course.status == 65)
    let message = "Scenarios/notes.yaml and Scenarios/notes.yml would both be notes.html"
    #expect(course.errors.contains(message), "\(course.errors)")
  }
}
