import ArgumentParser
import Foundation
import StoreTools

/// `cdprof rows`: prints the rows of an entity, without changing a byte.
struct Rows: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Print every row of an entity, read through the framework.",
    discussion: """
      Needs nothing but the store's file, which is not changed. Rows of subentities are among \
      those of their parent. Relationships are printed as URIs.
      """)

  @Argument(help: ArgumentHelp("The store's file.", valueName: "store"), completion: .file())
  var store: String

  @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
  var entity: String

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Which rows, as NSPredicate takes it.", valueName: "predicate"))
  var predicate: String?

  @ArgumentParser.Flag(help: "Print JSON, for other programs.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let rows = try StoreRows(
      URL(fileURLWithPath: store), entity: entity, where: predicate)
    if rows.isGuessed { console.complain(Messages.guessedNames) }
    if json {
      var writer = RowsJSON()
      try rows.forEach { console.say(writer.row($0)) }
      console.say(writer.end())
    } else {
      try rows.forEach { console.say(RowsText.lines($0)) }
    }
    try rows.check()
    return .success
  }
}
