import CSQLite
import Foundation

/// The methods of the system's database files with locking and shared memory taken out.
// Sendable unchecked: the lock guards the table, and what it points to never changes.
final class LockFreeMethods: @unchecked Sendable {
  static let shared = LockFreeMethods()

  private let lock = NSLock()
  /// By the original.
  ///
  /// There are as few as a system has ways to lock; they are never freed.
  private var copies: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]

  /// The changed copy of the given methods.
  func made(from original: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods> {
    lock.lock()
    defer { lock.unlock() }
    if let known = copies[original] { return known }
    let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    copy.initialize(to: original.pointee)
    // Version 1 has neither shared memory nor memory mapping.
    copy.pointee.iVersion = 1
    copy.pointee.xLock = { _, _ in SQLITE_OK }
    copy.pointee.xUnlock = { _, _ in SQLITE_OK }
    copy.pointee.xCheckReservedLock = { _, result in
      result?.pointee = 0
      return SQLITE_OK
    }
    let made = UnsafePointer(copy)
    copies[original] = made
    return made
  }
}
