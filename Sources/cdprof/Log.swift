import ArgumentParser
import Foundation
import Workbench

/// `cdprof log`: reads what `-com.apple.CoreData.SQLDebug` printed.
struct Log: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Read a log of Core Data's SQL: statements by shape, their times, storms.",
    discussion: """
      Takes the output of -com.apple.CoreData.SQLDebug 1 to 4 from Xcode, Console, `log show` or a \
      device, with other lines in between. With a store, which is not changed, each statement is \
      explained.
      """)

  @Argument(help: ArgumentHelp("The log, or `-` for standard input.", valueName: "file"))
  var file: String

  @Option(
    help: ArgumentHelp("The app's store: plans, and indexes that would help.", valueName: "store"))
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The app's model, in any form, or a store that has it: which table is which entity.",
      valueName: "model"))
  var model: String?

  @ArgumentParser.Flag(help: "Print JSON, for other programs.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let report = try report()
    if json {
      console.say(try LogJSON.data(report))
    } else {
      console.say(LogText.lines(report))
    }
    return .success
  }

  private func report() throws -> LogReport {
    // A wrong path costs nothing before a long log is read.
    let storeURL = store.map { URL(fileURLWithPath: $0) }
    if let storeURL { try InputRefusal.check(storeURL) }
    let tables = try (model ?? store).map { LogTables(try FoundModel(path: $0).model) }
    var report = try LogReader.read(file)
    if let tables { report.name(by: tables) }
    if let storeURL { try report.explain(on: storeURL) }
    return report
  }
}
