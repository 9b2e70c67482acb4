import ArgumentParser
import Foundation
import Workbench

/// `cdprof run`: runs scenarios, checks what they cost, writes reports.
struct Run: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Run scenarios and check what each of their variants costs.",
    discussion: """
      Ends with 0 when all expectations held, 2 when one was missed, 1 when a step failed, \
      65 when a scenario is wrong (nothing is run then), 66 when a file is missing.
      """)

  @Argument(help: ArgumentHelp("The scenario files.", valueName: "file"))
  var files: [String]

  @Option(
    help: ArgumentHelp("Write reports, with commas: \(ReportFormat.words).", valueName: "formats"))
  var report: String?

  @Option(help: ArgumentHelp("The folder to write to.", valueName: "dir"))
  var out = "Reports"

  @Option(help: ArgumentHelp("The number that `scale` stands for in a scenario.", valueName: "n"))
  var scale = 1

  @Option(help: ArgumentHelp("The seed of the data, in place of the scenario's.", valueName: "n"))
  var seed: UInt64?

  @ArgumentParser.Flag(help: "Print nothing but what was missed.")
  var quiet = false

  @ArgumentParser.Flag(help: "Print each statement's plan, with what SQLite counted.")
  var plans = false

  func validate() throws {
    guard scale >= 1 else { throw ValidationError("--scale is 1 or more, not \(scale).") }
    _ = try formats()
    var paths: [String: String] = [:]
    for file in files {
      let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
      if let other = paths.updateValue(file, forKey: name) {
        throw ValidationError(Messages.sameName(name, other, file))
      }
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    // Everything is read before anything is run, so that a slip in the last file costs no time.
    var status = ExitStatus.success
    var scenarios: [Scenario] = []
    for file in files {
      do {
        try InputRefusal.checkFile(file)
        scenarios.append(try ScenarioReader.read(URL(fileURLWithPath: file), path: file))
      } catch {
        let failure = Failure(error)
        console.complain(failure.text)
        status = status.worse(failure.status)
      }
    }
    guard status == .success else { return status }
    for (index, scenario) in scenarios.enumerated() {
      if index > 0, !quiet { console.say("") }
      do {
        status = status.worse(try run(scenario, console))
      } catch {
        console.endProgress()
        let failure = Failure(error)
        console.complain(failure.text)
        status = status.worse(failure.status)
      }
    }
    return status
  }

  private func run(_ scenario: Scenario, _ console: Console) throws -> ExitStatus {
    let folder = URL(fileURLWithPath: out, isDirectory: true)
    let runner = ScenarioRunner(
      scenario: scenario, scale: scale, seed: seed, outputDirectory: folder)
    let result = try runner.run { progress in
      if !quiet { console.progress(Messages.progress(progress, of: scenario.name)) }
    }
    console.endProgress()
    let written = try formats().map { format in
      try format.write(result, named: scenario.fileName, in: folder).relativePath
    }
    if quiet {
      console.say(Array(RunText.missed(result).dropFirst()))
    } else {
      console.say(RunText.lines(result))
      if plans { console.say(RunText.plans(result)) }
      let store = runner.storeURL.relativePath
      console.say("")
      console.say(Messages.written(written + [store]))
    }
    return result.holds ? .success : .expectationMissed
  }

  /// The formats that were asked for, each once, in the order of writing.
  private func formats() throws -> [ReportFormat] {
    try report.map(Messages.formats) ?? []
  }
}
