import Foundation
import Synchronization
import WorkbenchText

/// A process of this program that runs what a browser sent, within its own `ProcessLimits`.
///
/// It gets its arguments as an array, never through a shell. Its temporary files are in a folder
/// that belongs to it, and no process outlives this one.
final class ChildProcess: Sendable {
  /// How a process ended.
  enum End: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  private let process: Process
  private let ended = DispatchSemaphore(value: 0)

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the program.
  ///   - temporary: The folder for its temporary files.
  ///   - input, output, errors: Its standard input, output, and error.
  /// - Throws: An error of the system; a `CancellationError` if this process is ending.
  init(
    _ arguments: [String], temporary: URL, input: Any, output: Any, errors: Any
  ) throws {
    process = Process()
    // The running program, even if its file was replaced or removed.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["TMPDIR"] = temporary.path
    process.environment = environment
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    process.terminationHandler = { [ended] _ in ended.signal() }
    try ChildProcess.running.withLock { running in
      guard let all = running else { throw CancellationError() }
      try process.run()
      running = all + [Running(self)]
    }
  }

  /// Waits until the process ends, and returns how; kills it after a time.
  ///
  /// - Parameter seconds: The time in seconds.
  /// - Returns: `nil` if the process was killed because the time is over.
  func wait(seconds: Int) -> End? {
    let isInTime = ended.wait(timeout: .now() + .seconds(seconds)) == .success
    if !isInTime {
      signal(SIGKILL)
      ended.wait()
    }
    forget()
    guard isInTime else { return nil }
    return process.terminationReason == .exit
      ? .exited(process.terminationStatus) : .killed(signal: process.terminationStatus)
  }

  /// Kills the process and waits until it has ended.
  func kill() {
    signal(SIGKILL)
    _ = wait(seconds: 10)
  }

  /// Sends a signal to the process if it's still running.
  func signal(_ number: Int32) {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, number)
  }

  private func forget() {
    ChildProcess.running.withLock { $0?.removeAll { $0.process === self } }
  }

  // MARK: All processes

  private struct Running: Sendable {
    let process: ChildProcess

    init(_ process: ChildProcess) { self.process = process }
  }

  /// The processes that haven't ended; `nil` once this process is ending.
  private static let running = Mutex<[Running]?>([])

  /// Kills all processes, waits until they have ended, and prevents further ones.
  ///
  /// Call this method before the program ends, on any thread.
  static func endAll() {
    let all = running.withLock { running in
      defer { running = nil }
      return running ?? []
    }
    for one in all { one.process.signal(SIGKILL) }
    for one in all {
      // Another thread can be waiting for the same process; it doesn't need long to end.
      for _ in 0..<100 where one.process.process.isRunning { usleep(10_000) }
    }
  }
}

/// Work that blocks a thread, outside of the threads that tasks share.
enum BlockingWork {
  /// Runs a closure on a thread of its own, with a stack for deep recursion.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread { continuation.resume(with: Result(catching: body)) }
      thread.stackSize = 8 << 20
      thread.start()
    }
  }
}
