import Foundation

/// Detects POSIX locks on a file, including those of the same process.
///
/// Locks of an open file description conflict with those of the same process. The descriptor stays
/// open because closing it would release the process's locks.
struct LockProbe {
  private let file: Int32

  init(_ path: String) {
    file = open(path, O_RDWR)
  }

  /// Whether one of SQLite's bytes is locked.
  var isLocked: Bool {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0000
    lock.l_len = 512
    // F_OFD_GETLK, which isn't imported into Swift.
    return fcntl(file, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }
}
