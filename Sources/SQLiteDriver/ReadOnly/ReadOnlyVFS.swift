import CSQLite
import Foundation

/// A read-only VFS based on the system's: it opens databases, WALs, and journals only for reading,
/// creates and deletes none of them, and takes no locks.
///
/// Without locks and shared memory, SQLite reads a WAL in exclusive mode, with the WAL index in its
/// own memory. `vfs=unix-none` is similar, but would create a WAL that disappeared, delete one next
/// to an empty database, change the WAL's owner if root reads it, and release the locks of this
/// process's other connections on closing (see `DatabaseFile`).
enum ReadOnlyVFS {
  static let name = "cdprof-readonly"

  /// Registers the VFS with SQLite, once per process.
  static func register() throws(SQLiteError) {
    guard registration == SQLITE_OK else {
      let code = ResultCode(rawValue: registration)
      throw SQLiteError(code: code, message: "the read-only VFS isn't available")
    }
  }

  // Set once, before SQLite uses the copy; SQLite only reads it.
  private nonisolated(unsafe) static let base = sqlite3_vfs_find(nil)

  private static let registration = StoreFileSystem.register(name, basedOn: base) { vfs in
    vfs.xOpen = { _, name, file, flags, result in open(name, file, flags, result) }
    vfs.xDelete = { _, _, _ in SQLITE_READONLY }
  }

  /// The kinds of files that are never created or deleted.
  ///
  /// The others are SQLite's temporary files.
  private static let keptKinds =
    SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL

  private static func open(
    _ name: sqlite3_filename?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let base, let file, let open = base.pointee.xOpen else { return SQLITE_CANTOPEN }
    guard flags & keptKinds != 0 else { return open(base, name, file, flags, result) }
    // Only a rollback reads a super-journal, and a read-only connection doesn't roll back.
    guard flags & SQLITE_OPEN_SUPER_JOURNAL == 0 else {
      file.pointee.pMethods = nil
      return SQLITE_CANTOPEN
    }
    let writing = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_DELETEONCLOSE
    var changed = flags & ~writing | SQLITE_OPEN_READONLY
    // When run by root, SQLite changes the owner of a WAL or journal that it opens to the
    // database's owner.
    let owned = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL
    if changed & owned != 0 { changed = changed & ~owned | SQLITE_OPEN_SUPER_JOURNAL }
    let code = open(base, name, file, changed, result)
    if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let methods = file.pointee.pMethods {
      file.pointee.pMethods = LockFreeMethods.shared.made(from: methods)
    }
    return code
  }
}

/// The system's I/O methods for database files, without locking and shared memory.
// Sendable is unchecked: the lock guards the table, and what it points to never changes.
final class LockFreeMethods: @unchecked Sendable {
  static let shared = LockFreeMethods()

  private let lock = NSLock()
  /// The modified methods, by the original.
  ///
  /// There are as many as the system has locking methods. They're never freed.
  private var copies: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]

  /// Returns a modified copy of I/O methods.
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
