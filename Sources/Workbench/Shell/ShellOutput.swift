import Foundation

/// A file that takes the shell's answers.
final class ShellOutput {
  /// As it was given.
  let path: String
  private let handle: FileHandle

  /// Opens a file to add to its end; makes it when it is not there.
  ///
  /// - Throws: the file system's `NSError`.
  init(path: String) throws {
    self.path = path
    let url = URL(fileURLWithPath: path)
    handle = try OutputFile.naming(url, "written") {
      if !FileManager.default.fileExists(atPath: path) {
        try Data().write(to: url, options: .withoutOverwriting)
      }
      let handle = try FileHandle(forWritingTo: url)
      try handle.seekToEnd()
      return handle
    }
  }

  deinit {
    // Nobody is left to be told; every write was checked.
    try? handle.close()
  }

  /// Adds lines.
  ///
  /// - Throws: the file system's `NSError`, such as for a full disk.
  func add(_ lines: [String]) throws {
    guard !lines.isEmpty else { return }
    try handle.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
  }
}
