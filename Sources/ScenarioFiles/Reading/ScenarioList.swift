package import Foundation
import OpenCoreData
import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// The scenarios in folders: the installed ones and the user's own.
package struct ScenarioList: Sendable {
  /// A folder and its scenarios, sorted by chapter and path.
  package struct Folder: Sendable {
    /// The path as it was given.
    package let path: String
    fileprivate(set) package var entries: [Entry]
  }

  /// A scenario and its path in the folder.
  package struct Entry: Sendable {
    package let path: String
    package let scenario: Scenario

    /// The names of the metrics that the scenario has expectations for, in the order of the
    /// metrics.
    package var metrics: [String] {
      let names = Set(scenario.expectations.map(\.metric.metric))
      return Metric.allCases.filter(names.contains).map(\.rawValue)
    }

    fileprivate var isBefore: (Int, String) { (scenario.chapter ?? .max, path) }
  }

  /// The metrics that a scenario can have expectations for.
  package static let metrics = Metric.allCases.filter(\.isExact).map(\.rawValue)

  /// The folders that contain scenarios.
  private(set) package var folders: [Folder] = []
  /// The errors of the files that couldn't be read, in the order of the files.
  private(set) package var errors: [any Error] = []

  /// Reads the scenarios in a folder and its subfolders.
  ///
  /// **Cost:** reads every file and its model.
  ///
  /// - Throws: `InvalidInputError` if the folder doesn't exist or doesn't contain scenarios.
  package init(folder: String) throws {
    try add(folder, ScenarioFinder.files(at: folder).map(\.path))
  }

  /// Reads the installed scenarios, those in the folder `Scenarios` of the current folder, and
  /// those next to it.
  ///
  /// A YAML file in the current folder that contains neither steps nor variants isn't a scenario.
  ///
  /// **Cost:** reads every file and its model.
  ///
  /// - Parameter installed: The folder of the installed scenarios, which needn't exist.
  /// - Throws: `InvalidInputError` if there aren't any scenarios.
  package init(installed: URL) throws {
    let own = "Scenarios"
    for folder in [installed.path, own] {
      let isInstalled =
        folder == own
        && URL(fileURLWithPath: own).resolvingSymlinksInPath().path
          == installed.resolvingSymlinksInPath().path
      guard !isInstalled, let files = try? ScenarioFinder.files(at: folder) else { continue }
      try add(folder, files.map(\.path))
    }
    try add(".", ScenarioFinder.scenarios(directlyIn: FileManager.default.currentDirectoryPath))
    guard !folders.isEmpty || !errors.isEmpty else {
      throw InvalidInputError(
        kind: .missing, message: "there are no scenarios in the current folder",
        nextStep: "create one with `cdprof new NAME`, or name a folder: `cdprof list FOLDER`")
    }
  }

  private mutating func add(_ folder: String, _ paths: [String]) throws {
    let prefix = folder.hasSuffix("/") ? folder : "\(folder)/"
    var entries: [Entry] = []
    for path in paths {
      do {
        let scenario = try ScenarioReader.read(URL(fileURLWithPath: path), path: path)
        let name = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
        entries.append(Entry(path: name, scenario: scenario))
      } catch {
        errors.append(error)
      }
    }
    guard !entries.isEmpty else { return }
    folders.append(Folder(path: folder, entries: entries.sorted { $0.isBefore < $1.isBefore }))
  }

  /// Removes the scenarios that don't match.
  ///
  /// - Parameters:
  ///   - metric: The name of a metric that the scenario has an expectation for, or `nil` for all.
  ///   - behavior: The ID of a behavior that the scenario covers, or `nil` for all.
  /// - Throws: `ScenarioChoice.Empty` if no scenario is left.
  package mutating func keep(
    metric: String?, covering behavior: String?
  ) throws(ScenarioChoice.Empty) {
    let all = folders.flatMap(\.entries)
    if let metric, !all.contains(where: { $0.metrics.contains(metric) }) {
      throw ScenarioChoice.Empty(
        "no scenario has an expectation for `\(metric)`", metric, among: ScenarioList.metrics,
        "the metrics are: \(ScenarioList.metrics.joined(separator: ", "))")
    }
    if let behavior, !all.contains(where: { $0.covers(behavior) }) {
      throw ScenarioChoice.Empty(
        "no scenario covers `\(behavior)`", behavior,
        among: all.flatMap { $0.scenario.covers.map(\.id) },
        "omit --covers, and see `covers` with --json")
    }
    for index in folders.indices {
      folders[index].entries.removeAll { entry in
        metric.map { !entry.metrics.contains($0) } ?? false
          || behavior.map { !entry.covers($0) } ?? false
      }
    }
    folders.removeAll(where: \.entries.isEmpty)
    guard folders.isEmpty, let metric, let behavior else { return }
    throw ScenarioChoice.Empty(
      "no scenario covers `\(behavior)` and has an expectation for `\(metric)`", "", among: [],
      "omit one of the options")
  }
}

extension ScenarioList.Entry {
  fileprivate func covers(_ behavior: String) -> Bool {
    scenario.covers.contains { $0.id == behavior }
  }
}

/// Formats a list of scenarios as text, in 80 columns.
package enum ScenarioListText {
  private static let width = 80

  /// Returns the scenarios of each folder by chapter, each with its path in the folder.
  ///
  /// A long name is on a line of its own, above its path; one that doesn't fit is truncated.
  package static func lines(_ list: ScenarioList) -> [String] {
    var lines: [String] = []
    for folder in list.folders {
      lines += lines.isEmpty ? [folder.path] : ["", folder.path]
      let names = folder.entries.map { TextWidth.of($0.scenario.name) }.max() ?? 0
      let paths = folder.entries.map { TextWidth.of($0.path) }.max() ?? 0
      let column = min(names, max(width - 4 - paths, 16))
      var chapter: Int??
      for entry in folder.entries {
        if chapter != .some(entry.scenario.chapter) {
          chapter = .some(entry.scenario.chapter)
          lines += ["", entry.scenario.chapter.map { "Chapter \($0)" } ?? "Without a chapter"]
        }
        lines += row(entry, column: column)
      }
    }
    let count = list.folders.map(\.entries.count).reduce(0, +)
    return lines + ["", NumberText.counted(count, "scenario")]
  }

  private static func row(_ entry: ScenarioList.Entry, column: Int) -> [String] {
    let name = TextWidth.truncated(entry.scenario.name, columns: width - 2)
    guard TextWidth.of(name) > column else {
      return ["  \(NumberText.left(name, column))  \(entry.path)"]
    }
    return ["  \(name)", "  \(NumberText.left("", column))  \(entry.path)"]
  }
}

/// Formats a list of scenarios as JSON.
package enum ScenarioListJSON {
  private struct Document: Encodable {
    let scenarios: [Entry]
  }

  private struct Entry: Encodable {
    let path: String
    let name: String
    let chapter: Int?
    let story: String
    let covers: [CatalogReference]
    let metrics: [String]
    let variants: [String]
  }

  /// Returns an object with one key, `scenarios`: an array in the order of the text.
  ///
  /// - Throws: An `EncodingError`.
  package static func data(_ list: ScenarioList) throws -> Data {
    let entries = list.folders.flatMap(\.entries).map { entry in
      let scenario = entry.scenario
      return Entry(
        path: scenario.path, name: scenario.name, chapter: scenario.chapter,
        story: scenario.story, covers: scenario.covers, metrics: entry.metrics,
        variants: scenario.variants.map(\.name))
    }
    return try JSONOutput.flat(Document(scenarios: entries))
  }
}
