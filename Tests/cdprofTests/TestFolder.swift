import Foundation

/// A temporary folder that is removed when the test ends.
final class TestFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("cdprof-program-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
      at: url.appendingPathComponent("tmp"), withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func file(_ name: String) -> URL {
    url.appendingPathComponent(name)
  }

  /// Writes a file, creates its folders if necessary, and returns its path.
  func write(_ text: String, to name: String) throws -> String {
    try FileManager.default.createDirectory(
      at: file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file(name))
    return file(name).path
  }
}
