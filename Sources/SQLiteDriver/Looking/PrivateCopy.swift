import CSQLite
import Foundation

/// A copy of a database with a transaction to roll back, in a folder of its own under the system's
/// temporary one.
///
/// The folder goes when the last connection that reads the copy does.
final class PrivateCopy: Sendable {
  /// The copied database, rolled back and at rest.
  let path: String
  /// What was copied, as it was found before.
  let source: StoreFileInspection
  private let folder: String

  /// Copies the files and lets SQLite roll the copy back.
  ///
  /// Costs reading and writing all of it.
  init(of source: StoreFileInspection) throws(SQLiteError) {
    self.source = source
    folder = try PrivateCopy.makeFolder(outside: source.folder)
    path = folder + "/store"
    do throws(SQLiteError) {
      try copyDatabase(source.path)
      for suffix in ["-journal", "-wal"] {
        try copyNeighbour(from: source.path + suffix, to: path + suffix)
      }
      try rollBack()
    } catch {
      remove()
      throw error
    }
  }

  deinit {
    remove()
  }

  private func remove() {
    for suffix in ["", "-journal", "-wal", "-shm"] {
      unlink(path + suffix)
    }
    rmdir(folder)
  }

  /// Opening for writing and reading once rolls back; closing applies and removes a log.
  private func rollBack() throws(SQLiteError) {
    let handle = try Connection.openFile(path, SQLITE_OPEN_READWRITE)
    defer { sqlite3_close_v2(handle) }
    try Connection.run("PRAGMA schema_version", on: handle)
  }

  private func copyDatabase(_ source: String) throws(SQLiteError) {
    let file = try DatabaseFile(path: source)
    let target = try PrivateCopy.create(path)
    defer { Foundation.close(target) }
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: PrivateCopy.chunk, alignment: 16)
    defer { part.deallocate() }
    var offset: Int64 = 0
    while offset < file.size {
      let count = try file.read(into: part, at: offset)
      try PrivateCopy.write(UnsafeRawBufferPointer(rebasing: part[..<count]), to: target)
      offset += Int64(count)
    }
  }

  /// Journals and logs carry no locks, so they are read directly.
  ///
  /// A file that is not there is none.
  private func copyNeighbour(from source: String, to copy: String) throws(SQLiteError) {
    let file = Foundation.open(source, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return }
      throw PrivateCopy.failure("read \(source)")
    }
    defer { Foundation.close(file) }
    let target = try PrivateCopy.create(copy)
    defer { Foundation.close(target) }
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: PrivateCopy.chunk, alignment: 16)
    defer { part.deallocate() }
    while true {
      let count = Foundation.read(file, part.baseAddress, part.count)
      if count == 0 { return }
      guard count > 0 else { throw PrivateCopy.failure("read \(source)") }
      try PrivateCopy.write(UnsafeRawBufferPointer(rebasing: part[..<count]), to: target)
    }
  }
}

extension PrivateCopy {
  /// Bytes moved at once.
  private static let chunk = 1 << 20

  /// A new folder only this user can enter, not in the folder that must stay as it is.
  private static func makeFolder(outside folder: String) throws(SQLiteError) -> String {
    let chosen = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
    for parent in chosen + ["/tmp", "/var/tmp"] {
      if parent.isEmpty || StoreFileInspection.resolved(parent) == folder { continue }
      var template = Array((parent + "/cdprof-XXXXXX").utf8CString)
      if let made = mkdtemp(&template) { return String(cString: made) }
    }
    throw failure("make a temporary folder")
  }

  private static func create(_ path: String) throws(SQLiteError) -> Int32 {
    let file = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("create \(path)") }
    return file
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SQLiteError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(file, part.baseAddress, part.count)
      guard count > 0 else { throw failure("write a private copy") }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ attempt: String) -> SQLiteError {
    let reason = errno
    let code: ResultCode = reason == ENOSPC ? .full : .cantOpen
    let message = "could not \(attempt): \(String(cString: strerror(reason)))"
    return SQLiteError(code: code, message: message)
  }
}
