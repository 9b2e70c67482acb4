import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Corrupt stores never trap")
struct CorruptStoreTests {
  /// A deterministic random number generator (xorshift).
  private struct XorshiftGenerator {
    var state: UInt64

    mutating func next(below bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(max(1, bound)))
    }
  }

  /// Inspects a store, examines it, reads its rows, and writes to it, ignoring errors.
  private func readAndWrite(_ url: URL) {
    var entities = ["Person", "Car"]
    if let inspection = try? StoreInspector.inspect(url) {
      #expect(!InspectionText.lines(inspection).isEmpty)
      entities = inspection.entities.map(\.name)
    }
    if let report = try? StoreDoctor.examine(url) { #expect(!DoctorText.lines(report).isEmpty) }
    for entity in entities {
      try? StoreRows(url, entity: entity, where: nil).forEach { _ in }
    }
    try? write(to: url)
  }

  private func write(to url: URL) throws {
    let model = try StoreModel.ofStore(at: url).model
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      for (name, entity) in model.entitiesByName where !entity.isAbstract {
        _ = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        do { try context.save() } catch { context.reset() }
      }
    }
  }

  @Test(arguments: 1...40)
  func randomByteChangesDoNotCrash(seed: Int) throws {
    let store = try OfficeStore(hasHistory: seed.isMultiple(of: 2))
    var generator = XorshiftGenerator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    var bytes = try Data(contentsOf: store.url)
    for _ in 0..<(1 + generator.next(below: 12)) {
      // The first bytes of the header don't change, so that SQLite still opens the file.
      let offset = 18 + generator.next(below: bytes.count - 18)
      switch generator.next(below: 4) {
      case 0: bytes[offset] = UInt8(generator.next(below: 256))
      case 1: bytes[offset] ^= UInt8(1 << generator.next(below: 8))
      case 2:
        let end = min(bytes.count, offset + generator.next(below: 200))
        for index in offset..<end { bytes[index] = 0xFF }
      default:
        let page = generator.next(below: bytes.count / 4_096) * 4_096
        bytes[page + generator.next(below: 16)] = UInt8(generator.next(below: 256))
      }
    }
    if generator.next(below: 6) == 0 { bytes = bytes.prefix(4_096 + generator.next(below: 40_000)) }
    try bytes.write(to: store.url)
    readAndWrite(store.url)
  }

  @Test(
    arguments: [
      "UPDATE Z_PRIMARYKEY SET Z_ENT = -Z_ENT",
      "DELETE FROM Z_MODELCACHE; UPDATE Z_PRIMARYKEY SET Z_ENT = -Z_ENT WHERE Z_ENT = 2",
      "UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 9223372036854700000",
      "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 4 - Z_ENT",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Party'", "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = x'FF00FF'", "UPDATE Z_PRIMARYKEY SET Z_NAME = '\"; --'",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807", "DELETE FROM Z_PRIMARYKEY",
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 'many'", "UPDATE Z_PRIMARYKEY SET Z_MAX = -5",
      "UPDATE ZPARTY SET Z_PK = -Z_PK", "UPDATE ZPARTY SET Z_ENT = 9223372036854775807",
      "UPDATE ZPARTY SET Z_OPT = 9223372036854775807", "UPDATE ZPARTY SET Z_OPT = 'x'",
      "UPDATE ZNOTE SET ZPERSON = Z_PK + 9223372036854775800",
      "UPDATE ZPARTY SET ZNAME = x'C3'", "UPDATE ZPARTY SET ZPHOTO = x'02'",
      "UPDATE ZPARTY SET ZNOTECOUNT = 'x', ZHOURSSUM = x'00', ZSAVEDAT = 9e999",
      "UPDATE Z_METADATA SET Z_PLIST = randomblob(1000)", "UPDATE Z_METADATA SET Z_UUID = x'00'",
      "UPDATE Z_MODELCACHE SET Z_CONTENT = randomblob(5000)",
      "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL",
      "UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, 700)",
      "DELETE FROM Z_MODELCACHE; UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT % 3 + 1",
      "DELETE FROM Z_MODELCACHE; DROP TABLE ZPARTY",
      "DELETE FROM Z_MODELCACHE; ALTER TABLE ZNOTE ADD \"Z\"; ALTER TABLE ZNOTE ADD \"Z9_X\"",
      "DELETE FROM Z_MODELCACHE; CREATE TABLE Z_4ODD ( Z_4A INTEGER, Z_99B INTEGER )",
      "DELETE FROM Z_MODELCACHE; CREATE TABLE Z_2ODD ( Z_2ODD INTEGER, REFLEXIVE INTEGER )",
      "DROP TABLE Z_4TAGS", "DROP TABLE ZTAG", "ALTER TABLE ZPARTY DROP COLUMN ZPHOTO",
      "DROP TABLE ZPASSPORT; CREATE VIEW ZPASSPORT AS SELECT 1 Z_PK, 1 Z_ENT",
      "DROP TABLE ATRANSACTION; CREATE TABLE ATRANSACTION (X)",
    ])
  func invalidRowsAndTablesDoNotCrash(statements: String) throws {
    let store = try OfficeStore()
    try store.run(statements)
    readAndWrite(store.url)
  }
}
