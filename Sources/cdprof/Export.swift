import ArgumentParser
import Foundation
import ScenarioLanguage
import WorkbenchText

/// `cdprof export`: writes a scenario as a Swift program.
struct Export: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Write a scenario as a Swift program to run on a Mac.",
    discussion: """
      The program generates the rows and runs the variants with plain Core Data calls. To evaluate \
      its SQL log, run `cdprof log LOG --expect SCENARIO`. Without --out, the program is printed.
      """)

  @Argument(
    help: ArgumentHelp("The scenario (.yml, .yaml).", valueName: "scenario"), completion: .file())
  var scenario: String

  @ArgumentParser.Flag(help: "Write Swift, the only supported language. Required.")
  var swift = false

  @Option(
    help: ArgumentHelp("The folder to write a package to.", valueName: "dir"),
    completion: .directory)
  var out: String?

  @ArgumentParser.Flag(help: "Replace files that cdprof didn't write.")
  var force = false

  @Option(help: ArgumentHelp("The value of `scale` in the scenario.", valueName: "n"))
  var scale = 1

  func validate() throws {
    if let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
    guard swift else {
      throw ValidationError("Add --swift: Swift is the only supported language.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    try InputFile.check(scenario)
    let read = try ScenarioReader.read(URL(fileURLWithPath: scenario), path: scenario)
    let export = try ScenarioExport(read, scale: scale)
    guard let out else {
      console.say(Data(export.program.utf8))
      return .success
    }
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    console.say([Messages.written(try export.write(to: folder, force: force))])
    return .success
  }
}
