import ArgumentParser
import Foundation
import OpenCoreData
import StoreTools

/// `cdprof model`: shows a model in one of several forms, or checks it.
struct Model: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Show a model, its tables or its picture; or check it.",
    discussion: """
      MODEL is a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store, which is not changed. \
      --check ends with 3 when it finds something.
      """)

  @Argument(help: ArgumentHelp("The model, or a store.", valueName: "model"), completion: .file())
  var path: String

  @Option(
    help: ArgumentHelp("The version to read, instead of the current one.", valueName: "name"))
  var version: String?

  @ArgumentParser.Flag(help: "Print JSON, for other programs.")
  var json = false

  @ArgumentParser.Flag(help: "Print the statements that create a store, one a line.")
  var ddl = false

  @ArgumentParser.Flag(help: "Print a graph in the DOT language.")
  var dot = false

  @ArgumentParser.Flag(help: "Print the contents of a .xcdatamodel.")
  var xml = false

  @ArgumentParser.Flag(help: "Look for mistakes and for what will be slow.")
  var check = false

  func validate() throws {
    let forms = [("--json", json), ("--ddl", ddl), ("--dot", dot), ("--xml", xml)].filter(\.1)
    if forms.count > 1 {
      throw ValidationError("Choose one of \(forms.map(\.0).joined(separator: " and ")).")
    }
    if check, let form = forms.first, !json {
      throw ValidationError("--check prints findings: leave \(form.0) out, or give --json.")
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
