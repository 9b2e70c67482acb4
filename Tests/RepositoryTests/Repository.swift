import Foundation

/// The files of this repository.
enum Repository {
  /// The folder that contains Package.swift.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// All Swift files in Sources.
  static let sources = swiftFiles(below: "Sources")

  /// All Swift files in Tests.
  static let tests = swiftFiles(below: "Tests")

  /// All Swift files in Tests and in the example packages.
  static let allTests = tests + swiftFiles(below: "Examples")

  /// Returns the text of the file at a path relative to the root folder.
  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns the lines of the file at a path relative to the root folder.
  static func lines(of path: String) throws -> [String] {
    try text(of: path).components(separatedBy: "\n")
  }

  /// Whether a file or folder exists at a path relative to the root folder.
  static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  /// Returns the sorted paths of all files in a folder and its subfolders, except hidden ones.
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
