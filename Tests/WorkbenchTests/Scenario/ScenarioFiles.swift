import Foundation

/// Finds the scenario files of the package, whatever folder the tests run in.
enum ScenarioFiles {
  static var folder: URL {
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let scenarios = folder.appendingPathComponent("Scenarios", isDirectory: true)
      if FileManager.default.fileExists(atPath: scenarios.appendingPathComponent("faults.yml").path)
      {
        return scenarios
      }
    }
    return folder
  }

  /// All scenario files, by name.
  static var all: [URL] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".yml") }.sorted().map { folder.appendingPathComponent($0) }
  }
}
