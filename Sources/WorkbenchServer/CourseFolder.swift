import Foundation
package import RunReports
import ScenarioFiles
package import ScenarioLanguage
import WorkbenchText

/// A folder of scenarios as a course: its lessons with their scenarios, and its pages.
package struct CourseFolder: Sendable {
  /// The pages, with the lessons in order.
  package let pages: CoursePages
  /// The scenarios by the names of their lessons.
  package let scenarios: [String: Scenario]

  /// Reads all scenarios and texts of a folder; nothing runs.
  ///
  /// - Throws: An `InvalidInputError` if a file is missing or can't be read, if there are no
  ///   scenarios, or if a scenario has the name of another one or of another page of the course;
  ///   `ScenarioDiagnostics` if a scenario is invalid.
  package init(_ folder: String) throws {
    let found = try ScenarioFinder.files(at: folder)
    var scenarios: [String: Scenario] = [:]
    for file in found {
      if let other = scenarios[file.name] {
        throw InvalidInputError(
          kind: .unusable,
          message: "\(other.path) and \(file.path) would both be \(file.name).html",
          nextStep: "rename one of them")
      }
      scenarios[file.name] = try ScenarioReader.read(
        URL(fileURLWithPath: file.path), path: file.path)
    }
    let lessons = found.compactMap { file in
      scenarios[file.name].map {
        CoursePages.Lesson(name: file.name, title: $0.name, chapter: $0.chapter, story: $0.story)
      }
    }
    self.scenarios = scenarios
    pages = CoursePages(
      title: URL(fileURLWithPath: folder).standardizedFileURL.lastPathComponent,
      lessons: lessons, text: try CourseText(folder: folder))
    if let lesson = pages.conflictingLesson, let scenario = scenarios[lesson.name] {
      throw InvalidInputError(
        kind: .unusable,
        message:
          "\(scenario.path) would be \(lesson.name).html, which is another page of the course",
        nextStep: "rename the scenario")
    }
  }
}
