import Foundation
import OpenCoreData
import SQLiteDriver
import Testing

/// The folder of stores and models written by Apple's tools: `CDPROF_SHARED`, or `shared` next to
/// the package.
enum SharedData {
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["CDPROF_SHARED"] {
      return URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent("data")
    }
    var package = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appendingPathComponent("shared/data")
  }()

  /// Whether tests that need the folder run; in CI, they run and fail if it's missing.
  static var isHere: Bool {
    FileManager.default.fileExists(atPath: folder.path)
      || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  static let absence: Comment = "There's no folder 'shared' next to the package."

  static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

  /// A connection to a copy of a store in a new folder.
  static func copy(of path: String) throws -> Connection {
    let scratch = try ProcessFolder.makeFolder().appendingPathComponent("store.sqlite")
    try FileManager.default.copyItem(at: url(path), to: scratch)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: scratch.path)
    return try Connection(path: scratch.path, access: .writing)
  }

  /// A connection to a new empty file.
  static func newFile() throws -> Connection {
    let scratch = try ProcessFolder.makeFolder().appendingPathComponent("store.sqlite")
    return try Connection(
      path: scratch.path, access: .writing,
      options: .init(pragmas: [("page_size", "4096"), ("auto_vacuum", "2")]))
  }
}
