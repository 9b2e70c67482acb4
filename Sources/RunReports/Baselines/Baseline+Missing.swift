extension Baseline {
  /// Returns the names of the scenarios that no longer exist, sorted: their file is missing, or its
  /// scenario has another name now.
  ///
  /// - Parameters:
  ///   - names: The names of the scenarios that were read, by their paths relative to the folder of
  ///     the baseline.
  ///   - isWhole: Whether they're all scenarios of a folder. Then a scenario whose file isn't
  ///     known, as in baselines of earlier versions, doesn't exist unless it was read.
  ///   - exists: A closure that returns whether there's a file at a path.
  package func missingScenarios(
    besides names: [String: String], isWhole: Bool, exists: (String) -> Bool
  ) -> [String] {
    let current = Set(names.values)
    var files: [String: String?] = [:]
    for (key, run) in runs where !current.contains(key.scenario) {
      files[key.scenario] = .some(run.file ?? files[key.scenario] ?? nil)
    }
    return files.filter { _, file in
      file.map { names[$0] != nil || !exists($0) } ?? isWhole
    }.keys.sorted()
  }

  /// Removes the counts and times of scenarios, on all engines.
  package mutating func removeScenarios(_ scenarios: [String]) {
    let removed = Set(scenarios)
    runs = runs.filter { !removed.contains($0.key.scenario) }
  }
}
