import ArgumentParser
import Foundation
import StoreTools

/// `cdprof doctor`: looks for what is wrong with a store, without changing a byte.
struct Doctor: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Check a store for corruption, orphaned rows, invalid keys, and missing external files.",
    discussion: """
      Looks only: the store and the files beside it are not changed, and nothing is mended. \
      Ends with 3 when something is wrong, 65 when the file isn't a Core Data store.
      """)

  @Argument(help: ArgumentHelp("The store's file.", valueName: "store"), completion: .file())
  var store: String

  @ArgumentParser.Flag(help: "Print JSON, for other programs.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let report = try StoreDoctor.examine(URL(fileURLWithPath: store))
    if json {
      console.say(try DoctorJSON.data(report))
    } else {
      console.say(DoctorText.lines(report))
    }
    return report.isSound ? .success : .findings
  }
}
