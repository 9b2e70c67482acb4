/// The contents of `Scenarios/README.md`, generated from the scenario files.
enum ScenarioIndexPage {
  static let path = "Scenarios/README.md"

  static func text(of scenarios: [ScenarioSummary]) -> String {
    let folders = scenarios.reduce(into: [String]()) { folders, scenario in
      if folders.last != scenario.folder { folders.append(scenario.folder) }
    }
    let parts = folders.map { folder in
      let rows = scenarios.filter { $0.folder == folder }.map { scenario in
        let file = scenario.path.dropFirst("Scenarios/".count)
        return "| [\(scenario.name)](\(file)) | \(scenario.question) |"
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

      <!-- Generated from the scenario files. Don't edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter ScenarioIndexTests -->

      Each file does the same work in several ways and states what each way costs. Read the story, guess,
      then run the file and compare:

      ```
      cdprof run Scenarios/06-fetching/ladder.yml --report html
      ```

      The expected counts are formulas that apply at every `--scale`, and each one has a source.
      [scenario-format.md](../Documentation/scenario-format.md) explains the terms. Change a line and run
      the file again. The folders have the chapter numbers of *Core Data* by Florian Kugler and Daniel
      Eggert (objc.io).

      \(parts.joined(separator: "\n\n"))

      """
  }

  /// Returns `Chapter 6: fetching` for the folder `06-fetching`.
  private static func heading(_ folder: String) -> String {
    guard let number = Int(folder.prefix(2)) else { return "Start here" }
    return "Chapter \(number): \(folder.dropFirst(3).replacing("-", with: " "))"
  }
}
