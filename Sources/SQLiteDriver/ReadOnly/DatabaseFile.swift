import CSQLite
import Foundation

/// The bytes of a database file, read through SQLite's own file system.
///
/// Closing any descriptor of a file drops every POSIX lock that this process has on it, also those of
/// SQLite's connections. SQLite knows and closes late; our own `close` would not.
/// See <https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
final class DatabaseFile {
  private let system: UnsafeMutablePointer<sqlite3_vfs>
  // SQLite keeps both for as long as the file is open.
  private let name: sqlite3_filename
  private let memory: UnsafeMutableRawPointer
  /// In bytes, when the file was opened.
  let size: Int64

  init(path: String) throws(SQLiteError) {
    guard let system = sqlite3_vfs_find(nil), let open = system.pointee.xOpen,
      let name = sqlite3_create_filename(path, "", "", 0, nil)
    else {
      throw SQLiteError(code: .outOfMemory, message: "SQLite gives no access to \(path)")
    }
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<Int>.alignment)
    let file = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
    file.pointee.pMethods = nil
    var code = open(system, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nil)
    var size: Int64 = 0
    if code == SQLITE_OK { code = file.pointee.pMethods.pointee.xFileSize(file, &size) }
    guard code == SQLITE_OK else {
      let reason = system.pointee.xGetLastError?(system, 0, nil) ?? 0
      if let methods = file.pointee.pMethods { _ = methods.pointee.xClose(file) }
      sqlite3_free_filename(name)
      memory.deallocate()
      let message = "\(path) cannot be read: \(String(cString: strerror(reason)))"
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

  /// Fills the buffer from an offset on and returns the bytes read: fewer at the end of the file.
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

/// The first hundred bytes of a database file.
///
/// See <https://www.sqlite.org/fileformat.html#the_database_header>.
struct DatabaseHeader {
  static let length = 100
  private static let magic = Array("SQLite format 3\0".utf8)

  private let bytes: [UInt8]

  init(path: String) throws(SQLiteError) {
    let file = try DatabaseFile(path: path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: DatabaseHeader.length, alignment: 8)
    defer { buffer.deallocate() }
    let count = try file.read(into: buffer, at: 0)
    bytes = [UInt8](buffer[..<count])
  }

  /// In bytes; nil when the header does not name a possible one.
  private var pageSize: Int64? {
    let stored = Int64(bytes[16]) << 8 | Int64(bytes[17])
    let size = stored == 1 ? 65_536 : stored
    return size >= 512 && size & (size - 1) == 0 ? size : nil
  }

  /// Pages, as the last writer noted; nil when a writer older than SQLite 3.7 came after.
  private var pageCount: Int64? {
    let count = number(at: 28)
    return count > 0 && number(at: 24) == number(at: 92) ? count : nil
  }

  private func number(at offset: Int) -> Int64 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Compares the header with the file, next to the inspected WAL and journal.
  ///
  /// With a log or a journal to be applied, the size is not yet what it should be.
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
      return .corrupt(path: path, reason: "its header names an impossible page size")
    }
    if inspection.method == .immutable, let pageCount, pageCount * pageSize > size {
      return .truncated(path: path, expectedBytes: pageCount * pageSize, foundBytes: size)
    }
    return nil
  }
}

/// Identifies a version of a file: its identity, size, and modification time.
///
/// The time has the file system's resolution, often some milliseconds: two writes within that look
/// like one when the size stays. `StoreFileInspection.isSettled` is true when that is over.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  /// In bytes.
  package let size: Int64
  /// Of the last writing, in nanoseconds since 1970.
  package let modified: Int64

  /// The stamp of a regular file; nil when there is none of that name.
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

  /// The permissions of a file; 0 if there's none.
  static func permissions(path: String) -> mode_t {
    var info = stat()
    return stat(path, &info) == 0 ? info.st_mode & 0o777 : 0
  }

  /// Whether something that isn't a regular file has that name: a link, a folder, a FIFO, a device.
  static func isSpecial(path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
  }
}
