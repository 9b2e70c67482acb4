import Foundation

/// Stores created by Core Data, in the folder `CDPROF_SHARED`, or `shared` next to the package.
enum SharedStores {
  static let folder: String = {
    if let given = ProcessInfo.processInfo.environment["CDPROF_SHARED"] { return given }
    var url = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { url.deleteLastPathComponent() }
    return url.deletingLastPathComponent().appendingPathComponent("shared").path
  }()

  /// The folder's SQLite databases.
  static let paths: [String] = {
    guard let names = FileManager.default.enumerator(atPath: folder + "/data") else { return [] }
    return names.compactMap { $0 as? String }
      .map { folder + "/data/" + $0 }
      .filter { path in
        let file = FileHandle(forReadingAtPath: path)
        defer { try? file?.close() }
        return (try? file?.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
      }
      .sorted()
  }()

  static let areThere = !paths.isEmpty
  static let mustBeThere = ProcessInfo.processInfo.environment["CI"] == "true"
}
