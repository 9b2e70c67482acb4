import ArgumentParser
import Foundation
import ScenarioLanguage
import WorkbenchShell
import WorkbenchText

/// `cdprof new`: writes a scenario to begin with.
struct New: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Create a commented scenario that you can run and edit.",
    discussion: """
      Without --store it is about a small model of its own, written beside it under Models/. A file \
      that exists is replaced only with --force; a model or schema that exists is used as it is.
      """)

  @Argument(help: ArgumentHelp("The scenario's name and its file's: NAME.yml.", valueName: "name"))
  var name: String

  @Option(
    help: ArgumentHelp("The store to copy for each variant.", valueName: "store"),
    completion: .file())
  var store: String?

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"), completion: .directory)
  var out = "."

  @ArgumentParser.Flag(help: "Replace the scenario's file if it exists.")
  var force = false

  func validate() throws {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
      throw ValidationError(
        "A scenario's name is a file's name, not \"\(name)\"; use --out for the folder.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    let plain = name.hasSuffix(".yml") ? String(name.dropLast(4)) : name
    let starter: ScenarioStarter
    if let store {
      try InvalidInputError.checkRegularFile(store)
      let url = URL(fileURLWithPath: store)
      let workspace = try ShellWorkspace(store: url, path: url.path)
      starter = try ScenarioStarter(
        name: plain, store: url, model: workspace.model, counts: workspace.counts, folder: folder)
    } else {
      starter = ScenarioStarter(name: plain)
    }
    let written = try starter.write(to: folder, force: force)
    console.say([Messages.written(written)])
    console.say([Messages.next(after: written[0])])
    return .success
  }
}
