import ArgumentParser
import Foundation
import ScenarioFiles
import ScenarioLanguage

/// `cdprof list`: lists scenarios by chapter.
struct List: Executable {
  static let configuration = CommandConfiguration(
    abstract: "List scenarios by chapter: the installed ones and your own.",
    discussion: """
      Without a folder, lists the installed scenarios, those in the folder Scenarios, and those \
      in the current folder.

      Exit status: 64 if no scenario matches, 65 if a scenario is invalid (valid scenarios are \
      still listed), 66 if there are no scenarios.
      """)

  @Argument(
    help: ArgumentHelp("A folder, with its subfolders.", valueName: "folder"),
    completion: .directory)
  var folder: String?

  @Option(
    help: ArgumentHelp(
      "List only scenarios with an expectation for this metric.", valueName: "metric"),
    completion: .list(ScenarioList.metrics))
  var metric: String?

  @Option(
    help: ArgumentHelp("List only scenarios that cover this behavior ID.", valueName: "id"))
  var covers: String?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    var list =
      try folder.map { try ScenarioList(folder: $0) }
      ?? ScenarioList(installed: List.installed)
    var status = ExitStatus.success
    for error in list.errors {
      let failure = Failure(error)
      console.writeError(failure.text)
      status = status.worse(failure.status)
    }
    do {
      try list.keep(metric: metric, covering: covers)
    } catch {
      console.writeError(error.description)
      return status.worse(.usage)
    }
    if json {
      console.write(try ScenarioListJSON.data(list))
    } else if !list.folders.isEmpty {
      console.write(ScenarioListText.lines(list))
    }
    return status
  }

  /// The folder of the scenarios that were installed with the program, which is in `lib/cdprof`.
  static var installed: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("share/cdprof/Scenarios", isDirectory: true)
  }
}
