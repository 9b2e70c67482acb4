import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Keeps the handlers of a store's migration stages from running twice at a time.
///
/// It's a lock on a hidden file next to the store, which ends with the process. If the process is
/// killed, the file stays until the store is opened for writing. On a file system without such
/// locks, there's none.
final class StageLock {
  private let path: String
  private let descriptor: Int32

  /// Locks the stages of a store; waits while another thread or process has the lock.
  ///
  /// - Parameter timeout: How long to wait, in milliseconds.
  /// - Throws: `SQLITE_BUSY` if the lock can't be had in time, `FileProblem` if its file can't be
  ///   created.
  init(of url: URL, timeout: Int32) throws {
    path = Self.path(of: url)
    descriptor = try Self.lock(path, timeout)
  }

  private static func path(of url: URL) -> String {
    "\(url.deletingLastPathComponent().path)/.\(url.lastPathComponent).stages"
  }

  private static func lock(_ path: String, _ timeout: Int32) throws -> Int32 {
    let start = MonotonicClock.now()
    let patience = UInt64(max(0, timeout)) * 1_000_000
    while true {
      let file = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
      guard file >= 0 else { throw FileProblem(errno) }
      if flock(file, LOCK_EX | LOCK_NB) == 0 {
        // The former owner may have removed the file in the meantime.
        if isFile(file, at: path) { return file }
      } else if errno != EWOULDBLOCK {
        return file
      }
      close(file)
      guard MonotonicClock.now() - start < patience else {
        throw SQLiteError(code: .busy, message: "the stages of its migration run elsewhere")
      }
      usleep(1_000)
    }
  }

  /// Returns whether an open file is the one at a path.
  private static func isFile(_ file: Int32, at path: String) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(file, &opened) == 0 && lstat(path, &named) == 0
      && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
  }

  /// Removes the file of a lock that no thread or process has.
  ///
  /// **Cost:** one `lstat` if there's none.
  static func removeAbandoned(of url: URL) {
    let path = Self.path(of: url)
    guard FileStamp.exists(path: path) else { return }
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return }
    if flock(file, LOCK_EX | LOCK_NB) == 0, isFile(file, at: path) { unlink(path) }
    close(file)
  }

  /// Releases the lock, once.
  func release() {
    unlink(path)
    close(descriptor)
  }
}
