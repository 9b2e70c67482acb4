import ArgumentParser
import Foundation
import OpenCoreData
import ScenarioFiles
import ScenarioLanguage
import WorkbenchShell
import WorkbenchText

/// `cdprof new`: creates a scenario to start from.
struct New: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Create a commented scenario that you can run and edit.",
    discussion: """
      Without --store, the scenario uses a small model, which is written under Models/ in the same \
      folder. An existing scenario is replaced only with --force; an existing model or schema is \
      used unchanged.
      """)

  @Argument(
    help: ArgumentHelp(
      "The name of the scenario and of its file, NAME.yml.", valueName: "name"))
  var name: String

  @Option(
    help: ArgumentHelp("The store to copy for each variant.", valueName: "store"),
    completion: .stores)
  var store: String?

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"), completion: .directory)
  var out = "."

  @ArgumentParser.Flag(help: "Replace the scenario file if it exists.")
  var force = false

  func validate() throws {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
      throw ValidationError(
        "The name of a scenario must be a file name, not \"\(name)\"; use --out for the folder.")
    }
    // It's in a comment of the file, which a line feed would end.
    guard PrintableText.line(name) == name else {
      throw ValidationError("The name of a scenario must not contain control characters.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    let ending = [".yml", ".yaml"].first { name.hasSuffix($0) }
    let plain = String(name.dropLast(ending?.count ?? 0))
    let file = plain + (ending ?? ".yml")
    let starter: ScenarioStarter
    if let store {
      try InvalidInputError.checkRegularFile(store)
      let url = URL(fileURLWithPath: store)
      let workspace = try ShellWorkspace(store: url, path: store)
      starter = try ScenarioStarter(
        name: plain, file: file, store: url, model: workspace.model, counts: workspace.counts,
        folder: folder)
    } else {
      starter = ScenarioStarter(name: plain, file: file)
    }
    let written = try starter.write(to: folder, force: force)
    console.write([Messages.written(written)])
    console.write([Messages.next(after: written[0])])
    return .success
  }
}
