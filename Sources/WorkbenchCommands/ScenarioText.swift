import Foundation
import ScenarioLanguage
import WorkbenchText

/// The text of a scenario that isn't in its file.
enum ScenarioText {
  /// Reads a scenario.
  ///
  /// - Parameters:
  ///   - path: The path of the scenario, from which relative paths start, and which messages name.
  ///   - text: The path of a file with the text; `nil` to read that of the scenario.
  /// - Throws: The errors of `ScenarioReader.read(_:path:)`.
  static func scenario(at path: String, text: String?) throws -> Scenario {
    let url = URL(fileURLWithPath: path)
    guard let text else { return try ScenarioReader.read(url, path: path) }
    let data = try InputFile.read(text, limit: InputLimits.scenarioSize)
    return try ScenarioReader.read(
      text: String(decoding: data, as: UTF8.self), url: url, path: path)
  }
}
