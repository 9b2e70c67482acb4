import Foundation

/// Runs child processes.
enum Child {
  /// The executable file of this program.
  static var program: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  }

  /// Runs a program and returns its output.
  ///
  /// Hashing is deterministic in each child process, so that counts are reproducible.
  static func output(
    of program: URL, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Data {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
      .merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchError("\(program.lastPathComponent) \(arguments.joined(separator: " ")) failed")
    }
    return data
  }

  /// Returns the executable file of a tool in the search path, or `nil` if it isn't installed.
  static func tool(_ name: String) -> URL? {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return folders.split(separator: ":")
      .map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
