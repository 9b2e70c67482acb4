import Foundation
import Testing

/// The folder of real models and stores that tests read when it is there.
enum SharedData {
  /// The folder that `CDPROF_SHARED` names, or `shared` beside the package, with `data` in it.
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["CDPROF_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("data")
    }
    var package = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appendingPathComponent("shared/data")
  }()

  /// Whether tests that need the folder run; where CI is set they always do.
  static var isUsed: Bool {
    ProcessInfo.processInfo.environment["CI"] == "true"
      || FileManager.default.fileExists(atPath: folder.path)
  }

  /// Why the tests are skipped.
  static let reason: Comment = "The folder of real models and stores is not there."

  /// The paths below the folder that end in a given way, sorted.
  static func paths(endingIn suffix: String) -> [String] {
    let found = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return (found ?? []).filter { $0.hasSuffix(suffix) }.sorted()
  }

  /// The URL of a path below the folder.
  static func url(_ path: String) -> URL {
    folder.appendingPathComponent(path)
  }
}
