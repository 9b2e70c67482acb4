import CSQLite
import Foundation

/// A temporary copy of a database that has a transaction to roll back.
///
/// Its folder is removed when the last connection to the copy is closed. Nothing outside the folder
/// is written or removed, whatever the journal contains; see `StoreFileSystem`.
final class TemporaryCopy: Sendable {
  /// The path of the copied database, after the rollback.
  let path: String
  /// The original files, as inspected before copying.
  let source: StoreFileInspection
  private let folder: String

  /// Copies the files and rolls back the copy.
  ///
  /// **Cost:** reads and writes the entire database.
  init(of source: StoreFileInspection) throws(SQLiteError) {
    self.source = source
    folder = try TemporaryFolders.make(outside: source.folder)
    path = folder + "/store"
    do throws(SQLiteError) {
      let copied = try RolledBackCopy.copyFiles(of: source.path, to: path)
      try RolledBackCopy.rollBack(path, copiedBytes: copied)
    } catch {
      TemporaryFolders.remove(folder)
      throw error
    }
  }

  deinit {
    TemporaryFolders.remove(folder)
  }
}

/// Copies the files of a store and rolls back the copy.
package enum RolledBackCopy {
  /// Copies a database with its journal and WAL, and rolls back the copy if the journal is hot.
  ///
  /// Nothing outside the copy's folder is written or removed. There must be no file at `copy`.
  ///
  /// - Throws: `SQLITE_CANTOPEN` if a file can't be read or isn't regular, `SQLITE_FULL` if the
  ///   copy can't be written, `SQLITE_IOERR_WRITE` if it can't be created although the disk isn't
  ///   full, `SQLITE_CORRUPT` if the journal is invalid.
  package static func copyStore(from source: String, to copy: String) throws(SQLiteError) {
    let inspection = try StoreFileInspection(path: source)
    let copied = try copyFiles(of: inspection.path, to: copy)
    if inspection.journalIsHot { try rollBack(copy, copiedBytes: copied) }
    chmod(copy, FileStamp.permissions(path: inspection.path) | 0o600)
  }

  /// Copies a database with its journal and WAL.
  ///
  /// - Returns: The number of bytes of the database and its journal.
  static func copyFiles(of source: String, to copy: String) throws(SQLiteError) -> Int64 {
    let copied = try copyDatabase(source, to: copy)
    let journal = try copyFile(source + "-journal", to: copy + "-journal")
    try copyFile(source + "-wal", to: copy + "-wal")
    return copied + (journal ?? 0)
  }

  /// The number of bytes to copy at a time.
  private static let chunk = 1 << 20

  /// Rolls back a copy by opening it for writing and reading from it.
  ///
  /// Closing it checkpoints and removes a WAL.
  ///
  /// - Parameter copiedBytes: The size of the database and its journal. A journal contains most of
  ///   the pages that the database had before and no longer has, so a journal that makes it many
  ///   times larger is invalid; the file would be mostly sparse.
  static func rollBack(_ path: String, copiedBytes: Int64) throws(SQLiteError) {
    try StoreFileSystem.register()
    let handle = try Connection.openFile(
      path, SQLITE_OPEN_READWRITE, fileSystem: StoreFileSystem.name)
    let result = Result { () throws(SQLiteError) in
      try Connection.run("PRAGMA schema_version", on: handle)
    }
    sqlite3_close_v2(handle)
    try result.get()
    let limit = max(
      StoreLimits.restoredSize, copiedBytes.multipliedReportingOverflow(by: 8).partialValue)
    guard let size = FileStamp(path: path)?.size, size <= limit else {
      throw SQLiteError(
        code: .corrupt,
        message: "the database that the rollback journal restores is too large; the limit is "
          + "\(limit) bytes for \(copiedBytes) bytes of database and journal")
    }
  }

  /// Copies a database through SQLite's own VFS, which preserves this process's locks on it.
  ///
  /// - Returns: The number of bytes copied.
  static func copyDatabase(_ source: String, to copy: String) throws(SQLiteError) -> Int64 {
    let file = try DatabaseFile(path: source)
    try checkSpace(for: file.size, of: source, at: copy)
    let target = try create(copy)
    defer { Foundation.close(target) }
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 16)
    defer { part.deallocate() }
    var offset: Int64 = 0
    while offset < file.size {
      let count = try file.read(into: part, at: offset)
      try write(UnsafeRawBufferPointer(rebasing: part[..<count]), to: target)
      offset += Int64(count)
    }
    return offset
  }

  /// Copies a regular file.
  ///
  /// Links, devices, and pipes aren't read.
  ///
  /// - Returns: The number of bytes copied, or `nil` if the file doesn't exist.
  /// - Throws: `SQLITE_CANTOPEN` if it isn't a regular file, `SQLITE_FULL` if the copy can't be
  ///   written, `SQLITE_IOERR_WRITE` if it can't be created although the disk isn't full.
  @discardableResult
  package static func copyFile(_ source: String, to copy: String) throws(SQLiteError) -> Int64? {
    let file = Foundation.open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("read \(source)")
    }
    defer { Foundation.close(file) }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      throw SQLiteError(code: .cantOpen, message: "\(source) isn't a regular file")
    }
    try checkSpace(for: Int64(info.st_size), of: source, at: copy)
    let target = try create(copy)
    defer { Foundation.close(target) }
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 16)
    defer { part.deallocate() }
    var total: Int64 = 0
    while true {
      let count = Foundation.read(file, part.baseAddress, part.count)
      if count == 0 { return total }
      guard count > 0 else { throw failure("read \(source)") }
      try write(UnsafeRawBufferPointer(rebasing: part[..<count]), to: target)
      total += Int64(count)
    }
  }

  /// Throws an error before starting a copy that can't be completed, because a sparse file can be
  /// larger than any disk.
  private static func checkSpace(
    for size: Int64, of source: String, at copy: String
  ) throws(SQLiteError) {
    let folder = copy.lastIndex(of: "/").map { String(copy[..<$0]) } ?? "."
    guard let free = FreeSpace.bytes(atPath: folder.isEmpty ? "/" : folder), UInt64(size) > free
    else { return }
    throw SQLiteError(
      code: .full, message: "couldn't copy \(source): it has \(size) bytes, and \(free) are free")
  }

  private static func create(_ path: String) throws(SQLiteError) -> Int32 {
    let file = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let isFull = errno == ENOSPC || errno == EDQUOT
      throw failure("create \(path)", isFull ? .full : .writeFailed)
    }
    return file
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SQLiteError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(file, part.baseAddress, part.count)
      guard count > 0 else { throw failure("write a temporary copy", .full) }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ attempt: String, _ code: ResultCode = .cantOpen) -> SQLiteError {
    let message = "couldn't \(attempt): \(String(cString: strerror(errno)))"
    return SQLiteError(code: code, message: message)
  }
}
