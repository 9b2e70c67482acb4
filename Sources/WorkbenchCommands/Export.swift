import ArgumentParser
import Foundation
import ScenarioFiles
import ScenarioLanguage
import StoreTools
import WorkbenchText

/// `cdprof export`: writes a scenario, or a check of migrations, as a Swift program.
struct Export: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Write a scenario, or a check of migrations, as a Swift program to run on a Mac.",
    discussion: """
      The program generates the rows and runs the variants with plain Core Data calls. To \
      evaluate its SQL log, run `cdprof log LOG --expect SCENARIO`. Without --out, the program \
      is printed. With --migrations, the program migrates a copy of each store in a folder, and \
      compares it with a fixture.

      Exit status: 65 if Core Data's API can't express the scenario.
      """)

  @Argument(
    help: ArgumentHelp("The scenario (.yml, .yaml).", valueName: "scenario"), completion: .scenarios
  )
  var scenario: String?

  @ArgumentParser.Flag(help: "Export as Swift (required; the only language).")
  var swift = false

  @Option(
    help: ArgumentHelp("The folder to write a package to.", valueName: "dir"),
    completion: .directory)
  var out: String?

  @ArgumentParser.Flag(help: "Replace files that cdprof didn't write.")
  var force = false

  @Option(help: ArgumentHelp("The value of `scale` in the scenario; 1 by default.", valueName: "n"))
  var scale: Int?

  @Option(
    help: ArgumentHelp("The folder of stores to migrate.", valueName: "stores"),
    completion: .directory)
  var migrations: String?

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp("With --migrations, the model to migrate to.", valueName: "model"),
    completion: .models)
  var model: String?

  @Option(help: "The version of the model, instead of the current one.", completion: .versions)
  var version: String?

  @Option(
    name: .customLong("configuration"),
    help: ArgumentHelp(
      "The configuration of the model that the stores are opened with.", valueName: "name"))
  var configurationName: String?

  @Option(
    help: ArgumentHelp("A folder with mapping models.", valueName: "dir"), completion: .directory)
  var mappings: String?

  @Option(
    help: ArgumentHelp("The expected content, as JSON.", valueName: "file"), completion: .json)
  var fixture: String?

  @ArgumentParser.Flag(help: "Migrate one version at a time instead of directly.")
  var stepByStep = false

  func validate() throws {
    if (scenario == nil) == (migrations == nil) {
      throw ValidationError("Specify either a scenario or --migrations.")
    }
    if (migrations == nil) != (model == nil) {
      throw ValidationError("--migrations and --to require each other.")
    }
    let isMigration =
      version != nil || configurationName != nil || mappings != nil || fixture != nil || stepByStep
    if migrations == nil, isMigration {
      throw ValidationError(
        "--version, --configuration, --mappings, --fixture, and --step-by-step require --migrations."
      )
    }
    if let scale, let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    if scenario == nil, scale != nil { throw ValidationError("--scale requires a scenario.") }
    guard swift else {
      throw ValidationError("Add --swift: Swift is the only supported language.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let (program, package) = try export()
    guard let out else {
      console.write(Data(program.utf8))
      return .success
    }
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    console.write([Messages.written(try package.write(to: folder, force: force))])
    return .success
  }

  private func export() throws -> (program: String, package: ExportedPackage) {
    if let scenario {
      try InputFile.check(scenario)
      let read = try ScenarioReader.read(URL(fileURLWithPath: scenario), path: scenario)
      let export = try ScenarioExport(read, scale: scale ?? 1)
      return (export.program, export.package)
    }
    let found = try FoundModel(path: model ?? "", version: version)
    guard found.origin == .document || found.origin == .compiled else {
      throw InvalidInputError(
        kind: .unusable, message: "\(model ?? "") is a store", nextStep: "specify a model")
    }
    if let configurationName { try found.checkConfiguration(configurationName) }
    let isFolder = ["xcdatamodeld", "momd"].contains(found.url.pathExtension)
    let export = try MigrationExport(
      MigrationExport.Request(
        stores: migrations ?? "", model: model ?? "", version: isFolder ? found.version : nil,
        configuration: configurationName, mappings: mappings, fixture: fixture,
        isStepByStep: stepByStep))
    return (export.program, export.package)
  }
}
