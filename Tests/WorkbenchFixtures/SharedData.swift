package import Foundation

/// The shared data folder: `CDPROF_SHARED`, or `shared` beside the package.
package enum SharedData {
  /// The folder of Apple's Moody stores; nil where the shared data is absent.
  ///
  /// Under CI it is always there: the tests then run, and fail without it.
  package static var moodyStores: URL? {
    let environment = ProcessInfo.processInfo.environment
    let beside = ScenarioFiles.folder.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("shared", isDirectory: true)
    let shared = environment["CDPROF_SHARED"].map { URL(fileURLWithPath: $0) } ?? beside
    let stores = shared.appendingPathComponent("data/moody/stores", isDirectory: true)
    let isThere = FileManager.default.fileExists(atPath: stores.path)
    return isThere || environment["CI"] == "true" ? stores : nil
  }
}

extension SharedData {
  /// All of Apple's stores there, as paths below the folder of data.
  package static let stores =
    ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5"].map { "moody/stores/\($0).moody" }
    + ["SampleModel_V1", "SampleModel_V2", "Recipes"].map { "stores/\($0).sqlite" }

  /// A file below the folder of data.
  package static func url(_ path: String) throws -> URL {
    guard let stores = moodyStores else { throw CocoaError(.fileNoSuchFile) }
    return stores.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(path)
  }
}
