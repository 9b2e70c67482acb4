import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite struct StoreMetadataTests {
  @Test(.enabled(if: SharedData.isHere, SharedData.absence))
  func rewritingPreservesTheMetadataOfAnAppleStore() throws {
    let connection = try SharedData.copy(of: "moody/stores/Moody.moody")
    let read = try StoreMetadata(reading: connection)
    #expect(read.uuid == "374C5961-3E41-43E5-915C-383EA914074C")
    #expect(read.hashes["Mood"]?.count == 32)
    #expect(read.values[StoreMetadata.identifiersKey] as? [String] == [""])
    #expect(read.values[StoreMetadata.frameworkVersionKey] as? Int == 637)
    #expect(!read.hasOwnDigests)
    try read.write(to: connection)
    let again = try StoreMetadata(reading: connection)
    #expect(again.uuid == read.uuid)
    #expect(NSDictionary(dictionary: again.values) == NSDictionary(dictionary: read.values))
    #expect(
      again.values["io.objc.Moody.CloudKitUserID"] as? String
        == "_62a0ed0ad3b375fc9ec7fdf66dfd9c63")
    #expect(try connection.values("SELECT COUNT(*) FROM Z_METADATA") == [[.integer(1)]])
  }

  /// A file can list any number of them.
  @Test func manyDifferingEntitiesAreCounted() throws {
    let library = SchemaModels.library()
    var digests: [String: Data] = [:]
    for number in 1_000..<2_000 { digests["E\(number)"] = Data(repeating: 7, count: 32) }
    let metadata = StoreMetadata(model: library, digests: digests, digestFormula: 4)
    let error = #expect(throws: NSError.self) {
      try metadata.check(library, nil, at: URL(fileURLWithPath: "/absent")) { nil }
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let message = error?.localizedDescription ?? ""
    #expect(message.hasSuffix(" more.") && message.count < 500, "\(message)")
  }

  @Test func newMetadataMarksOpenCoreDataDigests() throws {
    let library = SchemaModels.library()
    library.versionIdentifiers = ["2", "beta"]
    let digest = Data(repeating: 7, count: 32)
    let made = StoreMetadata(model: library, digests: ["Tag": digest], digestFormula: 4)
    let connection = try SharedData.newFile()
    try SchemaBuilder(model: SQLModel(model: library))
      .create(on: connection, metadata: made, modelCache: [1, 2, 3])
    let read = try StoreMetadata(reading: connection)
    #expect(read.uuid == made.uuid)
    #expect(UUID(uuidString: read.uuid) != nil)
    #expect(read.hashes == ["Tag": digest])
    #expect(read.values[StoreMetadata.identifiersKey] as? [String] == ["2", "beta"])
    #expect(read.values[StoreMetadata.digestFormulaKey] as? Int == 4)
    #expect(read.values["NSStoreType"] as? String == "SQLite")
    #expect(read.values["_NSAutoVacuumLevel"] as? String == "2")
    #expect(
      try connection.values("SELECT Z_CONTENT FROM Z_MODELCACHE") == [[.blob([1, 2, 3])]])
  }

  @Test(arguments: [
    ("DROP TABLE Z_METADATA", StoreMetadata.Problem.noTable),
    ("DELETE FROM Z_METADATA", .noRow),
    ("UPDATE Z_METADATA SET Z_UUID = NULL", .noUUID),
    ("UPDATE Z_METADATA SET Z_PLIST = x'62706C6973743030FFFF'", .corruptPropertyList),
  ])
  func corruptMetadataIsReported(change: String, problem: StoreMetadata.Problem) throws {
    let connection = try SharedData.newFile()
    let library = SchemaModels.library()
    try SchemaBuilder(model: SQLModel(model: library)).create(
      on: connection,
      metadata: StoreMetadata(model: library, digests: [:], digestFormula: 1), modelCache: nil)
    try connection.execute(change)
    #expect(throws: problem) { try StoreMetadata(reading: connection) }
  }
}
