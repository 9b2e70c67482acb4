import Foundation
import OpenCoreData
import RunReports
import RunResults
import WorkbenchText

/// A run of a scenario's text in a process of its own.
struct ScenarioRun: Sendable {
  /// The result of a run, which can have failed.
  struct Outcome: Sendable {
    /// The result, or `nil` if there's none.
    var result: RunResult?
    /// What happened, in a few words.
    var state: String
    /// The messages of the run, such as errors with their lines; empty if there are none.
    var messages: String
  }

  /// The path of the scenario's file, from which relative paths start, and which messages name.
  let path: String
  /// The text to run instead of the file's.
  let text: String
  /// An empty folder for the files of the run.
  let folder: URL

  /// Runs the scenario, and waits until it has ended.
  ///
  /// - Throws: An error of the file system.
  func outcome() throws -> Outcome {
    let input = folder.appendingPathComponent("text.yml")
    let errors = folder.appendingPathComponent("errors.txt")
    let out = folder.appendingPathComponent("out", isDirectory: true)
    let temporary = folder.appendingPathComponent("tmp", isDirectory: true)
    for one in [out, temporary] {
      try FileManager.default.createDirectory(at: one, withIntermediateDirectories: true)
    }
    try OutputFile.write(Data(text.utf8), to: input, force: true)
    try Data().write(to: errors)
    let end = try process(input: input, errors: errors, out: out, temporary: temporary)
      .wait(seconds: InputLimits.browserRunTime)
    let messages = Self.text(of: errors)
    guard let end else {
      return Outcome(
        state: "Stopped: the limit is \(InputLimits.browserRunTime) seconds.",
        messages: messages)
    }
    switch end {
    case .exited(0), .exited(2):
      let name = (path as NSString).lastPathComponent as NSString
      let file = out.appendingPathComponent("\(name.deletingPathExtension).json")
      let result = try ResultFile.read(at: file.path)
      return Outcome(
        result: result, state: (result.passes ? "✓ " : "✗ ") + result.summary, messages: messages)
    case .exited(65):
      return Outcome(state: "The scenario is invalid; nothing was run.", messages: messages)
    case .exited:
      return Outcome(state: "The run failed.", messages: messages)
    case .killed(SIGXCPU):
      return Outcome(
        state: "Stopped: the limit is \(InputLimits.browserRunTime) seconds of processor time.",
        messages: messages)
    case .killed:
      return Outcome(
        state: "The run was stopped: the server is shutting down, or memory ran out.",
        messages: messages)
    }
  }

  private func process(
    input: URL, errors: URL, out: URL, temporary: URL
  ) throws -> ChildProcess {
    let file = try FileHandle(forWritingTo: errors)
    return try ChildProcess(
      ["run", "--text", input.path, "--report", "json", "--out", out.path, "--quiet", "--", path],
      temporary: temporary, input: FileHandle.nullDevice, output: FileHandle.nullDevice,
      errors: file)
  }

  /// Returns the start of a file as text.
  private static func text(of file: URL) -> String {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return "" }
    let data = (try? handle.read(upToCount: InputLimits.browserOutput)) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }
}
