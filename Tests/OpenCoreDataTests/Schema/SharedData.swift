import Foundation
import OpenCoreData
import SQLiteDriver
import Testing

/// The folder with real stores and models, which lies beside the package or where CDPROF_SHARED
/// says.
enum SharedData {
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["CDPROF_SHARED"] {
      return URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent("data")
    }
    var package = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appendingPathComponent("shared/data")
  }()

  /// False skips a test.
  ///
  /// Under CI the folder has to be there, so the test runs and fails.
  static var isHere: Bool {
    FileManager.default.fileExists(atPath: folder.path)
      || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  static let absence: Comment = "There's no folder shared beside the package."

  static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

  /// A connection to a copy of a store in a folder of its own.
  static func copy(of path: String) throws -> Connection {
    let scratch = try scratchFolder().appendingPathComponent("store.sqlite")
    try FileManager.default.copyItem(at: url(path), to: scratch)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: scratch.path)
    return try Connection(path: scratch.path, access: .writing)
  }

  /// A connection to a new empty file.
  static func newFile() throws -> Connection {
    let scratch = try scratchFolder().appendingPathComponent("store.sqlite")
    return try Connection(
      path: scratch.path, access: .writing,
      options: .init(pragmas: [("page_size", "4096"), ("auto_vacuum", "2")]))
  }

  private static func scratchFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cdprof-sql-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}
