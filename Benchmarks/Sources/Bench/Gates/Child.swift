import Foundation

/// Another process of this program.
enum Child {
  /// This program's file.
  static var program: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  }

  /// Runs a program and gives what it printed.
  ///
  /// Dictionaries hash alike in each child, so that counts repeat.
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

  /// The file of a tool on the search path; nil when it is not installed.
  static func tool(_ name: String) -> URL? {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return folders.split(separator: ":")
      .map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
