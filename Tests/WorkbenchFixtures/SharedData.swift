package import Foundation

/// The shared data folder: `CDPROF_SHARED`, or `shared` next to the package.
package enum SharedData {
  /// The folder of the Moody stores written by Core Data; `nil` if the shared data is absent.
  ///
  /// In CI, it's never `nil`, so the tests fail without the data.
  package static var moodyStores: URL? {
    let environment = ProcessInfo.processInfo.environment
    let sibling = PackagedScenarios.folder.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("shared", isDirectory: true)
    let shared = environment["CDPROF_SHARED"].map { URL(fileURLWithPath: $0) } ?? sibling
    let stores = shared.appendingPathComponent("data/moody/stores", isDirectory: true)
    let exists = FileManager.default.fileExists(atPath: stores.path)
    return exists || environment["CI"] == "true" ? stores : nil
  }
}

extension SharedData {
  /// The paths of all stores written by Core Data, relative to the data folder.
  package static let stores =
    ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5"].map { "moody/stores/\($0).moody" }
    + ["SampleModel_V1", "SampleModel_V2", "Recipes"].map { "stores/\($0).sqlite" }

  /// Returns the URL of a file, given its path relative to the data folder.
  package static func url(_ path: String) throws -> URL {
    guard let stores = moodyStores else { throw CocoaError(.fileNoSuchFile) }
    return stores.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(path)
  }
}
