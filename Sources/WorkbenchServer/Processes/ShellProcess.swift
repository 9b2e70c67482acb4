import Foundation
import WorkbenchText

/// A shell for a browser: a process that reads lines from a pipe and answers them.
///
/// After each answer, the process writes a byte that no answer contains
/// (`ShellProcess.endOfAnswer`). Use a shell on one thread at a time; its methods block.
package final class ShellProcess: Sendable {
  /// The byte after each answer: ASCII's record separator, which output never contains, because
  /// control characters are escaped.
  package static let endOfAnswer: UInt8 = 0x1E

  /// The answer to a line.
  struct Answer: Sendable, Equatable {
    var output: String
    /// Whether the shell has ended.
    var ends: Bool
  }

  private let process: ChildProcess
  private let input = Pipe()
  private let output = Pipe()

  /// Starts a shell on the data of a scenario.
  ///
  /// - Parameters:
  ///   - path: The path of the scenario's file, from which relative paths start.
  ///   - text: The text to use instead of the file's.
  ///   - folder: A folder for the files of the shell.
  /// - Throws: An error of the system.
  init(path: String, text: String, folder: URL) throws {
    let temporary = folder.appendingPathComponent("tmp", isDirectory: true)
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("text.yml")
    try OutputFile.write(Data(text.utf8), to: file, force: true)
    process = try ChildProcess(
      ["shell", "--served", file.path, "--", path], temporary: temporary,
      input: input, output: output, errors: FileHandle.nullDevice)
    // The process has its own ends of the pipes.
    try? input.fileHandleForReading.close()
    try? output.fileHandleForWriting.close()
  }

  /// Reads the shell's first answer, which names the scenario, or states why it can't be opened.
  func banner() -> Answer { read() }

  /// Runs a line, which is stopped after `InputLimits.browserLineTime`.
  func answer(to line: String) -> Answer {
    // A pipe has room for the line, because the previous one was read.
    let pipe = input.fileHandleForWriting.fileDescriptor
    guard OutputFile.append("\(line)\n", to: pipe) == nil else {
      return Answer(output: "", ends: true)
    }
    return read()
  }

  /// Ends the shell and waits until its process has ended.
  func end() {
    process.kill()
  }

  private func read() -> Answer {
    var bytes: [UInt8] = []
    var isCut = false
    if let ends = read(for: InputLimits.browserLineTime, into: &bytes, &isCut) {
      return Self.answer(bytes, isCut, ends: ends)
    }
    // As Ctrl-C in a terminal; the shell continues.
    process.signal(SIGINT)
    let ends = read(for: 2, into: &bytes, &isCut)
    if ends == nil { process.signal(SIGKILL) }
    var answer = Self.answer(bytes, isCut, ends: ends ?? true)
    answer.output += "stopped: the limit is \(InputLimits.browserLineTime) seconds\n"
    return answer
  }

  private static func answer(_ bytes: [UInt8], _ isCut: Bool, ends: Bool) -> Answer {
    let more = isCut ? "\n… and more; the output is longer than the limit\n" : ""
    return Answer(output: String(decoding: bytes, as: UTF8.self) + more, ends: ends)
  }

  /// Reads until the end of the answer, and returns whether the shell has ended; `nil` if the time
  /// is over.
  private func read(
    for seconds: Int, into bytes: inout [UInt8], _ isCut: inout Bool
  ) -> Bool? {
    let file = output.fileHandleForReading.fileDescriptor
    let deadline = ContinuousClock.now + .seconds(seconds)
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let rest = (deadline - .now).components
      let milliseconds = rest.seconds * 1_000 + rest.attoseconds / 1_000_000_000_000_000
      guard milliseconds > 0 else { return nil }
      var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, Int32(milliseconds)) > 0 else { continue }
      let count = part.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return true }
      let end = part[..<count].firstIndex(of: Self.endOfAnswer)
      let added = part[..<(end ?? count)]
      let room = InputLimits.browserOutput - bytes.count
      bytes += added.prefix(room)
      if added.count > room { isCut = true }
      if end != nil { return false }
    }
  }
}
