import ArgumentParser
import Foundation
import StoreTools
import WorkbenchText

/// `cdprof doctor`: checks a store without modifying any file, or recovers it into a new one.
struct Doctor: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Check a store for corruption, orphaned rows, invalid keys, and missing external files.",
    discussion: """
      The store and the files next to it aren't modified. With --repair, a new store is written with the \
      rows that can be recovered. Exit status: 3 if there are findings, or something is lost; 65 if the \
      file isn't a Core Data store, has no readable model, or the new file exists.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .file())
  var store: String

  @Option(
    help: ArgumentHelp(
      "A new file for a store with the rows that can be recovered.", valueName: "out"),
    completion: .file())
  var repair: String?

  @Option(
    help: ArgumentHelp(
      "With --repair, the store's model, if the one in the store can't be read.",
      valueName: "model"),
    completion: .file())
  var model: String?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if model != nil, repair == nil { throw ValidationError("--model requires --repair.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let url = URL(fileURLWithPath: store)
    if let repair { return try recover(url, to: URL(fileURLWithPath: repair), console) }
    let report = try StoreDoctor.examine(url)
    if json {
      console.say(try DoctorJSON.data(report))
    } else {
      console.say(DoctorText.lines(report))
    }
    return report.isIntact ? .success : .findings
  }

  private func recover(_ url: URL, to destination: URL, _ console: Console) throws -> ExitStatus {
    let found = try model.map { try FoundModel(path: $0, version: nil) }
    if let found, let model { console.warn(of: found.model, path: model) }
    let report = try StoreRepair.repair(url, to: destination, model: found?.model)
    if json {
      console.say(try RepairJSON.data(report))
    } else {
      console.say(RepairText.lines(report))
    }
    return report.isComplete ? .success : .findings
  }
}
