package import Foundation
import OpenCoreData
import Profiling
import SQLiteDriver
import ScenarioFiles
import ScenarioLanguage
package import StatementAnalysis
import Synchronization

/// A store of moods for index advice, in a temporary folder.
package struct AdvisedStore {
  package let url: URL
  private let folder: TemporaryFolder

  /// The files of new stores by name, by the number of moods; each store is filled only once.
  private static let known = Mutex<[Int: [String: Data]]>([:])

  /// Creates a store with moods in 30 countries, with 5 latitudes and 7 longitudes in turn.
  package init(moods: Int = 3_000) throws {
    folder = try TemporaryFolder()
    url = folder.file(Self.name)
    for (name, data) in try Self.files(moods: moods) { try data.write(to: folder.file(name)) }
  }

  private static let name = "advised.sqlite"

  private static func files(moods: Int) throws -> [String: Data] {
    try known.withLock { known in
      if let files = known[moods] { return files }
      let folder = try TemporaryFolder()
      try fill(folder.file(name), moods: moods)
      var files: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
        files[name] = try Data(contentsOf: folder.file(name))
      }
      known[moods] = files
      return files
    }
  }

  private static func fill(_ url: URL, moods: Int) throws {
    let latitudes = (0..<5).map(String.init).joined(separator: ", ")
    let longitudes = (0..<7).map(String.init).joined(separator: ", ")
    let scenario = try ScenarioReader.read(
      text: """
        name: Advised
        model: Moody
        data:
          Country: {count: 30}
          Mood:
            count: \(moods)
            country: cycle
            date: every 1 minute
            latitude: "one of [\(latitudes)]"
            longitude: "one of [\(longitudes)]"
            remoteIdentifier: text 8
        steps: []
        """,
      url: PackagedScenarios.folder.appendingPathComponent("advised.yml"), path: "advised.yml")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: url)
  }

  /// Returns the advice for steps that run on the store, and for SQL statements.
  package func advice(_ lines: [String], sql: [String] = []) throws -> IndexAdvice {
    try IndexAdviceSource.advice(forStore: url, lines: lines, sql: sql)
  }

  /// Executes SQL on the store, which must not be open.
  package func execute(_ sql: String) throws {
    let connection = try StoreConnection.open(path: url.path, access: .writing)
    defer { connection.close() }
    try connection.execute(sql)
  }
}
