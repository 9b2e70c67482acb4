package import Foundation
package import OpenCoreData
package import Profiling
import ScenarioFiles
import ScenarioLanguage

/// A session with a small store of moods and countries, which runs typed lines.
package struct TypedSession {
  package let session: Session
  package let folder: TemporaryFolder

  /// Creates a store with moods in 20 countries of 2 continents.
  package static func store(
    moods: Int = 200
  ) throws -> (url: URL, model: NSManagedObjectModel, folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: """
        name: Small
        model: Moody
        data:
          Continent: {count: 2}
          Country: {count: 20, continent: cycle}
          Mood: {count: \(moods), country: cycle, date: every 1 minute}
        steps: []
        """,
      url: PackagedScenarios.folder.appendingPathComponent("small.yml"), path: "small.yml")
    let url = folder.file("small.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: url)
    return (url, scenario.model, folder)
  }

  package init(moods: Int = 200, readOnly: Bool = false) throws {
    let store = try TypedSession.store(moods: moods)
    session = try Session(storeURL: store.url, model: store.model, readOnly: readOnly)
    folder = store.folder
  }

  @discardableResult
  package func run(_ lines: [String]) throws -> [StepOutcome] {
    try lines.enumerated().map { index, line in
      try session.run(try ShellLine.parse(line, number: index + 1))
    }
  }
}
