import Foundation
import Testing

/// The program `cdprof-postgres` that was built with these tests, in the same folder.
struct BuiltProgram {
  /// The exit status of a run and its output.
  struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  /// A temporary folder, the working directory.
  let folder: URL
  private let path: String
  /// The repository's folder.
  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../..").standardized

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    path =
      URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appending(path: "cdprof-postgres").path
  }

  /// Starts the program.
  func start(_ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    for name in ["output", "errors"] { try Data().write(to: folder.appending(path: name)) }
    process.standardOutput = try FileHandle(forWritingTo: folder.appending(path: "output"))
    process.standardError = try FileHandle(forWritingTo: folder.appending(path: "errors"))
    try process.run()
    return process
  }

  /// Runs the program and waits until it exits.
  func run(_ arguments: [String]) throws -> Outcome {
    let process = try start(arguments)
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: try text("output"), errors: try text("errors"))
  }

  /// Returns a file of the folder.
  func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  /// Returns the path of a file of the repository.
  static func file(_ name: String) -> String { repository.appending(path: name).path }

  func remove() { _ = try? FileManager.default.removeItem(at: folder) }
}

/// The result of a scenario, as `--report json` writes it.
struct ScenarioResult: Decodable {
  struct Variant: Decodable {
    struct Expectation: Decodable {
      let metric: String
      let holds: Bool
      let unevaluated: String?
    }

    struct Statement: Decodable {
      let sql: String
      let plan: [String]
      let verdict: String
    }

    struct Finding: Decodable {
      let name: String
    }

    let name: String
    let metrics: [String: Int]
    let nanoseconds: UInt64
    let expectations: [Expectation]
    let statements: [Statement]
    let findings: [Finding]
  }

  struct Engine: Decodable {
    let name: String
    let version: String
    let conditions: String?
  }

  let engine: Engine?
  let holds: Bool
  let command: String
  let variants: [Variant]
}
