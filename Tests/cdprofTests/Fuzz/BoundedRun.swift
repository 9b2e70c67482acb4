import Foundation

/// A run of the program with limited time and memory.
struct BoundedRun {
  /// The limits of CPU time and memory; a run that exceeds them ends with a signal or an error.
  static let seconds = 30
  static let kilobytes = 6 << 20

  /// `nil` if the run ended with a result or a reported error.
  let problem: String?

  /// Runs the program and waits until it exits.
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
    let errorOutput = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    switch (process.terminationReason, process.terminationStatus) {
    case (.exit, 0), (.exit, 3), (.exit, 65): problem = nil
    case (.exit, let status): problem = "status \(status): \(errorOutput.suffix(400))"
    case (_, let signal): problem = "signal \(signal): \(errorOutput.suffix(400))"
    }
  }
}
