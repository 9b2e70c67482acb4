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

        | scenario | guess first |
        | --- | --- |
        \(rows.joined(separator: "\n"))
        """
    }
    return """
      # Scenarios

      <!-- Written from the scenario files. Do not edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter LessonsTests -->

      Each scenario does the same work in several variants and states what each variant must cost.
      Read the story, guess, then run the scenario and compare your guess with the table:

      ```
      cdprof run Scenarios/06-fetching/ladder.yml --report html
      ```

      The expected counts are formulas, so they're met at every `--scale`, and each one has a
      source. [scenario-format.md](../Documentation/scenario-format.md) describes the keys. Change a
      line and run the scenario again. The folders are numbered by the chapters of *Core Data* by
      Florian Kugler and Daniel Eggert (objc.io).

      \(parts.joined(separator: "\n\n"))

      """
  }

  /// `06-fetching` is `Chapter 6: fetching`.
  private static func heading(_ folder: String) -> String {
    guard let number = Int(folder.prefix(2)) else { return "Start here" }
    return "Chapter \(number): \(folder.dropFirst(3).replacing("-", with: " "))"
  }
}
