import Glibc
import OpenCoreData

/// The folder for the temporary files of a test process, which is removed when the process exits.
///
/// A process that's killed, or that an exit test ends with a fatal error, leaves its folder. The
/// next process that exits removes it: each one locks its own folder as long as it runs.
enum ProcessFolder {
  private static let prefix = "OpenCoreDataTestProcess-"

  /// Creates an empty folder for a test.
  static func makeFolder() throws -> URL {
    let folder = url.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static let url: URL = {
    let files = FileManager.default
    var folder = files.temporaryDirectory.appendingPathComponent(prefix + UUID().uuidString)
    // Another process can remove the folder before it's locked.
    for _ in 0..<10 {
      try? files.createDirectory(at: folder, withIntermediateDirectories: true)
      if lock(folder, LOCK_EX) != nil, files.fileExists(atPath: folder.path) { break }
      folder = files.temporaryDirectory.appendingPathComponent(prefix + UUID().uuidString)
    }
    atexit { ProcessFolder.removeFolders() }
    return folder
  }()

  /// Removes the folders of this process and of those that have ended.
  private static func removeFolders() {
    let files = FileManager.default
    try? files.removeItem(at: url)
    let parent = files.temporaryDirectory
    let names = (try? files.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let folder = parent.appendingPathComponent(name)
      guard let file = lock(folder, LOCK_EX | LOCK_NB) else { continue }
      try? files.removeItem(at: folder)
      close(file)
    }
  }

  /// Locks a folder until the returned file is closed; returns `nil` if that fails.
  private static func lock(_ folder: URL, _ operation: Int32) -> Int32? {
    let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    guard flock(file, operation) == 0 else {
      close(file)
      return nil
    }
    return file
  }
}
