import Foundation

/// The program that was built with these tests, in the same folder.
struct BuiltProgram {
  /// The exit status of a run and its output.
  struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Commands for `bash` that write the scenario `s.yml`, and the store `s.sqlite` with its data.
  static let smallStore = """
    cat > s.yml << END
    name: Small
    model: \(PackageFiles.model)
    data:
      Continent: {count: 2}
      Country: {count: 1}
      Mood: {count: 2, remoteIdentifier: text 5}
    steps:
      - {count: Continent}
    END
    cdprof run s.yml --quiet --report json --out r && cp r/s.sqlite s.sqlite

    """

  /// A temporary folder with the working directory, the temporary files, and the history.
  let folder: TestFolder
  let path: String

  init() throws {
    folder = try TestFolder()
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    path =
      URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("cdprof").path
  }

  /// The environment of the program.
  var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment["TMPDIR"] = folder.file("tmp").path
    environment["XDG_STATE_HOME"] = folder.file("state").path
    environment["HOME"] = folder.url.path
    for name in ["NO_COLOR", "GITHUB_ACTIONS", "GITHUB_SHA"] { environment[name] = nil }
    environment["TERM"] = "dumb"
    return environment
  }

  /// The files that the program left in its folder for temporary files.
  var leftovers: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.file("tmp").path)) ?? []
  }

  /// Writes the scenario `faults.yml` with 200 moods instead of 5,000, for tests that don't depend
  /// on their number, and returns its path.
  func smallFaults() throws -> String {
    let text = try String(contentsOfFile: PackageFiles.faults, encoding: .utf8)
    return try folder.write(
      text.replacing("5000 * scale", with: "200 * scale")
        .replacing("model: Moody", with: "model: \(PackageFiles.model)"), to: "faults.yml")
  }

  /// Runs the program and waits until it exits.
  ///
  /// - Parameters:
  ///   - input: The standard input.
  ///   - cpuSeconds: The CPU time after which the program is killed; unlike the elapsed time, it
  ///     doesn't grow with the tests that run beside this one. A program that waits forever is
  ///     stopped after thirty times as long.
  func run(_ arguments: [String], input: String = "", cpuSeconds: Int? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let limits = cpuSeconds.map { ("ulimit -t \($0);", "timeout \(30 * $0)") } ?? ("", "")
    process.arguments = ["-c", "\(limits.0) exec \(limits.1) \"$0\" \"$@\"", path] + arguments
    process.environment = environment
    process.currentDirectoryURL = folder.url
    // With files instead of pipes, the output needn't be read while the program runs.
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

  /// Runs a Bash script, in which `cdprof` is the program.
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
