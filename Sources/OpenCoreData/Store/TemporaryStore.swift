import SQLiteDriver

/// A new store next to the one that it replaces when it's complete.
///
/// If the process is killed, the next open of the store for writing, or the next operation on it, removes the
/// temporary store. As long as the value exists, no other process or thread does.
final class TemporaryStore {
  /// The file, on the same volume, which doesn't exist yet.
  let url: URL
  private let remains: MigrationRemains
  private let claim: FolderClaim

  /// Removes what earlier operations on a store left, and reserves the URL of a new one.
  ///
  /// - Parameter destination: The store to be replaced, which doesn't have to exist.
  init(replacing destination: URL) {
    remains = MigrationRemains(of: destination)
    remains.removeTemporaryStores()
    claim = FolderClaim(destination.deletingLastPathComponent())
    url = remains.temporaryStore()
    remains.note()
  }

  /// Ends the operation, and removes the files of the store if it hasn't been moved.
  func remove() {
    let isRemoved = (try? StoreFile.remove(at: url)) != nil
    if isRemoved { remains.finishIfEmpty() }
    claim.release()
  }
}

/// Keeps the temporary stores in a folder from being removed by others.
///
/// The claim is a shared lock on the folder, which ends with the process. On a file system without such locks, no
/// temporary store is ever removed by others.
final class FolderClaim {
  private var descriptor: Int32

  /// Claims a folder; waits up to a tenth of a second while another process removes temporary stores from it.
  ///
  /// A program that locks the folder for longer also keeps temporary stores from being removed.
  init(_ folder: URL) {
    descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<100 where descriptor >= 0 {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK { break }
      usleep(1_000)
    }
  }

  /// Ends the claim.
  func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  deinit { release() }
}
