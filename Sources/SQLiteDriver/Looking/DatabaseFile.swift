import CSQLite
import Foundation

/// The bytes of a database file, read through SQLite's own file system.
///
/// Closing any descriptor of a file drops every POSIX lock this process holds on it, also those of
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
