import CSQLite
import Foundation

/// A database file that is read through SQLite's own VFS.
///
/// Closing any descriptor of a file releases all POSIX locks that this process has on it, including
/// those of SQLite's connections. SQLite accounts for this and delays closing; a plain `close`
/// wouldn't. See
/// <https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
final class DatabaseFile {
  private let system: UnsafeMutablePointer<sqlite3_vfs>
  // SQLite uses both while the file is open.
  private let name: sqlite3_filename
  private let memory: UnsafeMutableRawPointer
  /// The size in bytes when the file was opened.
  let size: Int64

  /// - Parameter canLock: Whether the file is opened for writing, if that's permitted, which an
  ///   exclusive lock requires.
  init(path: String, canLock: Bool = false) throws(SQLiteError) {
    guard let system = sqlite3_vfs_find(nil), let open = system.pointee.xOpen,
      let name = sqlite3_create_filename(path, "", "", 0, nil)
    else {
      throw SQLiteError(code: .outOfMemory, message: "SQLite can't access \(path)")
    }
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<Int>.alignment)
    let file = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
    file.pointee.pMethods = nil
    let access = canLock ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    var code = open(system, name, file, access | SQLITE_OPEN_MAIN_DB, nil)
    var size: Int64 = 0
    if code == SQLITE_OK { code = file.pointee.pMethods.pointee.xFileSize(file, &size) }
    guard code == SQLITE_OK else {
      let reason = system.pointee.xGetLastError?(system, 0, nil) ?? 0
      if let methods = file.pointee.pMethods { _ = methods.pointee.xClose(file) }
      sqlite3_free_filename(name)
      memory.deallocate()
      let message = "\(path) can't be read: \(String(cString: strerror(reason)))"
      throw SQLiteError(code: ResultCode(rawValue: code), message: message)
    }
    self.system = system
    self.name = name
    self.memory = memory
    self.size = size
  }

  deinit {
    _ = file.pointee.pMethods.pointee.xClose(file)
    sqlite3_free_filename(name)
    memory.deallocate()
  }

  private var file: UnsafeMutablePointer<sqlite3_file> {
    memory.assumingMemoryBound(to: sqlite3_file.self)
  }

  /// Returns whether a connection prevents an exclusive lock.
  fileprivate func isLocked() -> Bool {
    guard let methods = file.pointee.pMethods else { return false }
    var code = methods.pointee.xLock(file, SQLITE_LOCK_SHARED)
    if code == SQLITE_OK { code = methods.pointee.xLock(file, SQLITE_LOCK_EXCLUSIVE) }
    _ = methods.pointee.xUnlock(file, SQLITE_LOCK_NONE)
    return ResultCode(rawValue: code).primary == .busy
  }

  /// Fills the buffer from an offset on, and returns the number of bytes read, which is smaller at
  /// the end of the file.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SQLiteError) -> Int {
    let count = Int(max(0, min(Int64(buffer.count), size - offset)))
    guard count > 0 else { return 0 }
    let code = file.pointee.pMethods.pointee.xRead(file, buffer.baseAddress, Int32(count), offset)
    guard code == SQLITE_OK else { throw SQLiteError(handle: nil, code: code) }
    return count
  }
}

extension StoreFileInspection {
  /// Reads the database file and the WAL, to check that the file system can.
  ///
  /// **Cost:** a read for each mebibyte.
  /// - Throws: `SQLITE_CANTOPEN` or `SQLITE_IOERR` if it can't.
  package func readFiles() throws(SQLiteError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
    defer { buffer.deallocate() }
    for path in log == nil ? [path] : [path, path + "-wal"] {
      let file = try DatabaseFile(path: path)
      var offset: Int64 = 0
      while case let count = try file.read(into: buffer, at: offset), count > 0 {
        offset += Int64(count)
      }
    }
  }

  /// Returns why the file system can't read a database file and its WAL to their ends; `nil` if it
  /// can.
  ///
  /// **Cost:** that of `readFiles()`.
  package static func readingError(path: String) -> SQLiteError? {
    do throws(SQLiteError) {
      try StoreFileInspection(path: path).readFiles()
      return nil
    } catch {
      return error
    }
  }
}

/// The locks that connections have on a database file.
package enum DatabaseLocks {
  private static let maximumTries = 20

  /// Returns whether a connection of any process locks a file for longer than 200 milliseconds.
  ///
  /// In WAL mode, each connection that has read does, as long as it's open. The file is neither
  /// read nor changed, so it may be corrupt. A file that can't be written isn't examined.
  package static func areHeld(path: String) -> Bool {
    guard let file = try? DatabaseFile(path: path, canLock: true) else { return false }
    for _ in 1..<maximumTries {
      guard file.isLocked() else { return false }
      sqlite3_sleep(10)
    }
    return file.isLocked()
  }
}

/// The first 100 bytes of a database file.
///
/// See <https://www.sqlite.org/fileformat.html#the_database_header>.
package struct DatabaseHeader {
  static let length = 100
  private static let magic = Array("SQLite format 3\0".utf8)

  private let bytes: [UInt8]

  /// Reads the header of a file.
  ///
  /// Through SQLite, so that locks of this process on the file stay.
  /// - Throws: `SQLITE_CANTOPEN` or `SQLITE_IOERR` if it can't be read.
  package init(path: String) throws(SQLiteError) {
    let file = try DatabaseFile(path: path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: DatabaseHeader.length, alignment: 8)
    defer { buffer.deallocate() }
    let count = try file.read(into: buffer, at: 0)
    bytes = [UInt8](buffer[..<count])
  }

  /// Whether writers of the database use a WAL.
  package var usesLog: Bool { bytes.count > 18 && bytes[18] == 2 }

  /// The page size in bytes, or `nil` if the header contains an invalid one.
  private var pageSize: Int64? {
    let stored = Int64(bytes[16]) << 8 | Int64(bytes[17])
    let size = stored == 1 ? 65_536 : stored
    return size >= 512 && size & (size - 1) == 0 ? size : nil
  }

  /// The number of pages according to the last writer, or `nil` if a version before SQLite 3.7
  /// wrote afterward.
  private var pageCount: Int64? {
    let count = number(at: 28)
    return count > 0 && number(at: 24) == number(at: 92) ? count : nil
  }

  private func number(at offset: Int) -> Int64 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Returns the problem found by comparing the header with the file and the inspected WAL and
  /// journal.
  ///
  /// If there's a WAL or a journal to apply, the size can differ from the header.
  func problem(path: String, _ inspection: StoreFileInspection) -> StoreFileProblem? {
    guard bytes.starts(with: DatabaseHeader.magic) else {
      let text = String(decoding: bytes, as: UTF8.self)
      return text.hasPrefix("<?xml") && text.contains("<!DOCTYPE database")
        ? .documentStore(path: path) : .notADatabase(path: path)
    }
    let size = inspection.database.size
    guard bytes.count == DatabaseHeader.length else {
      let expected = Int64(DatabaseHeader.length)
      return .truncated(path: path, expectedBytes: expected, foundBytes: size)
    }
    guard let pageSize else {
      return .corrupt(path: path, reason: "its header contains an invalid page size")
    }
    if inspection.method == .immutable, let pageCount, pageCount * pageSize > size {
      return .truncated(path: path, expectedBytes: pageCount * pageSize, foundBytes: size)
    }
    return nil
  }
}

/// Identifies a version of a file by its identity, size, and modification time.
///
/// The time has the file system's resolution, often several milliseconds: two writes within that
/// time can't be distinguished if the size stays the same. `StoreFileInspection.settlingTime`
/// is 0 once that time has passed.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  /// The size in bytes.
  package let size: Int64
  /// The modification time, in nanoseconds since 1970.
  package let modified: Int64

  /// Creates the stamp of a regular file, or returns `nil` if there is none with that name.
  ///
  /// - Parameter followsLinks: Whether links are followed.
  package init?(path: String, followsLinks: Bool = true) {
    var info = stat()
    let result = followsLinks ? stat(path, &info) : lstat(path, &info)
    guard result == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    device = UInt64(info.st_dev)
    inode = UInt64(info.st_ino)
    size = Int64(info.st_size)
    #if canImport(Darwin)
      let time = info.st_mtimespec
    #else
      let time = info.st_mtim
    #endif
    modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Returns whether a path has an item: a file, a folder, or a link.
  ///
  /// It has one, too, if that can't be determined, such as because of an I/O error: a file that
  /// can't be examined must not be mistaken for a missing one.
  /// - Parameter followsLinks: Whether the target of a link must exist.
  package static func exists(path: String, followsLinks: Bool = false) -> Bool {
    var info = stat()
    let result = followsLinks ? stat(path, &info) : lstat(path, &info)
    return result == 0 || ![ENOENT, ENOTDIR].contains(errno)
  }

  /// Returns the permissions of a file, or 0 if it doesn't exist.
  static func permissions(path: String) -> mode_t {
    var info = stat()
    return stat(path, &info) == 0 ? info.st_mode & 0o777 : 0
  }

  /// Returns whether a path refers to something other than a regular file: a link, folder, FIFO, or
  /// device.
  static func isSpecial(path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
  }
}
