import OpenCoreData

extension ShellEngine {
  /// Writes the tries as a scenario whose expectations are what was measured.
  ///
  /// The text is read back and checked before the file is written.
  func saveScenario(_ arguments: ShellArguments) throws -> ShellAnswer {
    guard let word = arguments.words.first else {
      throw ShellFailure("no file is named", nextStep: "write `\(ShellCommand.saveScenario.usage)`")
    }
    let tries = try triesSoFar()
    guard !tries.isEmpty, let workspace else {
      throw ShellFailure("nothing has run yet", nextStep: "run some steps, then save them")
    }
    let file = URL(fileURLWithPath: word.text)
    guard ["yml", "yaml"].contains(file.pathExtension.lowercased()) else {
      throw LanguageProblem(
        "a scenario's file ends in .yml", at: word.place,
        nextStep: "write `save scenario \(word.text).yml`")
    }
    let path = file.standardizedFileURL.path
    guard written.contains(path) || !FileManager.default.fileExists(atPath: path) else {
      throw LanguageProblem(
        "there is a file \(word.text) already", at: word.place,
        nextStep: "choose another name; a file that this shell wrote may be written again")
    }
    let text = TriesScenario(workspace: workspace, tries: tries, file: file)
    let scenario = try ScenarioReader.read(text: text.yaml, url: file, path: word.text)
    try Data(text.yaml.utf8).write(to: file, options: .atomic)
    written.insert(path)
    let expectations = scenario.variants.reduce(0) { sum, variant in
      sum + variant.expect.expectations.count + (variant.expect.findings == nil ? 0 : 1)
    }
    return ShellAnswer(
      "  \(word.text): \(NumberText.counted(scenario.variants.count, "variant")), "
        + "\(NumberText.counted(expectations, "expectation")) as measured. "
        + "Next: cdprof run \(LineWords.plain(word.text)) --report html")
  }
}
