import Foundation

/// A folder that's deleted with this object.
final class TemporaryFolder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("SQLiteDriverTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    setMode(0o755)
    try? FileManager.default.removeItem(atPath: path)
  }

  func setMode(_ mode: mode_t) {
    chmod(path, mode)
  }

  func file(_ name: String) -> String {
    path + "/" + name
  }

  func copy(_ source: String, as name: String) throws {
    try FileManager.default.copyItem(atPath: source, toPath: file(name))
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
  }
}
