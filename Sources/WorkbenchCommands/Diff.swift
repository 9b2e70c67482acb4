import ArgumentParser
import OpenCoreData
import StoreTools

/// `cdprof diff`: compares two models and describes the migration of a store between them.
struct Diff: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Compare two models, and describe the migration a store needs and its SQL.",
    discussion: """
      Each argument can be any model or store that `cdprof model` reads. For a store that doesn't \
      contain its model, only the version hashes are compared.

      Exit status: 65 if such a store isn't known to have the version of the other argument.
      """)

  @Argument(
    help: ArgumentHelp("The earlier model, or a store.", valueName: "old"), completion: .models)
  var old: String

  @Argument(
    help: ArgumentHelp("The later model, or a store.", valueName: "new"), completion: .models)
  var new: String

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let (earlier, later) = (try FoundModel(path: old), try FoundModel(path: new))
    console.warn(of: earlier.model, path: old)
    console.warn(of: later.model, path: new)
    let models = try ComparedModels(from: earlier, to: later)
    if json {
      console.write(try DifferenceText.json(models.comparison, isGuessed: models.isGuessed))
    } else {
      console.write(try DifferenceText.lines(models.comparison, isGuessed: models.isGuessed))
    }
    return .success
  }
}
