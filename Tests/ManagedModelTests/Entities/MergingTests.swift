import Testing

@testable import ManagedModel

@Suite struct MergingTests {
  static func model(_ entities: String) throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data("<model>\(entities)</model>".utf8), file: "Zoo")
  }

  static let animal = """
    <entity name="Animal"><attribute name="name" optional="YES" attributeType="String"/></entity>
    """
  static let keeper = """
    <entity name="Keeper"><relationship name="animals" toMany="YES" destinationEntity="Animal"/>
    </entity><configuration name="People"><memberEntity name="Keeper"/></configuration>
    """

  @Test("S-A04 merging returns the union of the entities; differing entities are an error")
  func mergedModelHasTheUnionOfEntities() async throws {
    let one = try Self.model(Self.animal)
    #expect(NSManagedObjectModel(byMerging: [one])?.outline == one.outline)
    let two = try Self.model(
      Self.animal + Self.keeper + #"<entity name="Lion" parentEntity="Animal"/>"#)
    let merged = try #require(NSManagedObjectModel(byMerging: [one, two]))
    #expect(merged.outline == two.outline)
    #expect(merged.validate() == [])
    let animal = try #require(merged.entitiesByName["Animal"])
    #expect(animal.subentities.map(\.name) == ["Lion"])
    #expect(
      merged.entitiesByName["Keeper"]?.relationshipsByName["animals"]?.destinationEntity === animal)
    #expect(merged.entities(forConfigurationName: "People")?.map(\.name) == ["Keeper"])
    animal.name = "Beast"
    #expect(one.entitiesByName["Animal"] != nil && two.entitiesByName["Animal"] != nil)
    let none = try #require(NSManagedObjectModel(byMerging: []))
    #expect(none.entities.isEmpty && none.configurations.isEmpty)

    let clash = try Self.model(#"<entity name="Animal" isAbstract="YES"/>"#)
    let errors = #expect(throws: ModelErrors.self) {
      try NSManagedObjectModel.merging([one, clash])
    }
    #expect(
      errors?.description
        == "Animal: Two of the models have an entity Animal, and they differ. "
        + "Rename one of them, or make them identical.")
    let clashing = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let one = try MergingTests.model(MergingTests.animal)
      let clash = try MergingTests.model(#"<entity name="Animal" isAbstract="YES"/>"#)
      _ = NSManagedObjectModel(byMerging: [one, clash])
    }
    #expect(clashing.message.contains("The models can't be merged: Animal"))
  }

  @Test func mergingForStoreMetadataSelectsMatchingModels() throws {
    let first = try Self.model(Self.animal)
    let second = try Self.model(
      Self.animal.replacingOccurrences(of: "String", with: "Date"))
    let other = try Self.model(#"<entity name="Zoo"/>"#)
    func metadata(_ model: NSManagedObjectModel) -> [String: Any] {
      ["NSStoreModelVersionHashes": model.entityVersionHashesByName]
    }
    let versions = [first, second, other]
    let found = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata(second))
    #expect(found?.outline == second.outline)
    let both = try NSManagedObjectModel.merging([first, other])
    let union = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata(both))
    #expect(union?.outline == both.outline)
    #expect(
      NSManagedObjectModel(byMerging: [first, other], forStoreMetadata: metadata(second)) == nil)
  }

  @Test("Of versions with the same hashes, the first is merged for a store of several models")
  func firstOfVersionsWithEqualHashesIsMerged() throws {
    let other = try Self.model(#"<entity name="Zoo"/>"#)
    let classes = [nil, "Beast", "Creature"]
    let versions = try classes.map { name in
      let model = try Self.model(Self.animal)
      if let name { model.entitiesByName["Animal"]?.managedObjectClassName = name }
      return model
    }
    #expect(throws: ModelErrors.self) { try NSManagedObjectModel.merging(versions) }
    let whole = try NSManagedObjectModel.merging([versions[0], other])
    let metadata = ["NSStoreModelVersionHashes": whole.entityVersionHashesByName]
    let models = [versions[1], other, versions[2], versions[0]]
    let found = try #require(
      NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata))
    #expect(found.entitiesByName.keys.sorted() == ["Animal", "Zoo"])
    #expect(found.entitiesByName["Animal"]?.managedObjectClassName == "Beast")
    #expect(NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata) == nil)
  }

  @Test("S-A05 a missing model is nil or an error; the models of a bundle are merged")
  func missingModelIsNilAndBundlesAreMerged() throws {
    let url = URL(fileURLWithPath: "/nowhere/Zoo.momd")
    #expect(NSManagedObjectModel(contentsOf: url) == nil)
    let errors = #expect(throws: ModelErrors.self) {
      try NSManagedObjectModel.read(contentsOf: url)
    }
    #expect(
      errors?.description
        == "/nowhere/Zoo.momd: error: There's no such file or folder. Check the name.")
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["First.xcdatamodel", "Second.xcdatamodel"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    try Data("<model>\(Self.animal)</model>".utf8).write(
      to: folder.appendingPathComponent("First.xcdatamodel/contents"))
    let bundle = try #require(Bundle(path: folder.path))
    #expect(NSManagedObjectModel.mergedModel(from: [])?.entities.isEmpty == true)
    #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.entities.count == 1)
    try Data("<model>\(Self.keeper)\(Self.animal)</model>".utf8).write(
      to: folder.appendingPathComponent("Second.xcdatamodel/contents"))
    let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
    #expect(merged.entities.count == 2)
    let hashes = [
      "NSStoreModelVersionHashes": try Self.model(Self.animal).entityVersionHashesByName
    ]
    #expect(
      NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: hashes)?.entities.count
        == 1)
  }

  @Test(
    "S-A07 property names of NSManagedObject are errors",
    arguments: [
      "description", "objectID", "entity",
    ])
  func reservedPropertyNamesAreErrors(name: String) {
    let document = """
      <model><entity name="Animal"><attribute name="\(name)" attributeType="String"/></entity></model>
      """
    let errors = #expect(throws: ModelErrors.self) {
      try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    }
    #expect(
      errors?.description
        == "Zoo:1:47: error: Animal.\(name): Every managed object already has a property \(name). "
        + "Rename the model's property.")
  }
}
