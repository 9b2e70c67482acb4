import FailingFiles
import OpenCoreData
import StoreTools
import Testing

@testable import OpenCoreData

@Suite(
  "Power that's lost after any change of a file",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct PowerLossTests {
  @Test(
    "S16-1 A save or a request is complete or has no effect, and lasts once it returned",
    arguments: StoreWork.saves + StoreWork.requests)
  func workIsCompleteOrWithoutEffect(work: StoreWork) throws {
    let fixture = try FailureFixture()
    try work.create(in: fixture.template)
    let before = try work.content(fixture.template)
    let sweep = work.sweep(in: fixture)
    let after = try work.content(try sweep.withoutFailure().folder)
    try check(sweep) { loss in
      let found = try work.content(loss.folder)
      #expect(found == after || !loss.isComplete && found == before, "\(loss.description)")
      if work.type == .sqlite {
        try checkIntact(loss.folder.appendingPathComponent(work.fileName), loss.description)
      }
    }
  }

  @Test(
    "A new store isn't there, or is empty, or complete",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func newStoreIsCompleteOrEmpty(type: NSPersistentStore.StoreType) throws {
    let work = StoreWork(testDescription: type.rawValue, type: type)
    let fixture = try FailureFixture()
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) {
      try work.create(in: $0)
    }
    let after = try work.content(try sweep.withoutFailure().folder)
    try check(sweep) { loss in
      let store = loss.folder.appendingPathComponent(work.fileName)
      let isThere = FileManager.default.fileExists(atPath: store.path)
      #expect(isThere || !loss.isComplete, "\(loss.description)")
      let found = try work.content(loss.folder)
      #expect(
        found == after || !loss.isComplete && found.values.allSatisfy(\.isEmpty),
        "\(loss.description)")
      if type == .sqlite { try checkIntact(store, loss.description) }
    }
  }

  @Test("Nothing is synced if the pragma synchronous is off", arguments: [false, true])
  func volatileStoresAreNotSynced(isSynced: Bool) throws {
    let fixture = try FailureFixture()
    let (entity, value) = (NSEntityDescription(), NSAttributeDescription())
    (entity.name, value.name, value.attributeType) = ("Photo", "data", .binaryDataAttributeType)
    value.allowsExternalBinaryDataStorage = true
    entity.properties = [value]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let url = fixture.template.appendingPathComponent("Photos.sqlite")
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [NSSQLitePragmasOption: ["synchronous": isSynced ? "FULL" : "OFF"]])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let save = FailingFiles.run(
      below: fixture.scratch, counting: [.sync], countsAllThreads: true
    ) {
      try context.performAndWait {
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        photo.setValue(Data(count: 200_000), forKey: "data")
        try context.save()
      }
    }
    try save.result.get()
    #expect((save.report.total > 0) == isSynced)
    try coordinator.remove(store)
    let copy = FailingFiles.run(below: fixture.scratch, counting: [.sync]) {
      try StoreFile.copy(
        from: url, to: fixture.scratch.appendingPathComponent("Copy.sqlite"), isSynced: isSynced)
    }
    try copy.result.get()
    #expect((copy.report.total > 0) == isSynced)
    #expect(
      try ExternalStorage(storeURL: fixture.scratch.appendingPathComponent("Copy.sqlite"))
        .fileNames().count == 1)
  }

  @Test("A new file whose header wasn't written is rolled back by its journal, and is a new store")
  func fileWithoutHeaderIsANewStore() throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: "creation")
    let store = fixture.template.appendingPathComponent(work.fileName)
    try Data(count: 4_096).write(to: store)
    #expect(
      thrownError { _ = try work.open(fixture.template) }?.code
        == CocoaError.Code.fileReadCorruptFile.rawValue)
    // SQLite's journal of a file that had no pages: the magic number, no records, sectors of 512
    // bytes, and pages of 4,096.
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let numbers: [UInt32] = [0, 0, 0, 512, 4_096]
    let head = magic + numbers.flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }
    try Data(head + [UInt8](repeating: 0, count: 512 - head.count))
      .write(to: URL(fileURLWithPath: store.path + "-journal"))
    try work.create(in: fixture.template)
    #expect(try work.content(fixture.template)["Person"]?.count == 3)
    try checkIntact(store, "a file without a header")
  }

  @Test(
    "S-H03 A store is in its old or new version, and can be migrated",
    arguments: MigrationFailureTests.scenarios)
  func migrationIsCompleteOrWithoutEffect(scenario: MigrationScenario) throws {
    let fixture = try MigrationFailureFixture(scenario)
    try check(fixture.sweep) { loss in
      try fixture.check(loss.folder, isComplete: loss.isComplete, loss.description)
    }
  }

  @Test("A replaced store is the old or the new one")
  func replacementIsCompleteOrWithoutEffect() throws {
    let fixture = try FailureFixture()
    let (old, new) = ("Model.sqlite", "Other.sqlite")
    try MigrationScenario.create(fixture.template.appendingPathComponent(old), persons: 6)
    try MigrationScenario.create(fixture.template.appendingPathComponent(new), persons: 3)
    func content(_ folder: URL, _ name: String) throws -> [String: [String]] {
      try MigrationScenario.withContext(
        MigrationScenario.version(1), folder.appendingPathComponent(name)
      ) { try OpenCoreDataTests.content(of: $0) }
    }
    let contents = (try content(fixture.template, old), try content(fixture.template, new))
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      try NSPersistentStoreCoordinator(managedObjectModel: MigrationScenario.version(1))
        .replacePersistentStore(
          at: folder.appendingPathComponent(old),
          withPersistentStoreFrom: folder.appendingPathComponent(new), type: .sqlite)
    }
    try check(sweep) { loss in
      let found = try content(loss.folder, old)
      #expect(found == contents.1 || !loss.isComplete && found == contents.0, "\(loss.description)")
      #expect(try content(loss.folder, new) == contents.1, "\(loss.description)")
      try checkIntact(loss.folder.appendingPathComponent(old), loss.description)
    }
  }

  @Test(
    "A destroyed store is complete or gone, and doesn't come back",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func destroyedStoreDoesNotComeBack(type: NSPersistentStore.StoreType) throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: type.rawValue, type: type)
    try work.create(in: fixture.template)
    let before = try work.content(fixture.template)
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      try NSPersistentStoreCoordinator(managedObjectModel: StoreWork.model())
        .destroyPersistentStore(at: folder.appendingPathComponent(work.fileName), type: type)
    }
    try check(sweep) { loss in
      let store = loss.folder.appendingPathComponent(work.fileName)
      guard FileManager.default.fileExists(atPath: store.path) else { return }
      #expect(!loss.isComplete, "\(loss.description)")
      let found = try work.content(loss.folder)
      #expect(found == before, "\(loss.description)")
    }
  }

  private func check<Prepared>(
    _ sweep: FailureSweep<Prepared>, _ check: (FailureSweep<Prepared>.Loss) throws -> Void
  ) throws {
    var random = SeededRandom(seed: 1)
    let count = try sweep.losePower(limit: max(FailingFiles.limit, 4), &random) { loss in
      do {
        try check(loss)
      } catch {
        Issue.record("\(loss.description): \(error)")
      }
    }
    #expect(count > 4)
  }

  /// Checks a store for problems; files that no value refers to can be left.
  private func checkIntact(_ store: URL, _ loss: String) throws {
    let findings = try StoreDoctor.examine(store).findings.filter {
      $0.rule != .externalFileUnowned
    }
    #expect(findings.isEmpty, "\(loss): \(findings)")
  }
}
