import CSQLite
import Foundation

/// The way to a running statement from another thread.
// Sendable unchecked: the lock guards the handle, which is nil once the connection is closing.
final class Interruption: @unchecked Sendable {
  private let lock = NSLock()
  private var handle: OpaquePointer?

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  func send() {
    lock.withLock {
      if let handle { sqlite3_interrupt(handle) }
    }
  }

  /// Whether the connection is closed.
  var isEnded: Bool { lock.withLock { handle == nil } }

  /// After this no interruption reaches the handle, which may be closed.
  func end() {
    lock.withLock { handle = nil }
  }
}
