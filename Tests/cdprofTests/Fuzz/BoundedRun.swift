import Foundation

/// One run of the program with a bound on its time and its memory.
struct BoundedRun {
  /// What it may take; a run that asks for more ends by a signal or without an answer.
  static let seconds = 30
  static let kilobytes = 6 << 20

  /// Nil when it ended as it should: with an answer or with an error that it reports itself.
  let problem: String?

  /// Runs the program to its end.
  init(_ program: BuiltProgram, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let limits = "ulimit -v \(Self.kilobytes); ulimit -t \(Self.seconds); exec \"$0\" \"$@\""
    process.arguments = ["-c", limits, program.path] + arguments
    var environment = program.environment
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    process.currentDirectoryURL = program.folder.url
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = program.folder.file("errors-\(UUID().uuidString)")
    try Data().write(to: errors)
    defer { try? FileManager.default.removeItem(at: errors) }
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let identifier = process.processIdentifier
    let watch = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(
      deadline: .now() + .seconds(4 * Self.seconds), execute: watch)
    process.waitUntilExit()
    watch.cancel()
    let said = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    switch (process.terminationReason, process.terminationStatus) {
    case (.exit, 0), (.exit, 3), (.exit, 65): problem = nil
    case (.exit, let status): problem = "status \(status): \(said.suffix(400))"
    case (_, let signal): problem = "signal \(signal): \(said.suffix(400))"
    }
  }
}
