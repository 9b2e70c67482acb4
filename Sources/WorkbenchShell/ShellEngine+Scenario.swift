import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// Writes the runs as a scenario whose expectations are the measured counts.
  ///
  /// The scenario is parsed and run before the file is written.
  ///
  /// **Cost:** that of running the scenario, with a copy of the data for each run.
  func saveScenario(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .saveScenario)
    let tries = try triesSoFar().filter { !$0.wasInterrupted }
    guard !tries.isEmpty, let workspace else {
      throw CommandFailure(
        "nothing has run that can be repeated", nextStep: "run some steps, then save them")
    }
    guard !workspace.wasChanged else {
      throw CommandFailure(
        "the store was changed in place, so its runs can't be repeated on the same data",
        nextStep: "open it with `write` instead of `in-place`")
    }
    let file = URL(fileURLWithPath: word.text)
    guard ["yml", "yaml"].contains(file.pathExtension.lowercased()) else {
      throw LanguageProblem(
        "the name of a scenario file must end in .yml", at: word.place,
        nextStep: "write `save scenario \(word.text).yml`")
    }
    let path = try newFile(word)
    var draft = workspace.draft(
      named: file.deletingPathExtension().lastPathComponent, of: tries)
    let folder = file.deletingLastPathComponent()
    let scenario = try ScenarioReader.read(text: draft.yaml(in: folder), url: file, path: word.text)
    try addFindings(ofRunning: scenario, to: &draft)
    let text = draft.yaml(in: folder)
    try OutputFile.write(Data(text.utf8), to: file, force: true)
    written.insert(path)
    return ShellAnswer(
      "  \(word.text): \(NumberText.counted(draft.tries.count, "variant")), "
        + "\(NumberText.counted(draft.expectationCount, "expectation")) as measured. "
        + "Next: cdprof run \(LineWords.plain(word.text)) --report html")
  }

  /// Sets the expected findings of each run to those that fire when the scenario runs.
  ///
  /// Some rules evaluate a complete run or test indexes, which the shell doesn't do after each
  /// step.
  private func addFindings(ofRunning scenario: Scenario, to draft: inout ScenarioDraft) throws {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let result = try ScenarioRunner(scenario: scenario, outputDirectory: folder).run()
    for (index, variant) in result.variants.enumerated() where index < draft.tries.count {
      draft.tries[index].findings = variant.findings.map(\.name).reduce(into: []) {
        if !$0.contains($1) { $0.append($1) }
      }
    }
  }
}

extension ShellWorkspace {
  /// Returns a scenario of the runs on the same data.
  fileprivate func draft(named name: String, of tries: [ShellRun]) -> ScenarioDraft {
    let saved = tries.map { one in
      RecordedRun(
        steps: one.steps, counters: one.costs.counters,
        findings: one.findings.map(\.name).reduce(into: []) {
          if !$0.contains($1) { $0.append($1) }
        })
    }
    switch subject {
    case .store(let url):
      return ScenarioDraft(
        name: name, modelURL: nil, data: DataPlan(source: .copied(url)), tries: saved)
    case .scenario(let scenario):
      return ScenarioDraft(
        name: name, chapter: scenario.chapter, modelURL: scenario.modelURL, data: scenario.data,
        tries: saved)
    }
  }
}
