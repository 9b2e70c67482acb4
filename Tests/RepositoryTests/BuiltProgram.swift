import Foundation

/// The program that was built with these tests, in the same folder.
enum BuiltProgram {
  /// Runs the program in the root folder, and returns its exit status and standard output.
  static func output(of arguments: [String]) throws -> (status: Int32, output: Data) {
    let tests = URL(
      filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    let process = Process()
    let pipe = Pipe()
    process.executableURL = tests.deletingLastPathComponent().appending(path: "cdprof")
    process.currentDirectoryURL = Repository.root
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }
}
