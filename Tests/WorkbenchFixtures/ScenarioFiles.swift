package import Foundation

/// Finds the scenario files of the package, whatever folder the tests run in.
package enum ScenarioFiles {
  package static var folder: URL {
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

  /// All scenario files, sorted by path.
  package static var all: [URL] {
    let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return (files ?? []).filter { $0.hasSuffix(".yml") }.sorted()
      .map { folder.appendingPathComponent($0) }
  }

  /// Each file with scale 1 and with scale 10.
  ///
  /// The scenarios in `Scenarios` itself have many rows, so they use scale 3 instead of 10.
  package static var runs: [(file: URL, scale: Int)] {
    all.flatMap { file in
      let isFirst = file.deletingLastPathComponent().lastPathComponent == folder.lastPathComponent
      return [(file, 1), (file, isFirst ? 3 : 10)]
    }
  }
}
