package import Foundation

/// Names and bytes of all files in a folder, to be compared with what they are later.
package struct FolderState: Equatable {
  private let files: [String: Data]

  package init(_ folder: URL) throws {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      files[name] = try? Data(contentsOf: folder.appendingPathComponent(name))
    }
    self.files = files
  }

  /// In bytes; 0 for a file that doesn't exist.
  package func size(of name: String) -> Int { files[name]?.count ?? 0 }
}
