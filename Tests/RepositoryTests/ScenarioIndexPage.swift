/// `Scenarios/README.md`, written from the scenario files.
enum LessonsPage {
  static let path = "Scenarios/README.md"

  static func text(of lessons: [Lesson]) -> String {
    let folders = lessons.reduce(into: [String]()) { folders, lesson in
      if folders.last != lesson.folder { folders.append(lesson.folder) }
    }
    let parts = folders.map { folder in
      let rows = lessons.filter { $0.folder == folder }.map { lesson in
        let file = lesson.path.dropFirst("Scenarios/".count)
        return "| [\(lesson.name)](\(file)) | \(lesson.question) |"
      }
      return """
        ## \(heading(folder))

        | lesson | guess first |
        | --- | --- |
        \(rows.joined(separator: "\n"))
        """
    }
    return """
      # Lessons

      <!-- Written from the scenario files. Do not edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter LessonsTests -->

      Each file is a lesson: the same work done in several ways, and what each way must cost. Read the
      story, guess, then run it and look at the table:

      ```
      cdprof run Scenarios/06-fetching/ladder.yml --report html
      ```

      The numbers are laws: they hold at every `--scale`, and each says how sure one may be of it.
      [scenario-format.md](../Documentation/scenario-format.md) explains the words. Change a line and run
      it again. The folders carry the numbers of the book's chapters.

      \(parts.joined(separator: "\n\n"))

      """
  }

  /// `06-fetching` is `Chapter 6: fetching`.
  private static func heading(_ folder: String) -> String {
    guard let number = Int(folder.prefix(2)) else { return "Begin here" }
    return "Chapter \(number): \(folder.dropFirst(3).replacing("-", with: " "))"
  }
}
