import Foundation
import Synchronization
import WorkbenchFixtures

@testable import WorkbenchShell
@testable import WorkbenchText

/// A shell without a terminal.
final class ShellSession {
  let engine: ShellEngine
  private let logged = LoggedLines()

  /// Writes a scenario with 40 moods in 20 countries, and returns its file.
  static func smallScenario(in folder: TemporaryFolder) throws -> URL {
    let file = folder.file("small.yml")
    try Data(
      """
      name: Small
      model: \(PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path)
      data:
        Country: {count: 20}
        Mood: {count: 40, country: cycle, date: every 1 minute}
      steps: []
      """.utf8
    ).write(to: file)
    return file
  }

  /// - Parameter file: A scenario or a store; `nil` for an empty shell.
  convenience init(_ file: URL?) throws {
    try self.init(on: try file.map { try ShellWorkspace(opening: $0.path) })
  }

  /// - Parameter workspace: The open workspace; `nil` for an empty shell.
  init(on workspace: ShellWorkspace?, showsBinds: Bool = false) throws {
    let logged = logged
    engine = try ShellEngine(workspace: workspace, showsBinds: showsBinds) { line in
      logged.add(line)
    }
  }

  deinit {
    engine.close()
  }

  /// The lines of the SQL log so far.
  var log: [String] { logged.all }

  /// Types lines and returns the last answer without times.
  @discardableResult
  func type(_ lines: String...) -> (lines: [String], failure: CommandFailure?) {
    var answer = ShellAnswer()
    for line in lines { answer = engine.answer(to: line) }
    return (answer.lines.map(ShellSession.withoutTime), answer.failure)
  }

  /// Returns a line without the time at its end and the spaces before it.
  static func withoutTime(_ line: String) -> String {
    line.replacing(/\s+<?[0-9.,]+ m?s$/, with: "")
  }

  private final class LoggedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
      lines.withLock { $0.append(line) }
    }
  }
}
