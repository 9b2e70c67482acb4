import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("The digest of version hashes in metadata")
struct HashesDigestTests {
  private typealias Sample = LightweightMigrationTests
  private static let key = "NSStoreModelVersionHashesDigest"

  private static func metadata(of url: URL) throws -> (hashes: [String: Data], digest: String?) {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: url)
    let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
    return (hashes, metadata[key] as? String)
  }

  @Test(
    "M-2 The digest in Core Data's stores is that of their hashes",
    .enabled(if: SharedData.isHere, SharedData.absence),
    arguments: ["stores/SampleModel_V1.sqlite", "stores/SampleModel_V2.sqlite"])
  func digestIsCoreDatas(path: String) throws {
    let (hashes, digest) = try Self.metadata(of: SharedData.url(path))
    #expect(digest != nil)
    #expect(StoreMetadata.digest(of: hashes) == digest)
  }

  @Test("M-2 New and migrated stores have the digest of their hashes")
  func digestIsWritten() throws {
    let store = try Sample.store()
    let before = try Self.metadata(of: store.url)
    #expect(StoreMetadata.digest(of: before.hashes) == before.digest)
    try store.migrate(
      to: Sample.model { person, _ in person.properties.removeAll { $0.name == "age" } })
    let after = try Self.metadata(of: store.url)
    #expect(StoreMetadata.digest(of: after.hashes) == after.digest)
    #expect(after.digest != before.digest)
  }

  @Test("M-2 A store is opened by its hashes, whatever its digest is, and the app can't change it")
  func digestIsNotCompared() throws {
    let store = try Sample.store()
    let digest = try Self.metadata(of: store.url).digest
    try NSPersistentStoreCoordinator.setMetadata(
      [Self.key: "other", "app": "mine"], type: .sqlite, at: store.url)
    #expect(try Self.metadata(of: store.url).digest == digest)
    let connection = try Connection(path: store.url.path, access: .writing)
    var metadata = try StoreMetadata(reading: connection)
    metadata.values[Self.key] = "other"
    try metadata.write(to: connection)
    connection.close()
    #expect(try Self.metadata(of: store.url).digest == "other")
    #expect(throws: Never.self) { try store.open(Sample.model(), options: nil) }
  }
}
