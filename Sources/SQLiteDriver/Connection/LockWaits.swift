import CSQLite
import Foundation

/// Waits for other connections' locks as SQLite does by itself.
///
/// The connection holds it as long as SQLite may call it, on the connection's thread.
final class LockWaits: Sendable {
  /// Milliseconds that one statement waits at most.
  let patience: Int

  /// Milliseconds from one attempt to the next; the last goes on.
  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

  /// - Parameter milliseconds: How long one statement waits before it fails as busy.
  init(patience milliseconds: Int32) {
    patience = Int(milliseconds)
  }

  /// Has SQLite ask here when a lock is taken.
  func serve(_ handle: OpaquePointer) {
    sqlite3_busy_handler(
      handle,
      { context, attempts in
        guard let context else { return 0 }
        let waits = Unmanaged<LockWaits>.fromOpaque(context).takeUnretainedValue()
        return waits.pause(after: Int(attempts)) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Waits for the next attempt; false when there is to be none.
  private func pause(after attempts: Int) -> Bool {
    let pauses = LockWaits.pauses
    let last = pauses.count - 1
    let spent =
      pauses.prefix(attempts).reduce(0, +) + max(0, attempts - pauses.count) * pauses[last]
    let next = min(pauses[min(attempts, last)], patience - spent)
    guard next > 0 else { return false }
    usleep(UInt32(next) * 1_000)
    return true
  }
}
