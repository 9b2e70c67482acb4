import Foundation
import OpenCoreData
import SQLiteDriver
import Testing

@Suite("cdprof migrate")
struct MigrateCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Makes a store of the sample's model, and the document of a version without an attribute of it.
  private func prepare() throws -> (store: URL, model: String) {
    let run = try program.run([
      "run", program.smallFaults(), "--only", "faults", "--report", "json", "--out", "made",
    ])
    #expect(run.status == 0)
    let document = URL(fileURLWithPath: PackageFiles.model)
    let text = try String(contentsOf: document.appendingPathComponent("contents"), encoding: .utf8)
    let removed = text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("name=\"numericISO3166Code\"") }.joined(separator: "\n")
    #expect(removed != text)
    let model = program.folder.file("Next.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(removed.utf8).write(to: model.appendingPathComponent("contents"))
    return (program.folder.file("made/faults.sqlite"), model.path)
  }

  @Test func rehearsalReportsLossesAndKeepsTheStore() throws {
    let (store, model) = try prepare()
    let bytes = try Data(contentsOf: store)
    let text = try program.run(["migrate", store.path, "--to", model, "--sizes", "1"])
    #expect(text.status == 3)
    #expect(text.errors.isEmpty)
    #expect(text.output.contains(/\d+ values of Region\.numericISO3166Code/))
    let json = try program.run([
      "migrate", store.path, "--to", model, "--json", "--out", "new.sqlite", "--sizes", "1,2",
    ])
    #expect(json.status == 3)
    let fields = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect((fields["lost"] as? [Any])?.isEmpty == false)
    #expect((fields["violations"] as? [Any])?.isEmpty == true)
    let growth = fields["growth"] as? [String: Any]
    #expect((growth?["sizes"] as? [[String: Any]])?.map { $0["factor"] as? Int } == [1, 2])
    #expect(try Data(contentsOf: store) == bytes)
    #expect(program.leftovers.isEmpty)
    let again = try program.run(["migrate", program.folder.file("new.sqlite").path, "--to", model])
    #expect(again.status == 0)
    #expect(again.output.contains("already has this version"))
  }

  @Test("A file of another store that --out would replace is an error; --force isn't suggested")
  func filesOfAnotherStoreAreNotReplaced() throws {
    let (store, model) = try prepare()
    let support = program.folder.file(".new_SUPPORT")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    let outcome = try program.run(["migrate", store.path, "--to", model, "--out", "new.sqlite"])
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains(".new_SUPPORT belongs to another store and would be replaced"))
    #expect(outcome.errors.contains("choose another file"))
    #expect(!outcome.errors.contains("--force"))
  }

  @Test(
    "An error is a refusal in JSON, too",
    arguments: [
      ("none.sqlite", ["--sizes", "1"], 66, "there's no file or folder"),
      ("text", [], 65, "isn't a"),
      ("text", ["--out", "text"], 65, "text already exists"),
    ] as [(String, [String], Int32, String)])
  func errorsAreRefusals(
    store: String, options: [String], status: Int32, message: String
  ) throws {
    let model = try prepare().model
    try Data("a text".utf8).write(to: program.folder.file("text"))
    let outcome = try program.run(["migrate", store, "--to", model, "--json"] + options)
    #expect(outcome.status == status)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    let fields = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let refused = fields["refused"] as? String
    #expect(refused?.contains(message) == true && outcome.errors.contains(refused ?? "?"))
    #expect(fields["preserved"] as? Bool == false && fields["to"] as? String == model)
    #expect((fields["from"] as? String)?.hasSuffix("/" + store) == true)
    for key in ["path", "steps", "refusals", "lost", "violations", "doctor", "warnings"] {
      #expect((fields[key] as? [Any])?.isEmpty == true, "\(key)")
    }
    #expect(fields["growth"] is NSNull && fields["fromVersion"] is NSNull)
  }

  @Test func storeIsMigratedInPlaceWithABackup() throws {
    let (store, model) = try prepare()
    let bytes = try Data(contentsOf: store)
    let outcome = try program.run([
      "migrate", store.path, "--to", model, "--in-place", "--sizes", "1",
    ])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("with a backup at"))
    #expect(try Data(contentsOf: program.folder.file("made/faults~.sqlite")) == bytes)
    #expect(try program.run(["migrate", store.path, "--to", model]).status == 0)
    #expect(try program.run(["doctor", store.path]).status == 0)
  }

  @Test("A store whose migrated copy has new errors isn't migrated in place")
  func newErrorsPreventMigrationInPlace() throws {
    func write(_ name: String, _ owners: String, _ pets: String) throws -> URL {
      let model = program.folder.file(name)
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      let contents = model.appendingPathComponent("contents")
      try Data(
        ("<model type=\"com.apple.IDECoreDataModeler.DataModel\">"
          + "<entity name=\"Owner\">\(owners)</entity><entity name=\"Pet\">\(pets)</entity></model>")
          .utf8
      ).write(to: contents)
      return model
    }
    func relationship(_ name: String, _ destination: String, _ rest: String) -> String {
      "<relationship name=\"\(name)\" optional=\"YES\" destinationEntity=\"\(destination)\" \(rest)/>"
    }
    let before = try write(
      "Before.xcdatamodel", "", relationship("owner", "Owner", "maxCount=\"1\""))
    let after = try write(
      "After.xcdatamodel",
      relationship("pets", "Pet", "toMany=\"YES\" inverseName=\"owner\" inverseEntity=\"Pet\""),
      relationship("owner", "Owner", "toMany=\"YES\" inverseName=\"pets\" inverseEntity=\"Owner\""))
    let store = program.folder.file("Pets.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.read(contentsOf: before))
    let opened = try coordinator.addPersistentStore(type: .sqlite, at: store)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
      try context.save()
    }
    try coordinator.remove(opened)
    // A dangling key becomes a row of a join table, which is another error.
    let connection = try Connection(path: store.path, access: .writing)
    try connection.execute("UPDATE ZPET SET ZOWNER = 99")
    connection.close()
    let outcome = try program.run(["migrate", store.path, "--to", after.path, "--in-place"])
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("orphaned-join"))
    #expect(
      outcome.errors.contains(
        "isn't migrated: the migrated copy has errors that the store doesn't have"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("Pets~.sqlite").path))
    let again = try Connection(path: store.path, access: .inspecting)
    defer { again.close() }
    let rows: [[SQLiteValue]] = try again.values("SELECT ZOWNER FROM ZPET")
    #expect(rows == [[.integer(99)]])
  }

  @Test func pageIsWrittenNextToTheText() throws {
    let (store, model) = try prepare()
    let arguments = [
      "migrate", store.path, "--to", model, "--sizes", "1", "--report", "html", "--report-dir",
      "pages",
    ]
    let outcome = try program.run(arguments)
    #expect(outcome.status == 3)
    #expect(outcome.errors == "written: pages/faults-migration.html\n")
    let page = program.folder.file("pages/faults-migration.html")
    #expect(try String(contentsOf: page, encoding: .utf8).contains("Region.numericISO3166Code"))
    try Data("mine".utf8).write(to: page)
    let refused = try program.run(arguments)
    #expect(refused.status == 65)
    #expect(refused.errors.contains("exists and wasn't written by cdprof"))
    #expect(try program.run(arguments + ["--force"]).status == 3)
    #expect(
      try program.run(["migrate", store.path, "--to", model, "--report", "pdf"]).status == 64)
  }
}
