import Foundation
import Glibc
import Synchronization

/// A process of one of the package's programs, whose output goes to a file.
final class Program: Sendable {
  private let process = Process()
  private let outputURL: URL
  private let status = Mutex<(Process.TerminationReason, Int32)?>(nil)

  /// Starts a program of the package, with a clock of its own.
  init(_ name: String, _ arguments: [String], output: URL, clock: SkewedClock) throws {
    let programs = try Self.folder()
    outputURL = output
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    process.executableURL = programs.appendingPathComponent(name)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging([
      "LD_PRELOAD": programs.appendingPathComponent("libSkewedClock.so").path,
      "SKEWED_CLOCK": clock.url.path,
    ]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    process.terminationHandler = { [self] process in
      status.withLock { $0 = (process.terminationReason, process.terminationStatus) }
    }
    try process.run()
    try handle.close()
  }

  /// The folder of the programs.
  private static func folder() throws -> URL {
    guard let url = Bundle.main.executableURL?.deletingLastPathComponent() else {
      throw ChaosFailure(description: "the folder of the programs is unknown")
    }
    return url
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

/// The clock of a machine, which is ahead of the system's or behind it.
struct SkewedClock {
  /// The file that the preloaded library reads.
  let url: URL

  init(in folder: URL, name: String) throws {
    url = folder.appendingPathComponent("\(name).clock")
    try Data(count: 8).write(to: url)
  }

  /// Moves the clock of the running process, and of the ones that follow.
  func jump(by seconds: Int) throws {
    let file = try FileHandle(forUpdating: url)
    defer { try? file.close() }
    let bytes = try file.readToEnd() ?? Data()
    var skew = bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
    skew += Int64(seconds)
    try file.seek(toOffset: 0)
    try file.write(contentsOf: withUnsafeBytes(of: skew) { Data($0) })
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
actor Machine {
  let number: Int
  let storeURL: URL
  let clock: SkewedClock
  private let outputURL: URL
  private let server: String
  private(set) var watching: Program?

  init(_ number: Int, _ folder: URL, server: String) throws {
    self.number = number
    self.server = server
    clock = try SkewedClock(in: folder, name: "client\(number)")
    storeURL = folder.appendingPathComponent("client\(number).sqlite")
    outputURL = folder.appendingPathComponent("client\(number).txt")
  }

  func start(_ command: [String], wait: Double, server: String? = nil) throws -> Program {
    let options = ["--store", storeURL.path, "--server", server ?? self.server]
    return try Program(
      "moody", command + options + ["--wait", "\(wait)"], output: outputURL, clock: clock)
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
