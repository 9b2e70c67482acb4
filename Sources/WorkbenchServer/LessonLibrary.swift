import Foundation
import OpenCoreData
import RunReports
import RunResults
import ScenarioLanguage
import Synchronization
import WorkbenchText

/// The lessons and pages of a course, and the results of the lessons that ran.
final class LessonLibrary: Sendable {
  private struct Run {
    let text: String
    let result: RunResult
  }

  private let course: CourseFolder
  private let pages: [String: String]
  private let lessons: [String: CoursePages.Lesson]
  private let runs = Mutex<[String: Run]>([:])

  /// - Throws: An error of the template's parser, which a test rules out.
  init(_ course: CourseFolder) throws {
    self.course = course
    pages = Dictionary(
      try course.pages.otherPages().map { ($0.path, $0.html) },
      uniquingKeysWith: { first, _ in first })
    lessons = Dictionary(
      course.pages.lessons.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns a page without a result by its path, or `nil` if there's none.
  func page(at path: String) -> String? { pages[path] }

  /// Returns whether there's a lesson with a name.
  func contains(_ name: String) -> Bool { lessons[name] != nil }

  /// Returns the path of a lesson's scenario.
  ///
  /// - Throws: A `RequestError` if there's no such lesson.
  func path(of name: String) throws(RequestError) -> String {
    guard let scenario = course.scenarios[name] else {
      throw RequestError(.notFound, "There's no such lesson.")
    }
    return scenario.path
  }

  /// Reads the text of a lesson's scenario, which can have changed since the course was opened.
  ///
  /// - Throws: A `RequestError` if there's no such lesson; an `InvalidInputError`.
  func text(of name: String) throws -> String {
    let data = try InputFile.read(path(of: name), limit: InputLimits.requestBody)
    return String(decoding: data, as: UTF8.self)
  }

  /// Returns the result of a lesson's text if it has run.
  func result(of name: String, text: String) -> RunResult? {
    runs.withLock { $0[name].flatMap { $0.text == text ? $0.result : nil } }
  }

  /// Keeps the result of a lesson's text, instead of that of an earlier one.
  func keep(_ result: RunResult, of name: String, text: String) {
    runs.withLock { $0[name] = Run(text: text, result: result) }
  }

  /// Returns the page of a lesson whose text has run.
  ///
  /// - Throws: A `RequestError` if it hasn't; an error of the template's parser.
  func page(of name: String, text: String, isPlain: Bool) throws -> String {
    guard let lesson = lessons[name], let result = result(of: name, text: text) else {
      throw RequestError(.notFound, "There's no such lesson.")
    }
    return try isPlain
      ? CoursePages.plainPage(result) : course.pages.page(of: lesson, result, isLive: true)
  }
}
