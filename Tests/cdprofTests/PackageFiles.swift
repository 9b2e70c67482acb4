import Foundation

/// Files of the package, and of the folder of real data beside it.
enum PackageFiles {
  /// The folder that holds `Scenarios`.
  private static let package: URL = {
    var folder = URL(fileURLWithPath: #filePath)
    repeat {
      folder.deleteLastPathComponent()
    } while folder.path != "/"
      && !FileManager.default.fileExists(
        atPath: folder.appendingPathComponent("Scenarios/faults.yml").path)
    return folder
  }()

  /// The folder of the modules' sources.
  static let sources = package.appendingPathComponent("Sources").path

  /// All scenarios of the package, by their paths below `Scenarios`.
  static let scenarios: [String] = {
    let folder = package.appendingPathComponent("Scenarios").path
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
    return (files ?? []).filter { $0.hasSuffix(".yml") }.sorted()
  }()

  /// The path of a scenario below `Scenarios`.
  static func scenario(_ name: String) -> String {
    package.appendingPathComponent("Scenarios/\(name)").path
  }

  static let faults = package.appendingPathComponent("Scenarios/faults.yml").path
  static let moodList = package.appendingPathComponent("Scenarios/mood-list.yml").path
  static let model = package.appendingPathComponent("Scenarios/Models/Moody.xcdatamodel").path

  /// The store that the book's sample wrote; nil where the shared data is absent.
  ///
  /// Under CI it is always there: the tests then run, and fail without it.
  static var moody: String? {
    let environment = ProcessInfo.processInfo.environment
    let shared =
      environment["CDPROF_SHARED"].map { URL(fileURLWithPath: $0) }
      ?? package.deletingLastPathComponent().appendingPathComponent("shared")
    let store = shared.appendingPathComponent("data/moody/stores/Moody.moody").path
    let isThere = FileManager.default.fileExists(atPath: store)
    return isThere || environment["CI"] == "true" ? store : nil
  }
}
