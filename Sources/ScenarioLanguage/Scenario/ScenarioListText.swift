package import Foundation
import OpenCoreData
import WorkbenchText

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
      let names = folder.entries.map(\.scenario.name.count).max() ?? 0
      let paths = folder.entries.map(\.path.count).max() ?? 0
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
    let full = entry.scenario.name
    let name = full.count > width - 2 ? "\(full.prefix(width - 3))…" : full
    guard name.count > column else {
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
