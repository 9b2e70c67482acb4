import CEmbeddedFiles
import Foundation
import ManagedModel
package import RunResults
import WorkbenchText

/// The pages of a course, which refer to each other by relative URLs and load nothing else.
package struct CoursePages: Sendable {
  /// A lesson: the path of its page without an extension, its title, and its chapter.
  package struct Lesson: Sendable {
    package var name: String
    package var title: String
    package var chapter: Int?
    package var story: String

    package init(name: String, title: String, chapter: Int?, story: String) {
      self.name = name
      self.title = title
      self.chapter = chapter
      self.story = story
    }

    /// The folder of the lesson, empty for the topmost one.
    var folder: String { name.lastIndex(of: "/").map { String(name[..<$0]) } ?? "" }
  }

  /// A page of a course without a result.
  struct Page {
    let version = ToolVersion.current
    var title: String
    var contents: String?
    var chapters: [CourseNavigation.Link] = []
    var sections: [Section]
    var blocks: [CourseText.Block] = []
    var definitions: [Definition] = []
    var hasSearch = false
  }

  struct Section {
    var heading: String
    var link: String?
    var lessons: [Line]
  }

  struct Line {
    var title: String
    var link: String
    var key: String
    var chapter: Int?
    /// The text that the search looks in.
    var text: String
  }

  struct Definition {
    var id: String
    var name: String
    var definition: String
  }

  private let title: String
  private let text: CourseText
  /// The lessons in the order of the course: the main path, then the others by path.
  package let lessons: [Lesson]
  private let mainCount: Int

  /// - Parameters:
  ///   - title: The title of the course, unless its texts have one.
  ///   - lessons: The lessons, sorted by path.
  ///   - text: The texts of the course.
  package init(title: String, lessons: [Lesson], text: CourseText) {
    self.title = text.title ?? title
    self.text = text
    var names: Set<String> = []
    let main = text.path.compactMap { name in
      lessons.first { $0.name == name && names.insert(name).inserted }
    }
    mainCount = main.count
    self.lessons = main + lessons.filter { !names.contains($0.name) }
  }

  /// The first lesson whose page would replace the contents, the glossary, or the page of a
  /// chapter; `nil` if there's none.
  package var conflictingLesson: Lesson? {
    let taken = Set(["index", "glossary"] + text.chapters.keys.map { "\($0)/chapter" })
    return lessons.first { taken.contains($0.name) }
  }

  /// Returns the page of a lesson.
  ///
  /// - Parameters:
  ///   - lesson: The lesson.
  ///   - result: The result of its run.
  ///   - isLive: Whether a server sends the page, which can then change and run the scenario.
  /// - Throws: An error of the template's parser, which a test rules out.
  package func page(
    of lesson: Lesson, _ result: RunResult, isLive: Bool = false
  ) throws -> String {
    let index = lessons.firstIndex { $0.name == lesson.name } ?? 0
    let up = CoursePages.up(from: lesson.name)
    let link = { (other: Lesson) in
      CourseNavigation.Link(title: other.title, link: up + CoursePages.url(other.name))
    }
    let navigation = CourseNavigation(
      lesson: lesson.name, contents: "\(up)index.html",
      position: "lesson \(index + 1) of \(lessons.count)",
      previous: index > 0 ? link(lessons[index - 1]) : nil,
      next: index + 1 < lessons.count ? link(lessons[index + 1]) : nil)
    let url = up + CoursePages.url(lesson.name)
    return try HTMLReport.page(
      result, in: navigation,
      linking: TermLinks(text.terms.map(\.name), glossary: "\(up)glossary.html"),
      live: isLive
        ? LiveLesson(
          name: lesson.name, root: up, plain: "\(url)?\(CoursePages.plain)",
          text: String(url.dropLast(4)) + "yml") : nil)
  }

  /// The query of the URL of a lesson's page without questions and without links to other pages.
  package static let plain = "plain"

  /// Returns the page of a result without questions and without links to other pages.
  ///
  /// - Throws: An error of the template's parser, which a test rules out.
  package static func plainPage(_ result: RunResult) throws -> String {
    var result = result
    result.predictions = []
    return try HTMLReport.page(result)
  }

  /// Returns the other pages by their paths: the contents, the chapters, and the glossary.
  ///
  /// - Throws: An error of the template's parser, which a test rules out.
  package func otherPages() throws -> [(path: String, html: String)] {
    let further = Dictionary(grouping: lessons.dropFirst(mainCount), by: \.folder)
    let folders = Array(Set(lessons.map(\.folder))).filter { !$0.isEmpty }.sorted()
    var pages: [(path: String, html: String)] = []
    var sections: [Section] = []
    var chapters: [CourseNavigation.Link] = []
    if mainCount > 0 {
      let main = lessons.prefix(mainCount).map { line($0, up: "./") }
      sections.append(Section(heading: "The main path", link: nil, lessons: main))
    }
    for folder in [""] + folders {
      let own = (further[folder] ?? []).map { line($0, up: "./") }
      let chapter = text.chapters[folder]
      guard !own.isEmpty || chapter != nil else { continue }
      sections.append(
        Section(
          heading: (mainCount > 0 ? "Further lessons: " : "")
            + (chapter?.title ?? (folder.isEmpty ? title : folder)),
          link: chapter == nil ? nil : "./" + CoursePages.url("\(folder)/chapter"), lessons: own))
      if let chapter {
        let path = "\(folder)/chapter"
        chapters.append(
          CourseNavigation.Link(title: chapter.title, link: "./" + CoursePages.url(path)))
        let up = CoursePages.up(from: path)
        let all = lessons.filter { $0.folder == folder }.map { line($0, up: up) }
        let page = Page(
          title: chapter.title, contents: "\(up)index.html",
          sections: [Section(heading: "Lessons", link: nil, lessons: all)],
          blocks: chapter.blocks)
        pages.append(("\(path).html", try CoursePages.render(page)))
      }
    }
    let contents = Page(
      title: title, contents: nil, chapters: chapters, sections: sections,
      blocks: text.introduction, hasSearch: true)
    pages.append(("index.html", try CoursePages.render(contents)))
    let definitions = text.terms.sorted { $0.name.lowercased() < $1.name.lowercased() }
      .map { Definition(id: TermLinks.id(of: $0.name), name: $0.name, definition: $0.definition) }
    pages.append(
      (
        "glossary.html",
        try CoursePages.render(
          Page(
            title: "Glossary", contents: "./index.html", sections: [], definitions: definitions))
      ))
    return pages
  }

  private static func render(_ page: Page) throws -> String {
    try PageTemplate.render(String(cString: embedded_course_html()), page)
  }

  private func line(_ lesson: Lesson, up: String) -> Line {
    Line(
      title: lesson.title, link: up + CoursePages.url(lesson.name),
      key: lesson.name, chapter: lesson.chapter,
      text: "\(lesson.title) \(lesson.story)".joiningLines.lowercased())
  }

  private static func up(from name: String) -> String {
    let depth = name.count { $0 == "/" }
    return depth == 0 ? "./" : String(repeating: "../", count: depth)
  }

  private static func url(_ name: String) -> String {
    RunIndex.url("\(name).html")
  }
}
