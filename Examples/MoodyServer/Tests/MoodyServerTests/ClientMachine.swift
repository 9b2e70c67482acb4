import Foundation
import Glibc
import Synchronization

/// A process of one of the package's programs, whose output goes to a file.
final class Program: Sendable {
  private let process = Process()
  private let outputURL: URL
  private let status = Mutex<(Process.TerminationReason, Int32)?>(nil)

  init(_ name: String, _ arguments: [String], output: URL) throws {
    guard let programs = Bundle.main.executableURL?.deletingLastPathComponent() else {
      throw ChaosFailure(description: "the folder of the programs is unknown")
    }
    outputURL = output
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    process.executableURL = programs.appendingPathComponent(name)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    process.terminationHandler = { [self] process in
      status.withLock { $0 = (process.terminationReason, process.terminationStatus) }
    }
    try process.run()
    try handle.close()
  }

  var output: String { (try? String(contentsOf: outputURL, encoding: .utf8)) ?? "" }
  var hasEnded: Bool { status.withLock { $0 != nil } }

  /// Kills the process, and waits for its end.
  func kill() async throws {
    if !hasEnded { _ = Glibc.kill(process.processIdentifier, SIGKILL) }
    _ = try await end(within: 10)
  }

  /// Waits for the end, and returns the status; `nil` if the process was killed.
  ///
  /// - Throws: An error if it doesn't end in time, or crashes.
  @discardableResult
  func end(within seconds: TimeInterval) async throws -> Int32? {
    let limit = Date(timeIntervalSinceNow: seconds)
    while Date() < limit {
      switch status.withLock({ $0 }) {
      case (.exit, let code)?: return code
      case (.uncaughtSignal, SIGKILL)?: return nil
      case (_, let signal)?:
        throw ChaosFailure(description: "a program ends with signal \(signal): \(output)")
      case nil: try await Task.sleep(for: .milliseconds(5))
      }
    }
    _ = Glibc.kill(process.processIdentifier, SIGKILL)
    throw ChaosFailure(description: "a program doesn't end: \(output)")
  }
}

/// A mood as `moody list` shows it.
struct ListedMood {
  let id: String
  /// The first color, which each mood has for itself.
  let color: String
  let isSent: Bool
}

/// A user at one machine, who calls `moody`.
final class Machine {
  let number: Int
  let storeURL: URL
  private let outputURL: URL
  private let server: String
  private(set) var watching: Program?

  init(_ number: Int, _ folder: URL, server: String) {
    self.number = number
    self.server = server
    storeURL = folder.appendingPathComponent("client\(number).sqlite")
    outputURL = folder.appendingPathComponent("client\(number).txt")
  }

  func start(_ command: [String], wait: Double, server: String? = nil) throws -> Program {
    let options = ["--store", storeURL.path, "--server", server ?? self.server]
    return try Program(
      "moody", command + options + ["--wait", "\(wait)"], output: outputURL)
  }

  func watch() throws { watching = try start(["watch"], wait: 1) }

  func stopWatching() async throws {
    try await watching?.kill()
    watching = nil
  }

  /// Returns the listed moods; without a server, as they were when the last program ended.
  func list(wait: Double? = nil) async throws -> [ListedMood] {
    // Nothing listens on this port.
    let program = try start(
      ["list"], wait: wait ?? 0, server: wait == nil ? "http://127.0.0.1:1" : nil)
    guard try await program.end(within: 60) == 0 else {
      throw ChaosFailure(description: "client \(number): list fails: \(program.output)")
    }
    return program.output.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count >= 3, !line.hasPrefix("moody:") else { return nil }
      return ListedMood(
        id: String(parts[0]), color: String(parts[2]), isSent: !line.hasSuffix("(not sent)"))
    }
  }
}

/// A run that can't go on.
struct ChaosFailure: Error, CustomStringConvertible {
  let description: String
}
