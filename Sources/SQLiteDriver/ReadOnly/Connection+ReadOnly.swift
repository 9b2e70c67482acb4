import CSQLite
import Foundation

extension Connection {
  /// Whether a temporary copy is read, because the store has a transaction to roll back.
  ///
  /// Inform the user if it's `true`.
  package var isTemporaryCopy: Bool {
    copy != nil
  }

  /// Opens a file read-only, without changes to its folder, and reads its first page.
  ///
  /// Waits until the last write is two clock ticks old (8 ms on most systems), so that the next one
  /// is detectable, and restarts if a writer intervenes. If the store is written to continuously,
  /// this fails as busy after 0.3 s of waiting or six attempts.
  static func openReadOnly(
    at path: String, sharing copy: TemporaryCopy?
  ) throws(SQLiteError) -> OpenedFile {
    var (waited, openings) = (Int64(0), 0)
    while waited < maximumWait, openings < maximumOpenings {
      let inspection = try StoreFileInspection(path: path)
      let wait = inspection.settlingTime
      guard wait == 0 else {
        waited += wait
        usleep(UInt32(wait / 1_000) + 1)
        continue
      }
      openings += 1
      do throws(SQLiteError) {
        let opened = try openFiles(inspection, sharing: copy)
        if !inspection.isStale { return opened }
        sqlite3_close_v2(opened.handle)
      } catch {
        // A half-written state can cause any error; a persistent one is real.
        if !inspection.isStale { throw error }
      }
    }
    throw SQLiteError(code: .busy, message: "\(path) is being written to; try again")
  }

  /// The maximum time to wait, in nanoseconds.
  private static let maximumWait: Int64 = 300_000_000
  /// The maximum number of attempts, each of which can copy the entire file.
  private static let maximumOpenings = 6

  /// Opens the inspected files and reads the first page.
  ///
  /// `openReadOnly(at:sharing:)` ensures that they haven't changed.
  static func openFiles(
    _ inspection: StoreFileInspection, sharing shared: TemporaryCopy? = nil
  ) throws(SQLiteError) -> OpenedFile {
    try ReadOnlyVFS.register()
    var copy = shared?.source == inspection ? shared : nil
    if inspection.method == .temporaryCopy, copy == nil { copy = try TemporaryCopy(of: inspection) }
    let isImmutable = inspection.method != .writeAheadLog
    let name = uri(copy?.path ?? inspection.path) + (isImmutable ? "&immutable=1" : "")
    let handle = try openFile(
      name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, fileSystem: ReadOnlyVFS.name)
    do {
      try harden(handle, isReadOnly: true)
      if !isImmutable { try run("PRAGMA locking_mode = EXCLUSIVE", on: handle) }
      // Sorts and temporary tables don't create files either.
      try run("PRAGMA temp_store = MEMORY", on: handle)
      try run("PRAGMA schema_version", on: handle)
    } catch {
      sqlite3_close_v2(handle)
      throw error
    }
    return OpenedFile(handle: handle, inspection: inspection, copy: copy)
  }

  /// Returns the path as a percent-encoded URI with its first parameter.
  private static func uri(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes = Array("file://".utf8)
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self) + "?mode=ro"
  }
}

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
