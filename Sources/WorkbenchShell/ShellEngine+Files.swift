import Foundation
import OpenCoreData
import ProfileEvents
import Profiling
import RunReports
import RunResults
import ScenarioFiles
import ScenarioLanguage
package import WorkbenchText

extension ShellEngine {
  /// Runs the lines of a file until one fails.
  func source(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .source)
    try checkFile(word)
    let path = URL(fileURLWithPath: word.text).resolvingSymlinksInPath().path
    guard !sources.contains(path) else {
      throw LanguageProblem(
        "\(word.text) runs itself", at: word.range,
        nextStep: "remove the `source` line from the file")
    }
    return try runLines(of: path, called: word.text)
  }

  /// Runs the lines of the user's start file, of which only errors are printed.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The failure of the first line that fails, or of reading the file; `nil` otherwise.
  package func begin(with path: String) -> CommandFailure? {
    do {
      try InputFile.check(path)
      return try runLines(of: path, called: path).failure
    } catch {
      return CommandFailure(error, in: path)
    }
  }

  /// - Parameters:
  ///   - path: The resolved path of the file.
  ///   - name: The path as typed, for errors and call sites.
  private func runLines(of path: String, called name: String) throws -> ShellAnswer {
    sources.append(path)
    defer { sources.removeLast() }
    let data = try InputFile.read(path, limit: InputLimits.sourceSize)
    let text = String(decoding: data.dropFirst(ByteOrderMark.length(in: data)), as: UTF8.self)
    var answer = ShellAnswer()
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let one = self.answer(to: String(line), at: CallSite(file: name, line: index + 1))
      if !one.lines.isEmpty || one.failure != nil, mode == .table {
        answer.lines.append("> \(line)")
      }
      answer.lines += one.lines
      if let failure = one.failure {
        answer.failure = failure.at("\(name):\(index + 1)")
        return answer
      }
      if one.ends {
        answer.ends = sources.count == 1
        return answer
      }
    }
    answer.failure = endOfLines()?.at("\(name)")
    return answer
  }

  /// Writes the runs as a report.
  func report(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .report)
    // `.trace.json` and `.otlp.json` also end with `.json`; the longest matching extension applies.
    let meant = ReportFormat.allCases.filter { $0.isMeant(by: word.text) }
    guard let format = meant.max(by: { $0.fileExtension.count < $1.fileExtension.count }) else {
      throw LanguageProblem(
        "unknown report format", at: word.range,
        nextStep: "write `\(ShellCommand.report.usage)`")
    }
    guard let target, !(try runsSoFar()).isEmpty else {
      throw CommandFailure("nothing has run yet", nextStep: "run some steps, then write the report")
    }
    let path = try newFile(word)
    let runs = target.runs + (target.current.isEmpty ? [] : [try target.finished()])
    let over = runs.compactMap { one in one.result.map { (one, $0) } }
    let result = target.workspace.result(
      of: FixVerification.noting(in: over.map(\.1), steps: over.map(\.0.steps)))
    // `newFile(_:)` has checked that the file can be replaced.
    let file = URL(fileURLWithPath: word.text)
    try OutputFile.write(try format.data(result), to: file, force: true)
    written.insert(path)
    return ShellAnswer(
      "  \(word.text): \(NumberText.counted(result.variants.count, "run"))")
  }

  /// Copies the store in its current state to a new file.
  func saveStore(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .saveStore)
    let session = try openSession()
    let path = try newFile(word)
    let file = URL(fileURLWithPath: word.text)
    try OutputFile.copyStore(
      session.storeURL, to: file, marks: false, force: written.contains(path))
    written.insert(path)
    return ShellAnswer("  \(word.text): a copy of the store as saved in \(current.name)")
  }

  /// Checks that a file can be read.
  ///
  /// - Throws: A problem at the word if it can't.
  func checkFile(_ word: Word) throws(LanguageProblem) {
    do {
      try InputFile.check(word.text)
    } catch {
      throw LanguageProblem(error.message, at: word.range, nextStep: error.nextStep)
    }
  }

  /// Returns the path of a file to write.
  ///
  /// - Throws: A problem at the word if the file exists and this shell didn't write it, if it's
  ///   open, or if SQLite would treat it as part of a database.
  func newFile(_ word: Word) throws(LanguageProblem) -> String {
    let path = URL(fileURLWithPath: word.text).standardizedFileURL.path
    if let store = ShellOutput.store(nextTo: word.text) {
      throw LanguageProblem(
        "SQLite would treat \(word.text) as part of \(store)", at: word.range,
        nextStep: "choose another name")
    }
    guard
      written.contains(path) || FileKind.mode(of: path, followingLinks: false) == nil
    else {
      throw LanguageProblem(
        "\(word.text) already exists", at: word.range,
        nextStep: "choose another name; only a file that this shell wrote can be replaced")
    }
    // Its sessions would save to the file that was replaced.
    if let open = targets.first(where: { $0.workspace.uses(path) }) {
      throw LanguageProblem(
        "\(word.text) is open as `\(open.name)`", at: word.range,
        nextStep: "choose another name, or `close \(open.name)` first")
    }
    return path
  }
}

extension ReportFormat {
  /// Returns whether a file's name has the extension of this format.
  fileprivate func isMeant(by path: String) -> Bool {
    let name = path.lowercased()
    return name.hasSuffix(".\(fileExtension)") || (self == .junit && name.hasSuffix(".xml"))
  }
}

extension ShellWorkspace {
  /// Returns a result with the runs as variants.
  fileprivate func result(of runs: [VariantResult]) -> RunResult {
    var seed: UInt64 = 0
    var chapter: Int?
    if case .scenario(let scenario) = subject {
      seed = scenario.data.seed
      chapter = scenario.chapter
    }
    return RunResult(
      scenario: baseName, file: path, chapter: chapter,
      story: "Run in the shell on \(title).", seed: seed, scale: 1, data: counts,
      variants: runs, environment: .current,
      command: "cdprof shell \(CommandWord.quoted(path))")
  }
}

extension ShellEngine {
  /// Writes the runs as a scenario whose expectations are the measured counts.
  ///
  /// The scenario is parsed and run before the file is written.
  ///
  /// **Cost:** that of running the scenario, with a copy of the data for each run.
  func saveScenario(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .saveScenario)
    let runs = try runsSoFar().filter { !$0.wasInterrupted }
    guard !runs.isEmpty, let workspace else {
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
        "the name of a scenario file must end in .yml", at: word.range,
        nextStep: "write `save scenario \(word.text).yml`")
    }
    let path = try newFile(word)
    var draft = workspace.draft(
      named: file.deletingPathExtension().lastPathComponent, of: runs)
    let folder = file.deletingLastPathComponent()
    let scenario = try ScenarioReader.read(text: draft.yaml(in: folder), url: file, path: word.text)
    try addFindings(ofRunning: scenario, to: &draft)
    let text = draft.yaml(in: folder)
    try OutputFile.write(Data(text.utf8), to: file, force: true)
    written.insert(path)
    return ShellAnswer(
      "  \(word.text): \(NumberText.counted(draft.runs.count, "variant")), "
        + "\(NumberText.counted(draft.expectationCount, "expectation")) as measured. "
        + "Next: cdprof run \(CommandWord.quoted(word.text)) --report html")
  }

  /// Sets the expected findings of each run to those that fire when the scenario runs.
  ///
  /// Some rules evaluate a complete run or test indexes, which the shell doesn't do after each
  /// step.
  private func addFindings(ofRunning scenario: Scenario, to draft: inout ScenarioDraft) throws {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let result = try ScenarioRunner(scenario: scenario, outputDirectory: folder).run()
    for (index, variant) in result.variants.enumerated() where index < draft.runs.count {
      draft.runs[index].findings = variant.findings.map(\.name).reduce(into: []) {
        if !$0.contains($1) { $0.append($1) }
      }
    }
  }
}

extension ShellWorkspace {
  /// Returns a scenario of the runs on the same data.
  fileprivate func draft(named name: String, of runs: [ShellRun]) -> ScenarioDraft {
    let saved = runs.map { one in
      RecordedRun(
        steps: one.steps, counters: one.costs.counters,
        findings: one.findings.map(\.name).reduce(into: []) {
          if !$0.contains($1) { $0.append($1) }
        })
    }
    switch subject {
    case .store(let url):
      return ScenarioDraft(
        name: name, modelURL: nil, data: DataPlan(source: .copied(url)), runs: saved)
    case .scenario(let scenario):
      return ScenarioDraft(
        name: name, chapter: scenario.chapter, modelURL: scenario.modelURL, data: scenario.data,
        runs: saved)
    }
  }
}
