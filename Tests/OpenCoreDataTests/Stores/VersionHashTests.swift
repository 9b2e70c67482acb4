import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Version hashes decide which models open a store")
struct VersionHashTests {
  private func open(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentStore {
    try NSPersistentStoreCoordinator(managedObjectModel: model)
      .addPersistentStore(type: .sqlite, at: url)
  }

  private static func notes(unique: Bool) throws -> NSManagedObjectModel {
    let constraint = """
      <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>
      </uniquenessConstraint></uniquenessConstraints>
      """
    return try ModelTablesTests.model(
      """
      <entity name="Note"><attribute name="name" optional="YES" attributeType="String"/>
      \(unique ? constraint : "")</entity>
      """)
  }

  @Test("A model with a uniqueness constraint doesn't open a store that was created without it")
  func modelWithAConstraintDoesNotOpenAStoreWithoutIt() throws {
    let stack = try TestStack(model: Self.notes(unique: false))
    do { _ = try stack.coldContext() }
    let constrained = try Self.notes(unique: true)
    let error = thrownError { _ = try open(stack.storeURL, constrained) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: stack.storeURL)
    #expect(!constrained.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(stack.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }

  /// Creates a store as builds with the earlier formula did.
  private func makeEarlierStore(at url: URL, _ model: NSManagedObjectModel) throws {
    _ = try open(url, model)
    let connection = try Connection(path: url.path, access: .writing)
    defer { connection.close() }
    var metadata = try StoreMetadata(reading: connection)
    metadata.values[StoreMetadata.hashesKey] = model.entitiesByName.mapValues {
      $0.digest(.withoutConstraints)
    }
    metadata.values[StoreMetadata.digestFormulaKey] = 1
    try metadata.write(to: connection)
  }

  @Test(
    "A store with digests of the earlier formula is compared by the model that it contains",
    arguments: [false, true])
  func storeWithEarlierDigestsIsComparedByTheModelItContains(unique: Bool) throws {
    let (model, other) = (try Self.notes(unique: unique), try Self.notes(unique: !unique))
    let stack = try TestStack(model: model)
    try makeEarlierStore(at: stack.storeURL, model)
    _ = try open(stack.storeURL, model)
    let error = thrownError { _ = try open(stack.storeURL, other) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: stack.storeURL)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }

  @Test(
    "Core Data's hashes decide between Core Data's models and stores",
    .enabled(if: SharedData.isHere, SharedData.absence),
    arguments: [
      ("stores/SampleModel_V1.sqlite", "SampleModel", "SampleModel"),
      ("stores/SampleModel_V2.sqlite", "SampleModel", "SampleModel2"),
      ("coredataplus/SampleModel3_V1.sqlite", "SampleModel3", "SampleModel3"),
    ])
  func coreDatasHashesDecideBetweenItsModelsAndStores(
    store: String, folder: String, version: String
  ) throws {
    let copy = try AppleStoreTests.Copy(of: store)
    defer { withExtendedLifetime(copy) {} }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: copy.url)
    let url = SharedData.url("coredataplus/\(folder).momd")
    for name in try NSManagedObjectModel.versions(of: url) {
      let model = try NSManagedObjectModel.read(contentsOf: url, version: name)
      let isOwn = name == version
      #expect(
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) == isOwn)
      let error = thrownError { _ = try open(copy.url, model) }
      #expect(error?.code == (isOwn ? nil : NSPersistentStoreIncompatibleVersionHashError))
    }
  }

  @Test(
    "Models from source documents are compared with the models that Core Data's stores contain",
    .enabled(if: SharedData.isHere, SharedData.absence), arguments: 1...5)
  func sourceModelsAreComparedWithTheModelsInStores(number: Int) throws {
    let name = number == 1 ? "Moody" : "Moody \(number)"
    let copy = try AppleStoreTests.Copy(of: "moody/stores/\(name).moody")
    defer { withExtendedLifetime(copy) {} }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: copy.url)
    let folder = SharedData.url("moody/Moody.xcdatamodeld")
    for version in try NSManagedObjectModel.versions(of: folder) {
      let model = try NSManagedObjectModel.read(contentsOf: folder, version: version)
      #expect(
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
          == (version == name), "\(version)")
    }
    // The digests added for the comparison are never written.
    try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: copy.url)
    let connection = try Connection(path: copy.url.path, access: .inspecting)
    defer { connection.close() }
    let values = try StoreMetadata(reading: connection).values
    #expect(values[NSManagedObjectModel.storedModelDigestsKey] == nil)
  }

  @Test(
    "A store made with a compiled model of Xcode's has Core Data's hashes",
    .enabled(if: SharedData.isHere, SharedData.absence),
    arguments: ["SampleModel", "SampleModel3"], StoreKind.allCases)
  func newStoreHasTheHashesOfItsCompiledModel(name: String, kind: StoreKind) throws {
    let url = SharedData.url("coredataplus/\(name).momd")
    let model = try NSManagedObjectModel.read(contentsOf: url)
    let expected = model.entityVersionHashesByName
    #expect(expected != model.entityDigestsByName)
    let stack = try TestStack(kind, model: model)
    let context = try stack.coldContext()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    #expect(store.metadata[StoreMetadata.hashesKey] as? [String: Data] == expected)
    guard kind != .memory else { return }
    #expect(store.metadata[StoreMetadata.digestFormulaKey] == nil)
    _ = try stack.coldContext()
    let checksum = store.metadata["NSStoreModelVersionChecksumKey"] as? String
    #expect(checksum == (name == "SampleModel3" ? model.versionChecksum : nil))
    // The same model read from an archive opens it, too; another one doesn't.
    guard kind == .sqlite else { return }
    let source = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    for entity in source.entities { entity.recordedVersionHash = nil }
    _ = try open(stack.storeURL, source)
    let first = try #require(source.entities.first)
    let other = try #require(source.copy() as? NSManagedObjectModel)
    other.entitiesByName[first.name ?? ""]?.versionHashModifier = "2"
    let error = thrownError { _ = try open(stack.storeURL, other) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
  }
}
