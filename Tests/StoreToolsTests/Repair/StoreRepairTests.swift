import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

@Suite("A repair writes a new store, and reports what's lost")
struct StoreRepairTests {
  @Test(arguments: RepairBed.stores)
  func intactStoreIsRecoveredCompletely(path: String) throws {
    let bed = try RepairBed(path)
    let found = try StoreDoctor.examine(bed.url).findings.map(\.rule)
    let report = try bed.repair(bed.bytes, path)
    #expect(report.corruptPages == [:] && report.undecoded == [:] && report.omitted == [:])
    #expect(report.assumptions == [])
    #expect(report.remaining.filter { !found.contains($0.rule) } == [])
  }

  @Test func storeWithoutModelRequiresOne() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("DELETE FROM Z_MODELCACHE")
    let out = folder.file("Out.sqlite")
    #expect(throws: InvalidInputError.self) { try StoreRepair.repair(store.url, to: out) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    let report = try StoreRepair.repair(store.url, to: out, model: OfficeStore.model())
    #expect(report.isComplete)
  }

  /// It's part of the URIs of all objects.
  @Test func identifierThatIsNotAUUIDIsRecovered() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("UPDATE Z_METADATA SET Z_UUID = 'A-NEW-NAME'")
    let out = folder.file("Out.sqlite")
    let report = try StoreRepair.repair(store.url, to: out)
    #expect(report.isComplete, "\(report.assumptions)")
    let uuids = try MigrationFixture.values(out, "SELECT Z_UUID FROM Z_METADATA")
    #expect(uuids == [[.text("A-NEW-NAME")]])
    #expect(RepairText.lines(report).contains("Nothing is lost."))
  }

  @Test func rowsOfATableWithoutAColumnOfTheModelAreRecovered() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("ALTER TABLE ZPASSPORT DROP COLUMN ZNUMBER")
    let out = folder.file("Out.sqlite")
    let report = try StoreRepair.repair(store.url, to: out)
    #expect(report.entries.first { $0.name == "Passport" }?.recovered == 3)
    #expect(report.undecoded == [:] && !report.isComplete)
    #expect(report.assumptions == ["ZPASSPORT has no column ZNUMBER; the values are missing"])
    let sql = "SELECT Z_PK, Z_ENT, Z_OPT, ZOWNER FROM ZPASSPORT ORDER BY Z_PK"
    #expect(try MigrationFixture.values(out, sql) == MigrationFixture.values(store.url, sql))
  }

  /// The row's line states the number of values.
  @Test func textDoesNotClaimThatNothingIsLostIfValuesAre() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("UPDATE ZTAG SET ZNAME = CAST(x'41FF' AS TEXT) WHERE Z_PK = 1")
    let report = try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"))
    #expect(!report.isComplete && report.entries.map(\.corruptValues).reduce(0, +) == 1)
    let lines = RepairText.lines(report)
    #expect(lines.contains { $0.hasSuffix("2 rows, 1 corrupt value set to NULL") })
    #expect(!lines.contains("Nothing is lost."))
  }

  /// The ID of an entity that the model doesn't have is that of another one in the new store.
  @Test func formerKeyCountersAreKept() throws {
    let folder = try TemporaryFolder()
    let model = NSManagedObjectModel()
    model.entities = ["A", "B"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let url = folder.file("Store.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["A", "B"] {
        _ = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      }
      try context.save()
    }
    try coordinator.remove(store)
    let connection = try Connection(path: url.path, access: .writing)
    try connection.execute(
      "UPDATE Z_PRIMARYKEY SET Z_ENT = 3 WHERE Z_NAME = 'A'; UPDATE ZA SET Z_ENT = 3; "
        + "UPDATE Z_PRIMARYKEY SET Z_ENT = 1, Z_MAX = 1000 WHERE Z_NAME = 'B'; "
        + "UPDATE ZB SET Z_ENT = 1; INSERT INTO Z_PRIMARYKEY VALUES (2, 'Former', 0, 0)")
    connection.close()
    let out = folder.file("Out.sqlite")
    #expect(try StoreRepair.repair(url, to: out).isComplete)
    let repaired = try Connection(path: out.path, access: .reading)
    defer { repaired.close() }
    #expect(
      try repaired.values("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'B'")
        == [[.integer(1_000)]])
  }

  /// The new store has the configuration of the old one, or there's none to give it.
  @Test func configurationIsRecovered() throws {
    let store = try ConfigurationStore()
    let out = store.folder.file("Out.sqlite")
    let report = try StoreRepair.repair(store.url, to: out)
    #expect(report.isComplete && report.entries.map(\.name) == ["City"])
    let inspection = try StoreInspector.inspect(out)
    #expect(inspection.configuration == "Local" && inspection.rowCount == 2)
    let rows = try StoreRows(out, entity: "City", where: "name == 'Kyiv'")
    var count = 0
    try rows.forEach { _ in count += 1 }
    #expect(count == 1)
    let model = ConfigurationStore.model()
    for name in ["Local", "Offline"] { model.setEntities([], forConfigurationName: name) }
    let error = #expect(throws: InvalidInputError.self) {
      try StoreRepair.repair(store.url, to: store.folder.file("New.sqlite"), model: model)
    }
    #expect(error?.message.contains("only the entities City, and") == true)
  }

  @Test func modelOfAnotherStoreIsRejected() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    let model = OfficeStore.model()
    model.entitiesByName["Note"]?.properties.removeAll { $0.name == "hours" }
    do {
      _ = try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"), model: model)
      Issue.record("The model was accepted.")
    } catch let error as NSError {
      #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test func corruptVersionHashIsReplacedWithTheModels() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: store.url)
    let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
    let hash = try #require(hashes["Note"])
    var bytes = try Data(contentsOf: store.url)
    let range = try #require(bytes.range(of: hash))
    bytes[range.lowerBound] ^= 0xFF
    let url = folder.file("Copy.sqlite")
    try bytes.write(to: url)
    let out = folder.file("Out.sqlite")
    let report = try StoreRepair.repair(url, to: out)
    #expect(report.assumptions.count == 1 && !report.isComplete, "\(report.assumptions)")
    let recovered = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: out)
    #expect(recovered["NSStoreModelVersionHashes"] as? [String: Data] == hashes)
    #expect(recovered["NSStoreUUID"] as? String == metadata["NSStoreUUID"] as? String)
  }

  @Test func objectsAreReadWithTheFramework() throws {
    let bed = try RepairBed()
    let out = try TemporaryFolder().file("Out.sqlite")
    try FileManager.default.createDirectory(
      at: out.deletingLastPathComponent(), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: out.deletingLastPathComponent()) }
    let leaf = try #require(bed.intact.locations["ZNOTE"]?[400]?.leaf)
    let lost = bed.intact.locations["ZNOTE"]?.values.filter { $0.leaf == leaf }.count ?? 0
    try Data(bed.replacing(leaf, with: Array(repeating: 0, count: bed.pageSize))).write(to: bed.url)
    let report = try StoreRepair.repair(bed.url, to: out)
    let notes = bed.intact.tables["ZNOTE"]?.count ?? 0
    #expect(report.entries.first { $0.name == "Note" }?.recovered == notes - lost)
    #expect(report.corruptPages == ["ZNOTE": 1])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: OfficeStore.model())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: out)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      #expect(try context.count(for: request) == notes - lost)
      // A primary key that was used isn't used again.
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      try context.save()
      #expect(note.objectID.uriRepresentation().lastPathComponent == "p1501")
    }
    try coordinator.remove(store)
  }

  @Test func lostDestinationsOfRequiredRelationshipsAreReported() throws {
    let bed = try RepairBed()
    let leaves = Set((bed.intact.locations["ZPARTY"] ?? [:]).values.map(\.leaf))
    let leaf = try #require(leaves.first)
    let report = try bed.repair(
      bed.replacing(leaf, with: Array(repeating: 0, count: bed.pageSize)), without: [leaf], "")
    let lost = (bed.intact.locations["ZPARTY"] ?? [:]).filter { $0.value.leaf == leaf }.keys
    let owners = (bed.intact.tables["ZPASSPORT"] ?? [:]).values.count { row in
      if case .integer(let owner)? = row["ZOWNER"] { lost.contains(owner) } else { false }
    }
    #expect(owners > 0)
    #expect(report.clearedReferences["Passport.owner"] == owners)
    let finding = report.remaining.first { $0.rule == .missingValue && $0.property == "owner" }
    #expect(finding?.count == owners)
    #expect(report.removedJoinRows > 0)
    // The history has only changes of tags.
    #expect(report.removedChanges == 0)
    let text = RepairText.lines(report).joined(separator: "\n")
    #expect(text.contains("Passport.owner") && text.contains("ZPARTY: 1 page corrupt or missing"))
  }

  /// The change that deleted an object remains.
  @Test func changesOfMissingObjectsAreRemoved() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("DELETE FROM ZTAG WHERE Z_PK = 1")
    let out = folder.file("Out.sqlite")
    let report = try StoreRepair.repair(store.url, to: out)
    #expect(report.removedChanges == 1 && !report.isComplete)
    let changes = try MigrationFixture.values(
      out, "SELECT ZENTITYPK, ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK")
    #expect(changes == [[.integer(2), .integer(0)], [.integer(99), .integer(2)]])
  }

  /// Such as the authors of transactions.
  @Test func lostStringsOfTransactionsAreReported() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("DELETE FROM ATRANSACTIONSTRING; UPDATE ATRANSACTION SET ZAUTHORTS = 1")
    let report = try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"))
    #expect(report.clearedReferences["ATRANSACTION.ZAUTHORTS"] == 1 && !report.isComplete)
  }

  /// A single byte of the record can be corrupt.
  @Test func entityIDThatNoRowHasIsReplaced() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("UPDATE Z_PRIMARYKEY SET Z_ENT = 99 WHERE Z_NAME = 'Passport'")
    let out = folder.file("Out.sqlite")
    let report = try StoreRepair.repair(store.url, to: out)
    #expect(report.entries.first { $0.name == "Passport" }?.recovered == 3)
    #expect(report.undecoded == [:] && report.clearedReferences == [:])
    #expect(report.assumptions.contains { $0.hasPrefix("Z_PRIMARYKEY") })
    let sql = "SELECT Z_PK, Z_OPT, ZNUMBER, ZOWNER FROM ZPASSPORT ORDER BY Z_PK"
    #expect(try MigrationFixture.values(out, sql) == MigrationFixture.values(store.url, sql))
  }

  /// The record can be decoded.
  @Test func rowsOfAnUnknownEntityAreReported() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("UPDATE ZPASSPORT SET Z_ENT = 99 WHERE Z_PK = 1")
    let report = try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"))
    #expect(report.undecoded == ["ZPASSPORT": 1])
    #expect(RepairText.lines(report).contains { $0.contains("or has no known entity") })
  }

  @Test func externalDataFilesAreCopiedOrListed() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    let names = (0..<2).map { _ in UUID().uuidString }
    try store.addFile(names[0])
    try store.addFile("orphan\u{1B}[31m")
    for (key, name) in zip([1, 2], names) {
      try store.run(
        "UPDATE ZPARTY SET ZPHOTO = CAST(x'02' || CAST('\(name)' AS BLOB) || x'00' AS BLOB) "
          + "WHERE Z_PK = (SELECT Z_PK FROM ZPARTY WHERE ZCODE = 'c\(key)')")
    }
    let before = try FolderState(store.folder.url)
    let out = folder.file("Out.sqlite")
    let report = try StoreRepair.repair(store.url, to: out)
    #expect(try FolderState(store.folder.url) == before)
    #expect(report.missingFiles == [names[1]] && report.orphanedFiles == ["orphan\u{1B}[31m"])
    #expect(!report.isComplete && report.remaining == [])
    #expect(try ExternalStorage(storeURL: out).fileNames() == [names[0]])
    let text = RepairText.lines(report).joined(separator: "\n")
    #expect(text.contains(names[1]) && text.contains("orphan") && !text.contains("\u{1B}"))
  }

  @Test func tablesThatTheModelDoesNotHaveAreListed() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    try store.run("CREATE TABLE own (a, b); INSERT INTO own VALUES (1, 'x'), (2, 'y')")
    let report = try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"))
    #expect(report.omitted == ["own": 2] && !report.isComplete)
  }

  @Test func existingFilesAreNotReplaced() throws {
    let store = try OfficeStore()
    let before = try FolderState(store.folder.url)
    #expect(throws: InvalidInputError.self) { try StoreRepair.repair(store.url, to: store.url) }
    let folder = try TemporaryFolder()
    let out = folder.file("Out.sqlite")
    for path in [out.path + "-wal", folder.file(".Out_SUPPORT").path] {
      try Data().write(to: URL(fileURLWithPath: path))
      #expect(throws: InvalidInputError.self) { try StoreRepair.repair(store.url, to: out) }
      try FileManager.default.removeItem(atPath: path)
    }
    try FileManager.default.createSymbolicLink(
      at: out, withDestinationURL: folder.file("Absent.sqlite"))
    #expect(throws: InvalidInputError.self) { try StoreRepair.repair(store.url, to: out) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    #expect(throws: (any Error).self) {
      try StoreRepair.repair(store.url, to: folder.file("Absent/Out.sqlite"))
    }
    #expect(try FolderState(store.folder.url) == before)
  }

  @Test func aStoreIsPlacedWithoutReplacingAFile() throws {
    let (folder, store) = (try TemporaryFolder(), try OfficeStore())
    let out = folder.file("Out.sqlite")
    try Data("own".utf8).write(to: out)
    do {
      try StoreFile.place(store.url, at: out)
      Issue.record("The file was replaced.")
    } catch let error as NSError {
      #expect(error.code == CocoaError.Code.fileWriteFileExists.rawValue)
    }
    #expect(try Data(contentsOf: out) == Data("own".utf8))
    #expect(try StoreDoctor.examine(store.url).findings == [])
  }
}
