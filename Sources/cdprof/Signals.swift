import Foundation
import Synchronization

/// What Ctrl-C, Ctrl-Z, a new size of the window and a polite end from outside do.
///
/// A handler may do next to nothing, and any thread may be the one it runs on. So it only sends the
/// signal's number through a pipe, and a thread of its own does the rest.
enum Signals {
  /// What to do with a signal; ends the program until the shell says otherwise.
  private static let action = Mutex<@Sendable (Int32) -> Void> { endProgram($0) }
  private static let pipe = Pipe()

  /// Ends the program until something else was said; the shell takes more.
  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]

  /// Begins to listen.
  ///
  /// Call it first of all.
  static func listen() {
    // Made now: a handler may not be the first to ask for it.
    let reading = pipe.fileHandleForReading.fileDescriptor
    catchSignals(ending)
    // A file that grows beyond the user's limit is an error of the write.
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

  /// Sets what the signals do from now on, and listens to more of them.
  ///
  /// - Parameter body: called with the signal's number, on a thread of its own.
  static func perform(also more: [Int32], _ body: @escaping @Sendable (Int32) -> Void) {
    action.withLock { $0 = body }
    catchSignals(more)
  }

  /// Ends the program as the signal would have.
  static func endProgram(_ signal: Int32) -> Never {
    exit(128 + signal)
  }

  /// Stops the program until it is continued.
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
