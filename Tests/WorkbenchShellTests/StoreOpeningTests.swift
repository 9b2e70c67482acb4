import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Opening stores")
struct StoreOpeningTests {
  /// A corruption of a valid store, and a part of the expected error message.
  enum Corruption: String, CaseIterable, Sendable {
    case missing = "there's no file"
    case folder = "is a folder"
    case empty = "is empty"
    case notADatabase = "isn't a SQLite database, or it is encrypted"
    case truncated = "is truncated"
    case otherDatabase = "not a Core Data store: it has no table Z_METADATA"
    case noMetadata = "its table Z_METADATA has no row"
    case noPlist = "the property list in Z_METADATA can't be read"

    func apply(to url: URL) throws {
      switch self {
      case .missing: try FileManager.default.removeItem(at: url)
      case .folder:
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      case .empty: try Data().write(to: url)
      case .notADatabase: try Data("This isn't a store at all.".utf8).write(to: url)
      case .truncated: try Data(contentsOf: url).prefix(9_000).write(to: url)
      case .otherDatabase: try sql("DROP TABLE Z_METADATA", url)
      case .noMetadata: try sql("DELETE FROM Z_METADATA", url)
      case .noPlist: try sql("UPDATE Z_METADATA SET Z_PLIST = x'00'", url)
      }
    }

    private func sql(_ text: String, _ url: URL) throws {
      let connection = try Connection(path: url.path, access: .writing)
      try connection.execute(text)
      connection.close()
    }
  }

  @Test(arguments: Corruption.allCases)
  func rejectsCorruptStoresWithAMessage(corruption: Corruption) throws {
    let store = try TypedSession.store(moods: 50)
    try corruption.apply(to: store.url)
    let before = try FolderState(store.folder.url)
    let isMissing = corruption == .missing || corruption == .folder
    for attempt in [
      { _ = try StoreInspector.inspect(store.url) },
      { _ = try ShellWorkspace(opening: store.url.path) },
    ] {
      let refusal = try #require(throws: InvalidInputError.self) { try attempt() }
      #expect(refusal.message.contains(corruption.rawValue))
      #expect(refusal.message.contains("small.sqlite"))
      #expect(!refusal.nextStep.isEmpty)
      #expect((refusal.kind == .missing) == isMissing)
    }
    #expect(try FolderState(store.folder.url) == before)
  }

  /// With and without rows in the WAL, in writable and read-only folders.
  @Test(arguments: [false, true], [false, true])
  func readOnlyOpenModifiesNoFile(hasWAL: Bool, isReadOnly: Bool) throws {
    let original = try TypedSession.store(moods: 50)
    let folder = original.folder.file("opened")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("small.sqlite")
    let writer = try Connection(path: original.url.path, access: .writing)
    try writer.execute("PRAGMA wal_autocheckpoint = 0")
    if hasWAL { try writer.execute("DELETE FROM ZMOOD WHERE Z_PK > 10") }
    // The writer is still open, so the WAL is copied, too.
    try StoreFile.copy(from: original.url, to: url)
    writer.close()
    #expect((try FolderState(folder).size(of: "small.sqlite-wal") > 0) == hasWAL)
    if isReadOnly {
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    }
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    }
    let before = try FolderState(folder)
    let moods = hasWAL ? 10 : 50
    let inspection = try StoreInspector.inspect(url)
    #expect(inspection.entities.first { $0.name == "Mood" }?.count == moods)
    let shell = try ShellSession(url)
    #expect(shell.type("count Mood").lines.first?.hasPrefix("  \(moods) Mood ") == true)
    shell.type("fetch Mood batch 5 as m", "touch m country.updatedAt", "explain 2", "entities")
    #expect(shell.type("reset").failure == nil)
    #expect(try FolderState(folder) == before)
    withExtendedLifetime(original.folder) {}
  }

  /// An older version of the model may have had other entities.
  @Test("`explain` translates a predicate with the entity IDs of the store")
  func predicatesAreExplainedWithEntityIDsOfTheStore() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Animals.sqlite")
    let (animal, dog) = (NSEntityDescription(), NSEntityDescription())
    (animal.name, dog.name) = ("Animal", "Dog")
    let name = NSAttributeDescription()
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    animal.properties = [name]
    animal.subentities = [dog]
    let model = NSManagedObjectModel()
    model.entities = [animal, dog]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
    let connection = try Connection(path: url.path, access: .writing)
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 100")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_SUPER = 101 WHERE Z_SUPER = 1")
    try connection.execute(
      "INSERT INTO ZANIMAL(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 102, 1, 'Rex')")
    connection.close()
    let shell = try ShellSession(url)
    let fetched = shell.type("fetch Dog where \"name == 'Rex'\"").lines
    #expect(fetched.first?.contains("1 Dog") == true, "\(fetched)")
    let lines = shell.type("explain").lines
    #expect(lines.contains { $0.hasSuffix(" [1] 102") }, "\(lines)")
  }

  /// Unmappable rows don't hide the others, and are reported.
  @Test func validRowsAreShownAndUnmappableRowsReported() throws {
    let store = try OfficeStore()
    var validCount = 0
    try StoreRows(store.url, entity: "Party", where: nil).forEach { _ in validCount += 1 }
    try store.run("UPDATE ZPARTY SET Z_ENT = 77 WHERE ZCODE = 'c1'")
    try store.run("UPDATE ZPARTY SET Z_PK = -5 WHERE ZCODE = 'c2'")
    let rows = try StoreRows(store.url, entity: "Party", where: nil)
    var shown = 0
    try rows.forEach { _ in shown += 1 }
    #expect(shown == validCount - 2)
    let refusal = #expect(throws: InvalidInputError.self) { try rows.check() }
    #expect(refusal?.kind == .unusable)
    #expect(refusal?.message.contains("entity ID 77") == true)
    #expect(refusal?.message.contains("has the Z_PK -5") == true)

    let engine = try ShellEngine(workspace: ShellWorkspace(opening: store.url.path)) { _ in }
    defer { engine.close() }
    for _ in 0..<2 {
      let answer = engine.answer(to: "fetch Party as parties")
      #expect(answer.lines.contains { $0.contains("\(validCount - 2)") }, "\(answer.lines)")
      #expect(answer.failure?.message.contains("entity ID 77") == true)
    }
    #expect(engine.answer(to: "fetch Tag").failure == nil)
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.entities.contains { $0.name == "Tag" && $0.count == 2 })
    #expect(inspection.unmappableRows.map(\.table) == ["ZPARTY"])
    #expect(
      inspection.unmappableRows.first?.count == 2
        && inspection.unmappableRows.first?.keys.first == -5)
    // In a writable store, unmappable rows are an error.
    let writing = try ShellEngine(
      workspace: ShellWorkspace(opening: store.url.path, writing: .copy)
    ) { _ in }
    defer { writing.close() }
    let rejected = writing.answer(to: "fetch Party as parties")
    #expect(rejected.lines.isEmpty && rejected.failure?.message.contains("(259)") == true)
  }
}
