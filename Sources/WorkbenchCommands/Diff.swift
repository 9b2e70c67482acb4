import ArgumentParser
import OpenCoreData
import StoreTools

/// `cdprof diff`: compares two models and describes the migration of a store between them.
struct Diff: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Compare two models, and describe the migration a store needs and its SQL.",
    discussion: "Each argument can be any model or store that `cdprof model` reads.")

  @Argument(
    help: ArgumentHelp("The earlier model, or a store.", valueName: "old"), completion: .models)
  var old: String

  @Argument(
    help: ArgumentHelp("The later model, or a store.", valueName: "new"), completion: .models)
  var new: String

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let (earlier, later) = (try FoundModel(path: old).model, try FoundModel(path: new).model)
    console.warn(of: earlier, path: old)
    console.warn(of: later, path: new)
    let comparison = ModelComparison(from: earlier, to: later)
    if json {
      console.write(try DifferenceText.json(comparison))
    } else {
      console.write(try DifferenceText.lines(comparison))
    }
    return .success
  }
}
