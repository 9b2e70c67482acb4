import ArgumentParser
import Foundation
import OpenCoreData
import StoreTools
import WorkbenchText

/// `cdprof model`: shows a model in one of several formats, or checks it.
struct Model: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Show a model as text, tables, or a graph, or check it.",
    discussion: """
      MODEL is a .xcdatamodeld, .xcdatamodel, .momd, or .mom, or a store, which isn't modified.

      Exit status: 3 if --check finds something.
      """)

  @Argument(help: ArgumentHelp("The model, or a store.", valueName: "model"), completion: .models)
  var path: String

  @Option(
    help: ArgumentHelp(
      "The model version to read; the default is the current one.", valueName: "name"),
    completion: .versions)
  var version: String?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  @ArgumentParser.Flag(help: "Print the SQL statements that create a store, one per line.")
  var ddl = false

  @ArgumentParser.Flag(help: "Print an entity graph in the DOT language.")
  var dot = false

  @ArgumentParser.Flag(help: "Print the XML of a .xcdatamodel.")
  var xml = false

  @ArgumentParser.Flag(help: "Check for errors and performance problems.")
  var check = false

  @Option(
    help: ArgumentHelp(
      "With --check, also check the changes from an earlier model, or from a store.",
      valueName: "old"), completion: .models)
  var from: String?

  @Option(help: ArgumentHelp("The version of the earlier model.", valueName: "name"))
  var fromVersion: String?

  func validate() throws {
    let forms = [("--json", json), ("--ddl", ddl), ("--dot", dot), ("--xml", xml)].filter(\.1)
    if forms.count > 1 {
      throw ValidationError(
        "\(forms.map(\.0).joined(separator: " and ")) can't be combined; choose one.")
    }
    if check, let form = forms.first, !json {
      throw ValidationError("--check can't be combined with \(form.0); use --json or neither.")
    }
    if from != nil, !check { throw ValidationError("--from requires --check.") }
    if fromVersion != nil, from == nil { throw ValidationError("--from-version requires --from.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let found = try FoundModel(path: path, version: version, keepsGoing: check)
    // The other formats state this themselves.
    if check || ddl || dot || xml { console.warnOfGuesses(in: found) }
    if check {
      let earlier = try from.map { try FoundModel(path: $0, version: fromVersion) }
      try earlier?.checkIsExact()
      let findings = try ModelRules.findings(in: found, from: earlier)
      if json {
        console.write(try ModelFindingText.json(findings, in: found))
      } else {
        console.write(ModelFindingText.lines(findings, in: found, comparing: earlier != nil))
      }
      return findings.isEmpty ? .success : .findings
    }
    console.warn(of: found.model, path: path)
    if json {
      console.write(try ModelJSON.data(found))
    } else if ddl {
      console.write(try found.model.creationStatements().map { "\($0);" })
    } else if dot {
      console.write(ModelGraph.lines(found.model))
    } else if xml {
      let written = ModelDocument.text(of: found.model)
      console.write(written.text)
      for loss in written.losses { console.writeMessage("\(loss)") }
    } else {
      console.write(ModelText.lines(found))
    }
    return .success
  }
}
