import Foundation

/// Sees the POSIX locks that connections of this very process hold on a file.
///
/// Locks of an open file description conflict with those of its own process, so asking for one
/// tells. The descriptor stays open: closing it would drop the locks it is to see.
struct LockProbe {
  private let file: Int32

  init(_ path: String) {
    file = open(path, O_RDWR)
  }

  /// Whether somebody holds one of SQLite's locks.
  var isLocked: Bool {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0000
    lock.l_len = 512
    // F_OFD_GETLK; Swift does not see the name.
    return fcntl(file, 36, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }
}
