import Foundation

/// The package's own folder, read as text by the tests of this target.
enum Repository {
  /// The folder that holds Package.swift.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every Swift file below Sources.
  static let sources = swiftFiles(below: "Sources")

  /// Every Swift file below Tests.
  static let tests = swiftFiles(below: "Tests")

  /// Those of the example packages too.
  static let allTests = tests + swiftFiles(below: "Examples")

  /// The text of a file named by its path from the root.
  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The lines of a file named by its path from the root.
  static func lines(of path: String) throws -> [String] {
    try text(of: path).components(separatedBy: "\n")
  }

  /// Whether a file or folder of that path exists.
  static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  /// The paths of all files below a folder, sorted, hidden ones left out.
  static func files(below folder: String) -> [String] {
    let top = root.appending(path: folder).resolvingSymlinksInPath().path
    guard let found = FileManager.default.enumerator(atPath: top) else { return [] }
    return found.compactMap { $0 as? String }
      .filter { path in !path.split(separator: "/").contains { $0.hasPrefix(".") } }
      .map { "\(folder)/\($0)" }
      .sorted()
  }

  private static func swiftFiles(below folder: String) -> [SourceFile] {
    files(below: folder).filter { $0.hasSuffix(".swift") }.compactMap { path in
      (try? text(of: path)).map { SourceFile(path: path, text: $0) }
    }
  }
}
