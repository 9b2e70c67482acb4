package import Foundation
import SQLiteDriver

/// The temporary folders of this process, so that none is left behind however it ends.
package enum ScratchFolders {
  /// Creates an empty folder.
  ///
  /// - Throws: an `NSError`, when there's no space for it or no permission.
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

  /// Removes a folder with everything in it.
  package static func remove(_ folder: URL) {
    TemporaryFolders.remove(folder.path)
  }

  /// Removes all of them.
  ///
  /// For the end of the process; call it from any thread.
  package static func removeAll() { TemporaryFolders.removeAll() }

  /// Removes the folders that killed processes of this user left behind.
  ///
  /// For the start of the process. Lists the directories for temporary files.
  package static func removeLeftBehind() { TemporaryFolders.removeLeftBehind() }
}
