import CoreDataCosts
import ManagedModel
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Models in use")
struct ModelInUseTests {
  static let note = """
    <entity name="Note" representedClassName="Note">
    <attribute name="text" optional="YES" attributeType="String"/>
    <attribute name="blob" optional="YES" attributeType="Binary"/></entity>
    """

  /// Names and bytes of the files in a folder.
  private func files(_ folder: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      files[name] = try Data(contentsOf: folder.appendingPathComponent(name))
    }
    return files
  }

  private func open(_ url: URL, _ model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
  }

  @Test("S3.01, S-A01, S-A02 a store is created from a model in code, and reopened with its rows")
  func storeIsCreatedThenReopenedWithItsRows() throws {
    let stack = try TestStack(model: TestModels.company())
    #expect(!FileManager.default.fileExists(atPath: stack.storeURL.path))
    let context = try stack.coldContext()
    #expect(FileManager.default.fileExists(atPath: stack.storeURL.path))
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
        .setValue("Ann", forKey: "name")
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    let version = try connection.values("PRAGMA schema_version")
    #expect(version != [[.integer(0)]])
    let again = try stack.coldContext()
    try again.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      var names: [String?] = []
      let cost = try costs(of: again) {
        names = try again.fetch(request).map { $0.value(forKey: "name") as? String }
      }
      #expect(names == ["Ann"])
      #expect(cost.selects == 1 && cost.rows == 1)
    }
    #expect(try connection.values("PRAGMA schema_version") == version)
  }

  @Test("S-A03 a store of another version is rejected, and no file changes")
  func storeOfAnotherVersionIsRejectedUnchanged() throws {
    let stack = try TestStack(model: ModelTablesTests.model(Self.note))
    do { _ = try stack.coldContext() }
    let before = try files(stack.folder)
    let changed = try ModelTablesTests.model(
      Self.note.replacingOccurrences(of: "name=\"text\"", with: "name=\"title\""))
    do {
      try open(stack.storeURL, changed)
      Issue.record("the store opened")
    } catch let error as NSError {
      #expect(error.domain == NSCocoaErrorDomain)
      #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
      #expect(error.localizedDescription.contains("Note"))
    }
    #expect(try files(stack.folder) == before)
  }

  @Test(
    "S-A13 classes don't affect the version hash, a hash modifier does",
    arguments: [
      ("representedClassName=\"Note\"", "representedClassName=\"Sheet\""),
      ("attributeType=\"Binary\"", "attributeType=\"Binary\" customClassName=\"NewFormat\""),
    ])
  func onlyAHashModifierMakesVersionsIncompatible(from: String, to: String) throws {
    let stack = try TestStack(model: ModelTablesTests.model(Self.note))
    _ = try stack.coldContext()
    let edited = Self.note.replacingOccurrences(of: from, with: to)
    try open(stack.storeURL, ModelTablesTests.model(edited))
    let modified = edited.replacingOccurrences(
      of: "<entity name=\"Note\"", with: "<entity name=\"Note\" versionHashModifier=\"2\"")
    let error = #expect(throws: NSError.self) {
      try open(stack.storeURL, ModelTablesTests.model(modified))
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test("S-A12 an index doesn't change the hash and isn't created without a hash modifier")
  func indexChangesRequireAHashModifier() throws {
    let stack = try TestStack(model: ModelTablesTests.model(Self.note))
    _ = try stack.coldContext()
    let indexed = Self.note.replacingOccurrences(
      of: "</entity>",
      with:
        "<fetchIndex name=\"byText\"><fetchIndexElement property=\"text\"/></fetchIndex></entity>")
    let modified = indexed.replacingOccurrences(
      of: "<entity name=\"Note\"", with: "<entity name=\"Note\" versionHashModifier=\"2\"")
    let models = try [Self.note, indexed, modified].map { try ModelTablesTests.model($0) }
    let hashes = models.map { $0.entityVersionHashesByName["Note"] }
    #expect(hashes[0] != nil && hashes[0] == hashes[1] && hashes[1] != hashes[2])
    func indexes(_ url: URL) throws -> [[SQLiteValue]] {
      let connection = try Connection(path: url.path, access: .inspecting)
      defer { connection.close() }
      return try connection.values("SELECT name FROM sqlite_master WHERE name LIKE 'Z_Note%'")
    }
    try open(stack.storeURL, models[1])
    #expect(try indexes(stack.storeURL) == [])
    let error = #expect(throws: NSError.self) { try open(stack.storeURL, models[2]) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let new = stack.folder.appendingPathComponent("New.sqlite")
    try open(new, models[2])
    #expect(try indexes(new) == [[.text("Z_Note_byText")]])
  }

  @Test("S-A08 an abstract entity can't be instantiated, a subentity can")
  func insertingAnAbstractEntityIsAProgrammerError() async throws {
    let stack = try TestStack(model: ModelTablesTests.model(ModelTablesTests.people))
    let context = try stack.coldContext()
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      try context.save()
    }
    let abstract = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let stack = try TestStack(model: ModelTablesTests.model(ModelTablesTests.people))
      let context = try stack.coldContext()
      context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      }
    }
    #expect(abstract.message.contains("'Person' is abstract"))
  }

  @Test("S-A17 a missing class falls back to NSManagedObject")
  func missingClassFallsBackToNSManagedObject() throws {
    let model = try ModelTablesTests.model(
      Self.note.replacingOccurrences(of: "Name=\"Note\"", with: "Name=\"Noet\""))
    let stack = try TestStack(model: model)
    let context = try stack.coldContext()
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      #expect(type(of: note) == NSManagedObject.self)
      note.setValue("x", forKey: "text")
      try context.save()
      #expect(note.value(forKey: "text") as? String == "x")
    }
  }
}
