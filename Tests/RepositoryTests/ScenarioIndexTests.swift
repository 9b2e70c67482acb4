import Foundation
import Testing

@Suite("Lessons are listed and begin with a question")
struct LessonsTests {
  @Test func lessonIndexIsGenerated() throws {
    let text = LessonsPage.text(of: try Lesson.all())
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      let file = Repository.root.appending(path: LessonsPage.path)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let page = try Repository.text(of: LessonsPage.path)
    #expect(page == text, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test func everyLessonAsksTheReaderToGuess() throws {
    for lesson in try Lesson.all() {
      #expect(!lesson.name.isEmpty && !lesson.question.isEmpty, "\(lesson.path)")
      #expect(!lesson.question.contains("|"), "\(lesson.path)")
    }
  }

  /// The folder's number is the chapter's, and no two files would write the same report.
  @Test func everyLessonIsInTheFolderOfItsChapter() throws {
    let lessons = try Lesson.all()
    for lesson in lessons where !lesson.folder.isEmpty {
      #expect(lesson.chapter == Int(lesson.folder.prefix(2)), "\(lesson.path)")
    }
    let names = lessons.map { ($0.path as NSString).lastPathComponent }
    #expect(Set(names).count == names.count)
  }
}
