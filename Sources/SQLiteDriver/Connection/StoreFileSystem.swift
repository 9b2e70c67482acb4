import CSQLite
import Foundation
import Synchronization

/// The VFS of all connections that aren't read-only: the system's VFS, confined to the store's
/// files.
///
/// A rollback journal can name a super-journal: an arbitrary file that SQLite reads, and deletes
/// once the journal is rolled back. Core Data never writes such a journal, and a journal can come
/// from any source, so SQLite reads an empty placeholder instead of the file, and the file isn't
/// deleted. The existence of the file still determines whether the journal is rolled back, as
/// SQLite documents.
///
/// A database, journal, or WAL that isn't a regular file isn't opened, because a FIFO would block.
enum StoreFileSystem {
  static let name = "cdprof-store"

  /// Registers the VFS with SQLite, once per process.
  static func register() throws(SQLiteError) {
    guard registration == SQLITE_OK else {
      let code = ResultCode(rawValue: registration)
      throw SQLiteError(code: code, message: "the VFS \(name) couldn't be registered")
    }
  }

  // Set once, before SQLite uses the copy; SQLite only reads it.
  private nonisolated(unsafe) static let base = sqlite3_vfs_find(nil)

  private static let registration = register(name, basedOn: base) { vfs in
    vfs.xOpen = { _, name, file, flags, result in open(name, file, flags, result) }
    vfs.xDelete = { _, name, syncsFolder in delete(name, syncsFolder) }
  }

  /// Registers a VFS that differs from another one in some of its functions.
  ///
  /// The VFS exists until the process exits, as SQLite requires.
  ///
  /// - Returns: SQLite's result code.
  static func register(
    _ name: String, basedOn base: UnsafeMutablePointer<sqlite3_vfs>?,
    changing change: (inout sqlite3_vfs) -> Void
  ) -> Int32 {
    guard let base, let copiedName = strdup(name) else { return SQLITE_ERROR }
    let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    copy.initialize(to: base.pointee)
    copy.pointee.zName = UnsafePointer(copiedName)
    copy.pointee.pNext = nil
    change(&copy.pointee)
    return sqlite3_vfs_register(copy, 0)
  }

  /// The names of super-journals that are open, by address.
  ///
  /// SQLite opens a super-journal before it deletes it, and passes the same pointer both times.
  private static let superJournals = Mutex<Set<UInt>>([])

  private static func open(
    _ name: sqlite3_filename?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let base, let file, let open = base.pointee.xOpen else { return SQLITE_CANTOPEN }
    if flags & SQLITE_OPEN_SUPER_JOURNAL != 0 {
      file.pointee.pMethods = nil
      guard flags & SQLITE_OPEN_READONLY != 0 else { return SQLITE_CANTOPEN }
      let code = open(base, standIn, file, flags, result)
      if code == SQLITE_OK { note(name) }
      return code
    }
    if let name, flags & ownKinds != 0, isSpecial(name) {
      file.pointee.pMethods = nil
      return SQLITE_CANTOPEN
    }
    return open(base, name, file, flags, result)
  }

  private static func delete(_ name: UnsafePointer<CChar>?, _ syncsFolder: Int32) -> Int32 {
    guard let base, let name, let delete = base.pointee.xDelete else { return SQLITE_IOERR }
    let isSuperJournal = superJournals.withLock { names in
      !names.isEmpty && names.remove(UInt(bitPattern: name)) != nil
    }
    return isSuperJournal ? SQLITE_OK : delete(base, name, syncsFolder)
  }

  private static func note(_ name: sqlite3_filename?) {
    guard let name else { return }
    superJournals.withLock { _ = $0.insert(UInt(bitPattern: name)) }
  }

  /// The path of a file that reads as empty.
  // Never changed or freed.
  private nonisolated(unsafe) static let standIn = UnsafePointer(strdup("/dev/null"))

  /// The kinds of files that belong to a store.
  private static let ownKinds =
    SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL

  private static func isSpecial(_ name: UnsafePointer<CChar>) -> Bool {
    var info = stat()
    return lstat(name, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
  }
}
