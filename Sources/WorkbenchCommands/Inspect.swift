import ArgumentParser
import Foundation
import StoreTools

/// `cdprof inspect`: describes the contents of a store without modifying any file.
struct Inspect: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Show the contents of a store: entities, rows, relationships, indexes, sizes.",
    discussion: """
      The store and the files next to it aren't modified.

      Exit status: 65 if the store has rows of an unknown entity or with a primary key below 1, \
      which are listed on standard error.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .stores)
  var store: String

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let inspection = try StoreInspector.inspect(URL(fileURLWithPath: store))
    if json {
      console.write(try InspectionJSON.data(inspection))
    } else {
      console.write(InspectionText.lines(inspection))
    }
    for rows in inspection.unmappableRows { console.writeMessage(rows.line) }
    guard inspection.unmappableRows.isEmpty else {
      console.writeError("run `cdprof doctor` to check the store")
      return .badInput
    }
    return .success
  }
}
