import Foundation
import Synchronization

/// The temporary folders of this process, for temporary copies and scratch stores.
///
/// A process keeps a lock on each of its folders while it runs. An unlocked folder was left behind
/// by a process that was killed, and `removeLeftBehind()` removes it.
package enum TemporaryFolders {
  /// The descriptors that keep the locks, by path.
  private static let open = Mutex<[String: Int32]>([:])

  private static let prefix = "cdprof-scratch-"
  /// The name of an empty file in each folder.
  ///
  /// Only folders that contain it are removed.
  private static let marker = ".cdprof-scratch"

  /// Creates an empty folder that only this user can access, and returns its path.
  ///
  /// - Parameter folder: A folder, with links resolved, in which not to create the new folder
  ///   directly; `nil` for none.
  /// - Throws: `SQLITE_FULL` with the reason if there's no space or no permission.
  package static func make(outside folder: String? = nil) throws(SQLiteError) -> String {
    try make(outside: folder, in: parents)
  }

  static func make(
    outside folder: String?, in parents: [String]
  ) throws(SQLiteError) -> String {
    var reason = ENOENT
    for parent in parents where folder == nil || StoreFileInspection.resolved(parent) != folder {
      for _ in 0..<maximumAttempts {
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
          reason = errno
          break
        }
        let path = String(cString: made)
        if claim(path) { return path }
        reason = errno
        rmdir(path)
      }
    }
    throw SQLiteError(
      code: .full,
      message: "could not create a temporary folder: \(String(cString: strerror(reason)))")
  }

  /// Removes a folder with its contents, without following links.
  ///
  /// A folder of another process, or one that was already removed, isn't affected. What can't be
  /// removed after `maximumRemovals` attempts stays until `removeLeftBehind()`, which an app might
  /// never call.
  package static func remove(_ path: String) {
    guard let lock = open.withLock({ $0.removeValue(forKey: path) }) else { return }
    var attempts = 1
    while !removeTree(AT_FDCWD, path, depth: 0), attempts < maximumRemovals { attempts += 1 }
    // Release the lock last: until then, no other process removes the folder.
    close(lock)
  }

  /// Removes all folders of this process.
  ///
  /// Call this method from any thread before the process ends.
  package static func removeAll() {
    for path in open.withLock({ Array($0.keys) }) { remove(path) }
  }

  /// Removes the folders that killed processes of this user left behind.
  ///
  /// Lists the directories for temporary files. Links aren't followed, and a folder that a running
  /// process has locked isn't removed.
  package static func removeLeftBehind() { removeLeftBehind(in: parents) }

  static func removeLeftBehind(in parents: [String]) {
    for parent in Set(parents.map(StoreFileInspection.resolved)) {
      let directory = Foundation.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard directory >= 0 else { continue }
      defer { close(directory) }
      for name in names(in: directory) ?? [] where name.hasPrefix(prefix) {
        removeIfLeftBehind(name, in: directory)
      }
    }
  }

  // MARK: Where

  private static let maximumAttempts = 8
  private static let maximumRemovals = 3

  private static var parents: [String] {
    let chosen = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
    return chosen.filter { !$0.isEmpty } + ["/tmp", "/var/tmp"]
  }

  // MARK: Locks

  /// Locks and marks a new folder.
  ///
  /// Returns `false` if another process treated it as left behind and removed it first.
  private static func claim(_ path: String) -> Bool {
    let directory = openFolder(AT_FDCWD, path)
    guard directory >= 0 else { return false }
    // The lock is shared, so that a migration in the folder can have another one. `EWOULDBLOCK`:
    // another process has the exclusive lock and is removing the folder. Any other error means that
    // the file system has no locks; there, no folder is considered left behind.
    if !lock(directory, LOCK_SH), errno == EWOULDBLOCK {
      close(directory)
      return false
    }
    let file = openat(
      directory, marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let reason = errno
      close(directory)
      errno = reason
      return false
    }
    close(file)
    open.withLock { $0[path] = directory }
    return true
  }

  /// Locks a folder without waiting, and returns whether it succeeded.
  private static func lock(_ directory: Int32, _ kind: Int32) -> Bool {
    flock(directory, kind | LOCK_NB) == 0
  }

  private static func removeIfLeftBehind(_ name: String, in parent: Int32) {
    let directory = openFolder(parent, name)
    guard directory >= 0 else { return }
    defer { close(directory) }
    var info = stat()
    guard fstat(directory, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o077 == 0,
      lock(directory, LOCK_EX)
    else { return }
    // A process killed before it marked its folder hasn't put anything into it.
    guard isMarked(directory) else {
      unlinkat(parent, name, AT_REMOVEDIR)
      return
    }
    removeTree(parent, name, depth: 0)
  }

  private static func isMarked(_ directory: Int32) -> Bool {
    var info = stat()
    return fstatat(directory, marker, &info, AT_SYMLINK_NOFOLLOW) == 0
      && info.st_mode & S_IFMT == S_IFREG && info.st_uid == geteuid()
  }

  // MARK: Trees

  /// The maximum depth to remove, which exceeds that of created folders.
  private static let maximumDepth = 16

  /// Removes a folder and its contents, and returns whether nothing of it remains.
  ///
  /// Links are removed, not followed.
  @discardableResult
  private static func removeTree(_ parent: Int32, _ name: String, depth: Int) -> Bool {
    guard depth < maximumDepth else { return false }
    let directory = openFolder(parent, name)
    guard directory >= 0 else { return false }
    // Without all names, the mark has to stay.
    guard let all = names(in: directory) else {
      close(directory)
      return false
    }
    var isRemoved = true
    for entry in all where entry != marker {
      var info = stat()
      guard fstatat(directory, entry, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
        isRemoved = errno == ENOENT && isRemoved
        continue
      }
      if info.st_mode & S_IFMT == S_IFDIR {
        isRemoved = removeTree(directory, entry, depth: depth + 1) && isRemoved
      } else {
        isRemoved = unlinkat(directory, entry, 0) == 0 && isRemoved
      }
    }
    // A folder of which something remains is still recognized, and removed later.
    if isRemoved, all.contains(marker) { unlinkat(directory, marker, 0) }
    close(directory)
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 && isRemoved
  }

  private static func openFolder(_ parent: Int32, _ name: String) -> Int32 {
    openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }

  /// Returns the names in a folder without `.` and `..`, or `nil` if it can't be listed to its end.
  private static func names(in directory: Int32) -> [String]? {
    let copy = dup(directory)
    guard let stream = fdopendir(copy) else {
      if copy >= 0 { close(copy) }
      return nil
    }
    defer { closedir(stream) }
    rewinddir(stream)
    var names: [String] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
      errno = 0
    }
    return errno == 0 ? names : nil
  }
}
