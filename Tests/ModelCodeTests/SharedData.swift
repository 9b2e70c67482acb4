import Foundation
import Testing

/// The folder of models and stores written by Apple's tools, for tests that need it.
enum SharedData {
  /// The folder `data` in `CDPROF_SHARED`, or in `shared` next to the package.
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["CDPROF_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("data")
    }
    var package = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appendingPathComponent("shared/data")
  }()

  /// Whether tests that need the folder run; in CI, they always do.
  static var isUsed: Bool {
    ProcessInfo.processInfo.environment["CI"] == "true"
      || FileManager.default.fileExists(atPath: folder.path)
  }

  /// Why the tests are skipped.
  static let reason: Comment = "The folder of real models and stores doesn't exist."

  /// The paths in the folder with a suffix, sorted.
  static func paths(endingIn suffix: String) -> [String] {
    let found = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return (found ?? []).filter { $0.hasSuffix(suffix) }.sorted()
  }

  /// The URL of a path in the folder.
  static func url(_ path: String) -> URL {
    folder.appendingPathComponent(path)
  }
}
