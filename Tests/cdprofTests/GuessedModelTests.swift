import Foundation
import OpenCoreData
import SQLiteDriver
import Testing

@Suite("Commands on a store that doesn't contain its model")
struct GuessedModelTests {
  private let program: BuiltProgram

  /// Makes `s.sqlite`, an empty store of the sample's model, without this model.
  init() throws {
    program = try BuiltProgram()
    let url = program.folder.file("s.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.read(
        contentsOf: URL(fileURLWithPath: PackageFiles.model)))
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    try coordinator.remove(store)
    let connection = try Connection(path: url.path, access: .writing)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
  }

  private static let notice = "property names are inferred from column names"

  /// Arguments, and the exit status.
  private static let reading: [([String], Int32)] = [
    (["rows", "s.sqlite", "Mood"], 0),
    (["model", "s.sqlite", "--check"], 0),
    (["model", "s.sqlite", "--check", "--json"], 0),
    (["model", "s.sqlite", "--ddl"], 0),
    (["model", "s.sqlite", "--dot"], 0),
    (["predicate", "date != nil", "--entity", "Mood", "--plan", "s.sqlite"], 0),
    (["predicate", "date != nil", "--entity", "Mood", "--model", "s.sqlite"], 0),
    (["predicate", "score > 1", "--entity", "Mood", "--model", "s.sqlite"], 65),
    (["advise", "s.sqlite", "fetch Mood sort latitude"], 0),
    (["log", "input", "--store", "s.sqlite"], 65),
  ]

  @Test("The output says that names are guesses", arguments: reading)
  func guessesAreStated(arguments: [String], status: Int32) throws {
    let outcome = try program.run(arguments)
    #expect(outcome.status == status, "\(outcome)")
    #expect(outcome.errors.contains(Self.notice))
  }

  @Test(
    "A command that needs the exact model doesn't use a guess",
    arguments: [
      ["diff", "s.sqlite", PackageFiles.articles],
      ["model", PackageFiles.model, "--check", "--from", "s.sqlite"],
      ["generate", "s.sqlite", "--out", "made"],
      ["migrate", "s.sqlite", "--to", "s.sqlite"],
      ["doctor", "s.sqlite", "--repair", "new.sqlite", "--model", "s.sqlite"],
    ])
  func guessesAreRefused(arguments: [String]) throws {
    let outcome = try program.run(arguments)
    #expect(outcome.status == 65, "\(outcome)")
    #expect(outcome.output.isEmpty)
    #expect(
      outcome.errors
        == "s.sqlite doesn't contain its model\nspecify its version of the model\n")
  }

  @Test("A new scenario requires the model, and isn't told to open the store read-only")
  func newScenarioRequiresTheModel() throws {
    let outcome = try program.run(["new", "mine", "--store", "s.sqlite"])
    #expect(outcome.status == 65)
    #expect(
      outcome.errors.hasSuffix(
        "\nuse a scenario with `model: FILE.xcdatamodeld` and `data: {store: FILE}`\n"))
  }

  @Test("The version hashes of the store are compared")
  func hashesAreCompared() throws {
    let text = try program.run(["diff", "s.sqlite", PackageFiles.model])
    #expect(text.status == 0 && text.output.hasPrefix("The version hashes are equal."), "\(text)")
    let json = try program.run(["diff", PackageFiles.model, "s.sqlite", "--json"])
    #expect(json.status == 0 && json.output.contains("\"guessed\" : true"))
    #expect(json.output.contains("\"effect\" : \"none\""))
  }
}
