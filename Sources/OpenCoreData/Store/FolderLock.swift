import ManagedModel

/// Keeps the temporary stores in a folder from being removed by others.
///
/// It's a shared lock on the folder, which ends with the process. On a file system without such
/// locks, no temporary store is ever removed by others.
final class FolderLock {
  private var descriptor: Int32

  /// Locks a folder; waits up to a tenth of a second while another process removes temporary stores
  /// from it.
  ///
  /// A program that locks the folder for longer also keeps temporary stores from being removed.
  init(_ folder: URL) {
    descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<100 where descriptor >= 0 {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK { break }
      usleep(1_000)
    }
  }

  /// Releases the lock.
  func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  deinit { release() }
}
