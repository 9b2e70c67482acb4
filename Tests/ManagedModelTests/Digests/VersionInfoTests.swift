import Testing

@testable import ManagedModel

@Suite("VersionInfo.plist of compiled models")
struct VersionInfoTests {
  private static let key = "NSManagedObjectModel_VersionHashes"
  /// Writes a compiled model with a VersionInfo.plist and reads it.
  private func read(_ list: Any?) throws -> NSManagedObjectModel {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("VersionInfoTests-\(UUID().uuidString)/Zoo.momd")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
    let file = folder.appendingPathComponent("Zoo.mom")
    try Data(ModelArchive.bytes(of: DigestTests.model())).write(to: file)
    if let list {
      let data =
        try list as? Data
        ?? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
      try data.write(to: folder.appendingPathComponent("VersionInfo.plist"))
    }
    return try NSManagedObjectModel.read(contentsOf: file)
  }

  private static func hash(_ byte: UInt8) -> Data { Data(repeating: byte, count: 32) }
  private static let hashes = ["Animal": hash(1), "Lion": hash(2), "Keeper": hash(3)]

  @Test func entitiesHaveTheirRecordedHashesUntilTheyChange() throws {
    let model = try read([
      Self.key: ["Zoo": Self.hashes, "Zoo 2": ["Animal": Self.hash(9)]],
      "NSManagedObjectModel_VersionChecksums": ["Zoo": "checksum"],
    ])
    #expect(model.readerWarnings == [])
    #expect(model.entityVersionHashesByName == Self.hashes)
    #expect(model.versionChecksum == "checksum")
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let merged = try #require(NSManagedObjectModel(byMerging: [model]))
    let archived = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    for model in [copy, merged, archived] {
      #expect(model.entityVersionHashesByName == Self.hashes)
      #expect(model.versionChecksum == "checksum")
    }
    copy.entitiesByName["Animal"]?.managedObjectClassName = "Beast"
    #expect(copy.entityVersionHashesByName == Self.hashes)
    copy.entitiesByName["Animal"]?.attributesByName["name"]?.isOptional = false
    let changed = copy.entityVersionHashesByName
    #expect(changed["Keeper"] == Self.hashes["Keeper"])
    #expect(changed["Animal"] == copy.entitiesByName["Animal"]?.digest)
    #expect(changed["Lion"] == copy.entitiesByName["Lion"]?.digest)
    #expect(copy.versionChecksum == copy.digest.base64EncodedString())
    #expect(model.entityVersionHashesByName == Self.hashes)
  }

  @Test func metadataOfCoreDataMatchesByHash() throws {
    let model = try read([Self.key: ["Zoo": Self.hashes]])
    let metadata = ["NSStoreModelVersionHashes": Self.hashes]
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    var other = Self.hashes
    other["Lion"] = Self.hash(7)
    #expect(
      !model.isConfiguration(
        withName: nil, compatibleWithStoreMetadata: ["NSStoreModelVersionHashes": other]))
    // The digests of the model in a store don't outweigh hashes that can be compared.
    #expect(
      !model.isConfiguration(
        withName: nil,
        compatibleWithStoreMetadata: [
          "NSStoreModelVersionHashes": other,
          NSManagedObjectModel.storedModelDigestsKey: model.entityDigestsByName,
        ]))
    let written = try DigestTests.model()
    #expect(!written.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(
      written.isConfiguration(
        withName: nil,
        compatibleWithStoreMetadata: [
          "NSStoreModelVersionHashes": Self.hashes,
          NSManagedObjectModel.storedModelDigestsKey: model.entityDigestsByName,
        ]))
    #expect(NSManagedObjectModel(byMerging: [written, model], forStoreMetadata: metadata) == model)
  }

  @Test(
    arguments: [
      (nil, nil), ([:] as [String: String], nil), ([key: ["Other": hashes]], nil),
      (Data([1, 2, 3]), "can't be read"), (["an array"], "can't be read"),
      ([key: "text"], "isn't a dictionary"), ([key: ["Zoo": "text"]], "aren't 32 bytes"),
      ([key: ["Zoo": ["Animal": Data([1]), "Lion": hash(2), "Keeper": hash(3)]]], "aren't 32"),
      ([key: ["Zoo": ["Animal": 5, "Lion": 6, "Keeper": 7]]], "aren't 32"),
      ([key: ["Zoo": ["Animal": hash(1), "Tiger": hash(2)]]], "Keeper, Lion, Tiger."),
    ] as [((any Sendable)?, String?)])
  func mismatchedHashesAreIgnored(list: (any Sendable)?, warning: String?) throws {
    let model = try read(list)
    #expect(model.entityVersionHashesByName == model.entityDigestsByName)
    #expect(model.readerWarnings.count == (warning == nil ? 0 : 1))
    if let warning { #expect("\(model.readerWarnings)".contains(warning)) }
  }

  @Test(
    .enabled(if: SharedData.isUsed, SharedData.reason),
    arguments: ["SampleModel", "SampleModel3"])
  func realModelsHaveTheHashesOfTheirVersionInfo(name: String) throws {
    let url = SharedData.url("coredataplus/\(name).momd")
    let data = try Data(contentsOf: url.appendingPathComponent("VersionInfo.plist"))
    let list = try #require(PropertyList.read(Array(data)) as? [String: Any])
    let hashes = try #require(list[Self.key] as? [String: [String: Data]])
    #expect(try NSManagedObjectModel.versions(of: url).sorted() == hashes.keys.sorted())
    for (version, expected) in hashes {
      let model = try NSManagedObjectModel.read(contentsOf: url, version: version)
      #expect(model.entityVersionHashesByName == expected && model.readerWarnings == [])
      let file = url.appendingPathComponent("\(version).mom")
      #expect(NSManagedObjectModel(contentsOf: file)?.entityVersionHashesByName == expected)
    }
    if let checksums = list["NSManagedObjectModel_VersionChecksums"] as? [String: String] {
      #expect(try NSManagedObjectModel.checksumsForVersionedModel(at: url) == checksums)
    }
  }
}
