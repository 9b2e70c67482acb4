import Foundation
import Synchronization

/// What Ctrl-C does.
///
/// The signal is blocked in every thread, and one thread waits for it: what it does then is free of
/// the limits of signal handlers, and no read or write of another thread is cut short.
enum Interrupts {
  /// What to do; ends the program until the shell says otherwise.
  private static let action = Mutex<@Sendable () -> Void> { endProgram() }

  /// Takes Ctrl-C from every other thread. Call it first of all, on the main thread.
  static func listen() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waiting = signals
    Thread {
      var signals = waiting
      var signal: Int32 = 0
      while sigwait(&signals, &signal) == 0 {
        action.withLock { $0 }()
      }
    }.start()
  }

  /// Ends the program as the signal would have.
  static func endProgram() -> Never {
    exit(128 + SIGINT)
  }

  /// Sets what Ctrl-C does from now on.
  ///
  /// - Parameter body: called on a thread of its own.
  static func perform(_ body: @escaping @Sendable () -> Void) {
    action.withLock { $0 = body }
  }
}
