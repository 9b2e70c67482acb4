package import Foundation
import SQLiteDriver
import Synchronization

/// The temporary files and folders next to outputs that are being written.
///
/// If Ctrl-C ends the process, the thread that writes doesn't remove them.
final class UnfinishedOutputs: Sendable {
  /// Those of this process.
  static let shared = UnfinishedOutputs()

  private let paths = Mutex<Set<String>>([])
  /// Whether the files and folders are being removed; locked while files are moved to their place.
  private let isEnding = Mutex(false)

  /// Returns whether a path was added and not removed.
  func contains(_ path: String) -> Bool {
    paths.withLock { $0.contains(path) }
  }

  /// Adds the path of a file or folder before it's created.
  func add(_ path: String) {
    paths.withLock { _ = $0.insert(path) }
  }

  /// Removes the path of a file or folder that no longer exists.
  func remove(_ path: String) {
    paths.withLock { _ = $0.remove(path) }
  }

  /// Calls a closure before `removeAll()` removes anything.
  ///
  /// - Returns: Whether the closure was called; `false` after `removeAll()`.
  /// - Throws: The closure's errors.
  func whileKept(_ body: () throws -> Void) throws -> Bool {
    try isEnding.withLock { isEnding -> Bool in
      if !isEnding { try body() }
      return !isEnding
    }
  }

  /// Removes all files and folders, after files that are being moved have reached their place.
  func removeAll() {
    isEnding.withLock { $0 = true }
    let all = paths.withLock { paths in
      defer { paths = [] }
      return paths
    }
    for path in all {
      // Another thread can add a file to a folder while it's being removed.
      for _ in 0..<3 where FileKind.mode(of: path, followingLinks: false) != nil {
        try? FileManager.default.removeItem(atPath: path)
      }
    }
  }
}

/// Creates and removes the temporary folders of this process.
package enum ScratchFolders {
  /// Creates an empty folder.
  ///
  /// - Throws: An `NSError` if there's no space or no permission.
  package static func make() throws -> URL {
    do {
      return URL(fileURLWithPath: try TemporaryFolders.make(), isDirectory: true)
    } catch {
      throw NSError(
        domain: NSCocoaErrorDomain, code: CocoaError.Code.fileWriteOutOfSpace.rawValue,
        userInfo: [
          NSLocalizedDescriptionKey: "\(error.message). Free some space, or set TMPDIR to a folder "
            + "that has some."
        ])
    }
  }

  /// Removes a folder and its contents.
  package static func remove(_ folder: URL) {
    TemporaryFolders.remove(folder.path)
  }

  /// Removes all temporary folders of this process, including those next to outputs that are being
  /// written.
  ///
  /// Call this method when the process ends. It can be called on any thread.
  package static func removeAll() {
    UnfinishedOutputs.shared.removeAll()
    TemporaryFolders.removeAll()
  }

  /// Removes the folders that were left by killed processes of this user.
  ///
  /// Call this method when the process starts. It lists the directories for temporary files.
  package static func removeLeftBehind() { TemporaryFolders.removeLeftBehind() }
}
