package import Foundation

/// The names and contents of all files in a folder, for comparison with a later state.
package struct FolderState: Equatable {
  private let files: [String: Data]

  package init(_ folder: URL) throws {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      files[name] = try? Data(contentsOf: folder.appendingPathComponent(name))
    }
    self.files = files
  }

  /// Returns the size of a file in bytes; 0 if it doesn't exist.
  package func size(of name: String) -> Int { files[name]?.count ?? 0 }
}
