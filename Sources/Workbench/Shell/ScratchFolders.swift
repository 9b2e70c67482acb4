package import Foundation
import Synchronization

/// The temporary folders of this process, so that none is left behind however it ends.
package enum ScratchFolders {
  private static let open = Mutex<Set<URL>>([])

  /// Makes an empty folder.
  ///
  /// - Throws: the file system's `NSError`.
  package static func make() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cdprof-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    open.withLock { _ = $0.insert(folder) }
    return folder
  }

  /// Removes a folder with all that is in it.
  package static func remove(_ folder: URL) {
    guard open.withLock({ $0.remove(folder) }) != nil else { return }
    // A folder that cannot be removed is the system's to clean up.
    try? FileManager.default.removeItem(at: folder)
  }

  /// Removes all of them.
  ///
  /// For the end of the process; call it from any thread.
  package static func removeAll() {
    for folder in open.withLock({ $0 }) { remove(folder) }
  }
}
