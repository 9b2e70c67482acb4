import ArgumentParser
import Foundation
import ModelCode
import StoreTools
import WorkbenchText

/// `cdprof generate`: writes the Swift classes of a model.
struct Generate: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Write Swift classes with typed properties for the entities of a model.",
    discussion: """
      Existing files are replaced only if this command wrote them; any other existing file is \
      an error unless --force is given.

      Exit status: 65 if such a file exists, the model is invalid, or a store doesn't contain \
      one; 66 if it's missing.
      """)

  @Argument(
    help: ArgumentHelp(
      "The model: .xcdatamodeld, .xcdatamodel, .mom, or .momd, or a store that contains one.",
      valueName: "model"),
    completion: .models)
  var model: String

  @Option(
    help: ArgumentHelp(
      "The folder to write to; it's created if it doesn't exist.", valueName: "dir"),
    completion: .directory)
  var out: String

  @Option(
    help: ArgumentHelp(
      "class: classes and properties; extension: properties only, for classes that you write.",
      valueName: "style"))
  var style = ClassStyle.class

  @ArgumentParser.Flag(help: "Replace files that weren't generated.")
  var force = false

  func execute(_ console: Console) throws -> ExitStatus {
    let found = try FoundModel(path: model)
    try found.checkIsExact()
    console.warn(of: found.model, path: model)
    let generator = try ClassGenerator(found.model, file: found.url.lastPathComponent)
    let folder = GeneratedFolder(URL(fileURLWithPath: out, isDirectory: true), force: force)
    let files = generator.files(style)
    try OutputFile.checkFolder(out)
    let written = try OutputFile.naming(URL(fileURLWithPath: out), "written") {
      try folder.write(files)
    }
    for (path, outcome) in written {
      console.write(["\(outcome.rawValue): \(path)"])
    }
    for note in generator.notes { console.writeMessage(note) }
    return .success
  }
}

extension ClassStyle: ExpressibleByArgument {}
