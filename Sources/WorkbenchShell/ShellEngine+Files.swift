import Foundation
import OpenCoreData
import ProfileEvents
import Profiling
import RunReports
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// Runs the lines of a file, until one fails.
  func source(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .source)
    try checkFile(word)
    let path = URL(fileURLWithPath: word.text).resolvingSymlinksInPath().path
    guard !sources.contains(path) else {
      throw LanguageProblem(
        "\(word.text) would read itself again", at: word.place,
        nextStep: "take the `source` out of the file")
    }
    sources.append(path)
    defer { sources.removeLast() }
    let data = try InputFile.read(path, limit: ShellEngine.longestSource)
    let text = String(decoding: data, as: UTF8.self)
    var answer = ShellAnswer()
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let one = self.answer(to: String(line), at: CallSite(file: word.text, line: index + 1))
      if !one.lines.isEmpty || one.failure != nil, mode == .table {
        answer.lines.append("> \(line)")
      }
      answer.lines += one.lines
      if let failure = one.failure {
        answer.failure = failure.at("\(word.text):\(index + 1)")
        return answer
      }
      if one.ends {
        answer.ends = sources.count == 1
        return answer
      }
    }
    return answer
  }

  /// In bytes.
  private static let longestSource = 16 << 20

  /// Writes the runs as a report.
  func report(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .report)
    // `.trace.json` ends with `.json` too: the longest ending is meant.
    let meant = ReportFormat.allCases.filter { $0.isMeant(by: word.text) }
    guard let format = meant.max(by: { $0.fileExtension.count < $1.fileExtension.count }) else {
      throw LanguageProblem(
        "unknown report format", at: word.place,
        nextStep: "write `\(ShellCommand.report.usage)`")
    }
    guard let desk, !(try triesSoFar()).isEmpty else {
      throw CommandFailure("nothing has run yet", nextStep: "run some steps, then report on them")
    }
    let path = try newFile(word)
    let tries = desk.tries + (desk.current.isEmpty ? [] : [try desk.finished()])
    let over = tries.compactMap { one in one.result.map { (one, $0) } }
    let result = desk.workspace.result(
      of: FixVerification.noting(in: over.map(\.1), steps: over.map(\.0.steps)))
    // `newFile(_:)` has checked what is there.
    let file = URL(fileURLWithPath: word.text)
    try OutputFile.write(try format.data(result), to: file, force: true)
    written.insert(path)
    return ShellAnswer(
      "  \(word.text): \(NumberText.counted(result.variants.count, "run"))")
  }

  /// Copies the store as it is to a new file.
  func saveStore(_ arguments: ShellArguments) throws -> ShellAnswer {
    let word = try arguments.file(for: .saveStore)
    let session = try openSession()
    let path = try newFile(word)
    let file = URL(fileURLWithPath: word.text)
    try OutputFile.copyStore(
      session.storeURL, to: file, marks: false, force: written.contains(path))
    written.insert(path)
    return ShellAnswer("  \(word.text): a copy of the store as it is saved in \(current.name)")
  }

  /// Refuses a file that doesn't exist.
  ///
  /// - Throws: a problem at the word.
  func checkFile(_ word: Word) throws(LanguageProblem) {
    do {
      try InputFile.check(word.text)
    } catch {
      throw LanguageProblem(error.message, at: word.place, nextStep: error.nextStep)
    }
  }

  /// The path of a file that is to be written.
  ///
  /// - Throws: a problem at the word when there is a file that this shell did not write.
  func newFile(_ word: Word) throws(LanguageProblem) -> String {
    let path = URL(fileURLWithPath: word.text).standardizedFileURL.path
    if let store = ShellOutput.store(besideWhich: path) {
      throw LanguageProblem(
        "SQLite would take \(word.text) for a part of \(store)", at: word.place,
        nextStep: "choose another name")
    }
    guard
      written.contains(path) || FileKind.mode(of: path, followingLinks: false) == nil
    else {
      throw LanguageProblem(
        "there is a file \(word.text) already", at: word.place,
        nextStep: "choose another name; a file that this shell wrote may be written again")
    }
    return path
  }
}

extension ReportFormat {
  /// Whether a file of this name has this form.
  fileprivate func isMeant(by path: String) -> Bool {
    let name = path.lowercased()
    return name.hasSuffix(".\(fileExtension)") || (self == .junit && name.hasSuffix(".xml"))
  }
}

extension ShellWorkspace {
  /// The runs as the variants of a result.
  fileprivate func result(of tries: [VariantResult]) -> RunResult {
    var seed: UInt64 = 0
    var chapter: Int?
    if case .scenario(let scenario) = subject {
      seed = scenario.data.seed
      chapter = scenario.chapter
    }
    return RunResult(
      scenario: baseName, file: path, chapter: chapter,
      story: "Typed in the shell on \(title).", seed: seed, scale: 1, data: counts,
      variants: tries, environment: .current,
      command: "cdprof shell \(LineWords.plain(path))")
  }
}
