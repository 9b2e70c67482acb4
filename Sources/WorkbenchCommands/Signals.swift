import Foundation
import Synchronization

/// Handles signals: Ctrl-C, Ctrl-Z, a resized window, and requests to terminate.
///
/// A signal handler runs on an arbitrary thread and may call only async-signal-safe functions. So
/// it only writes the signal's number to a pipe; a dedicated thread reads the pipe and handles it.
enum Signals {
  /// The handler of signals; by default, it ends the program.
  private static let action = Mutex<@Sendable (Int32) -> Void> { endProgram($0) }
  private static let pipe = Pipe()

  /// The signals that end the program by default; the shell handles additional ones.
  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]

  /// Installs the signal handlers and starts the thread that handles signals.
  ///
  /// Call this method before any command runs.
  static func listen() {
    // Initialize the pipe now, because a signal handler mustn't.
    let reading = pipe.fileHandleForReading.fileDescriptor
    catchSignals(ending)
    // With SIGXFSZ ignored, a write beyond the file-size limit fails with an error instead.
    signal(SIGXFSZ, SIG_IGN)
    Thread {
      var byte: UInt8 = 0
      while true {
        let count = read(reading, &byte, 1)
        guard count == 1 else {
          if count < 0, errno == EINTR { continue }
          return
        }
        let body = action.withLock { $0 }
        body(Int32(byte))
      }
    }.start()
  }

  /// Sets the handler of signals, and handles additional ones.
  ///
  /// - Parameters:
  ///   - more: The signals to handle in addition to those that end the program.
  ///   - body: A closure that's called with the signal's number on the signal thread.
  static func perform(also more: [Int32] = [], _ body: @escaping @Sendable (Int32) -> Void) {
    action.withLock { $0 = body }
    catchSignals(more)
  }

  /// Exits with the status that a shell reports for the signal: 128 plus its number.
  static func endProgram(_ signal: Int32) -> Never {
    Ending.end(128 + signal)
  }

  /// Suspends the program until it receives SIGCONT.
  static func stopProgram() {
    kill(getpid(), SIGSTOP)
  }

  private static func catchSignals(_ numbers: [Int32]) {
    for number in numbers {
      var handling = sigaction()
      handling.__sigaction_handler.sa_handler = { signal in
        let error = errno
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = write(Signals.pipe.fileHandleForWriting.fileDescriptor, &byte, 1)
        errno = error
      }
      handling.sa_flags = Int32(SA_RESTART)
      sigaction(number, &handling, nil)
    }
  }
}

/// The state of the shell's current step: whether it's running, and the number of times Ctrl-C was
/// pressed.
final class RunningStep: Sendable {
  private let running = Atomic(false)
  private let presses = Atomic(0)
  /// The number of steps started so far.
  private let steps = Atomic(0)

  /// Runs a step; until it returns, Ctrl-C applies to the step.
  func run<Result>(_ body: () -> Result) -> Result {
    presses.store(0, ordering: .relaxed)
    steps.add(1, ordering: .relaxed)
    running.store(true, ordering: .sequentiallyConsistent)
    defer { running.store(false, ordering: .sequentiallyConsistent) }
    return body()
  }

  /// Calls a closure after a delay in seconds, unless the current step has ended by then.
  func ifStillRunning(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    let number = steps.load(ordering: .relaxed)
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
      if isRunning, steps.load(ordering: .relaxed) == number { body() }
    }
  }

  var isRunning: Bool { running.load(ordering: .sequentiallyConsistent) }

  /// Records a Ctrl-C and returns the number of times it was pressed during the current step.
  func press() -> Int {
    presses.add(1, ordering: .relaxed).newValue
  }
}

/// Whether Ctrl-C was pressed.
final class StopRequest: Sendable {
  private let flag = Atomic(false)

  var isRequested: Bool { flag.load(ordering: .relaxed) }

  /// Requests a stop, and returns whether one was requested before.
  func request() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
