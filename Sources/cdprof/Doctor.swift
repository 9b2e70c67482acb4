import ArgumentParser
import Foundation
import StoreTools

/// `cdprof doctor`: checks a store without modifying any file.
struct Doctor: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Check a store for corruption, orphaned rows, invalid keys, and missing external files.",
    discussion: """
      The store and the files next to it aren't modified, and nothing is repaired. \
      Exit status: 3 if there are findings, 65 if the file isn't a Core Data store.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .stores)
  var store: String

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let report = try StoreDoctor.examine(URL(fileURLWithPath: store))
    if json {
      console.say(try DoctorJSON.data(report))
    } else {
      console.say(DoctorText.lines(report))
    }
    return report.isIntact ? .success : .findings
  }
}
