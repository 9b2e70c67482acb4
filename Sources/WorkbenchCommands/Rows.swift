import ArgumentParser
import Foundation
import StoreTools
import WorkbenchText

/// `cdprof rows`: prints the rows of an entity without modifying any file.
struct Rows: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Print the rows of an entity, fetched with OpenCoreData.",
    discussion: """
      Only the store file is required, and it isn't modified. The rows of an entity include \
      those of its subentities. Relationships are printed as URIs.

      Exit status: 65 if there are rows of an unknown entity or with a primary key below 1, \
      which are listed on standard error.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .stores)
  var store: String

  @Argument(
    help: ArgumentHelp("The entity.", valueName: "entity"), completion: .entities)
  var entity: String

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Print only rows that match this NSPredicate format.", valueName: "predicate"))
  var predicate: String?

  @Option(help: ArgumentHelp("Print at most this many rows.", valueName: "count"))
  var limit: Int?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  @ArgumentParser.Flag(help: "Print comma-separated values with a header line.")
  var csv = false

  func validate() throws {
    guard !json || !csv else { throw ValidationError("--json can't be combined with --csv.") }
    if let limit,
      let message = Messages.outOfRange("--limit", limit, upTo: InputLimits.objects)
    {
      throw ValidationError(message)
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let rows = try StoreRows(
      URL(fileURLWithPath: store), entity: entity, where: predicate, limit: limit)
    if rows.isInferred { console.writeError(Messages.inferredNames) }
    if json {
      var writer = RowsJSON()
      try rows.forEachBatch { writer.write($0) { console.write($0) } }
      console.write(writer.end())
    } else if csv {
      let writer = RowsCSV(rows.properties)
      console.write(writer.header)
      try rows.forEachBatch { writer.write($0) { console.write($0) } }
    } else {
      try rows.forEachBatch { console.write($0.flatMap(RowsText.lines)) }
    }
    try rows.check()
    return .success
  }
}
