import ArgumentParser
import Foundation
import OpenCoreData
import StoreTools

/// `cdprof model`: shows a model in one of several formats, or checks it.
struct Model: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Show a model as text, tables, or a graph, or check it.",
    discussion: """
      MODEL is a .xcdatamodeld, .xcdatamodel, .momd, or .mom, or a store, which isn't modified. \
      With --check, the exit status is 3 if there are findings.
      """)

  @Argument(help: ArgumentHelp("The model, or a store.", valueName: "model"), completion: .file())
  var path: String

  @Option(
    help: ArgumentHelp(
      "The model version to read; the default is the current one.", valueName: "name"))
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

  func validate() throws {
    let forms = [("--json", json), ("--ddl", ddl), ("--dot", dot), ("--xml", xml)].filter(\.1)
    if forms.count > 1 {
      throw ValidationError(
        "\(forms.map(\.0).joined(separator: " and ")) can't be combined; choose one.")
    }
    if check, let form = forms.first, !json {
      throw ValidationError("--check can't be combined with \(form.0); use --json or neither.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let found = try FoundModel(path: path, version: version, keepsGoing: check)
    if check {
      let findings = try ModelRules.findings(in: found)
      if json {
        console.say(try ModelFindingText.json(findings))
      } else {
        console.say(ModelFindingText.lines(findings, in: found))
      }
      return findings.isEmpty ? .success : .findings
    }
    console.warn(of: found.model, path: path)
    if json {
      console.say(try ModelJSON.data(found))
    } else if ddl {
      console.say(try found.model.creationStatements().map { "\($0);" })
    } else if dot {
      console.say(ModelGraph.lines(found.model))
    } else if xml {
      let written = ModelDocument.text(of: found.model)
      console.say(written.text)
      for loss in written.losses { console.note("\(loss)") }
    } else {
      console.say(ModelText.lines(found))
    }
    return .success
  }
}
