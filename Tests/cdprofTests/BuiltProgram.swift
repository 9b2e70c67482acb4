import Foundation

/// The program that was built with these tests, which lies beside them.
struct BuiltProgram {
  /// How a run ended and what it wrote.
  struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  /// A folder of the test's own: working directory, temporary files and history are in it.
  let folder: TestFolder
  let path: String

  init() throws {
    folder = try TestFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    path =
      URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("cdprof").path
  }

  /// What the program finds in its environment.
  var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment["TMPDIR"] = folder.file("tmp").path
    environment["XDG_STATE_HOME"] = folder.file("state").path
    environment["TERM"] = "dumb"
    return environment
  }

  /// Files that the program left in the temporary folder.
  var leftovers: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.file("tmp").path)) ?? []
  }

  /// Runs the program to its end.
  ///
  /// - Parameter input: what it reads from a pipe.
  func run(_ arguments: [String], input: String = "") throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = environment
    process.currentDirectoryURL = folder.url
    // Files, not pipes: nobody has to read while it writes.
    let files = ["input", "output", "errors"].map { folder.file($0) }
    try Data(input.utf8).write(to: files[0])
    for file in files[1...] { try Data().write(to: file) }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: try String(contentsOf: files[1], encoding: .utf8),
      errors: try String(contentsOf: files[2], encoding: .utf8))
  }

  /// Runs a script of Bash's, in which `cdprof` is the program: for redirections, limits, and pipes.
  func bash(_ script: String) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", "cdprof() { \"$CDPROF\" \"$@\"; }\n\(script)"]
    process.environment = environment.merging(["CDPROF": path]) { $1 }
    process.currentDirectoryURL = folder.url
    let files = ["output", "errors"].map { folder.file($0) }
    for file in files { try Data().write(to: file) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: try String(contentsOf: files[0], encoding: .utf8),
      errors: try String(contentsOf: files[1], encoding: .utf8))
  }
}
