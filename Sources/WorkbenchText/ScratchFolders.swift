package import Foundation
import SQLiteDriver

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

  /// Removes all temporary folders of this process.
  ///
  /// Call this method when the process ends. It can be called on any thread.
  package static func removeAll() { TemporaryFolders.removeAll() }

  /// Removes the folders that were left by killed processes of this user.
  ///
  /// Call this method when the process starts. It lists the directories for temporary files.
  package static func removeLeftBehind() { TemporaryFolders.removeLeftBehind() }
}
