import Foundation

/// Files of the package and of the shared data folder.
enum PackageFiles {
  /// The folder that contains `Scenarios`.
  private static let package: URL = {
    var folder = URL(fileURLWithPath: #filePath)
    repeat {
      folder.deleteLastPathComponent()
    } while folder.path != "/"
      && !FileManager.default.fileExists(
        atPath: folder.appendingPathComponent("Scenarios/faults.yml").path)
    return folder
  }()

  /// The path of `Sources`.
  static let sources = package.appendingPathComponent("Sources").path

  /// The path of `Scripts`.
  static let scripts = package.appendingPathComponent("Scripts").path

  /// The folder `Documentation`.
  static let documentation = package.appendingPathComponent("Documentation")

  /// The paths of all scenarios, relative to `Scenarios`.
  static let scenarios: [String] = {
    let folder = package.appendingPathComponent("Scenarios").path
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
    return (files ?? []).filter { $0.hasSuffix(".yml") }.sorted()
  }()

  /// Returns the path of a scenario, given its path relative to `Scenarios`.
  static func scenario(_ name: String) -> String {
    package.appendingPathComponent("Scenarios/\(name)").path
  }

  static let faults = package.appendingPathComponent("Scenarios/faults.yml").path
  static let moodList = package.appendingPathComponent("Scenarios/mood-list.yml").path
  static let model = package.appendingPathComponent("Scenarios/Models/Moody.xcdatamodel").path

  /// A model with several versions.
  static let articles = package.appendingPathComponent(
    "Scenarios/Models/Articles.xcdatamodeld"
  ).path

  /// A store that the book's sample app created; `nil` if the shared data is absent.
  ///
  /// In CI, it's never `nil`, so the tests fail without the data.
  static var moody: String? {
    let environment = ProcessInfo.processInfo.environment
    let shared =
      environment["CDPROF_SHARED"].map { URL(fileURLWithPath: $0) }
      ?? package.deletingLastPathComponent().appendingPathComponent("shared")
    let store = shared.appendingPathComponent("data/moody/stores/Moody.moody").path
    let exists = FileManager.default.fileExists(atPath: store)
    return exists || environment["CI"] == "true" ? store : nil
  }
}
