import Testing

@testable import ManagedModel

@Suite struct DigestTests {
  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ])
  func sha256MatchesPublishedHashes(count: Int, expected: String) {
    let bytes =
      count == 3 ? Array("abc".utf8) : [UInt8](repeating: UInt8(ascii: "a"), count: count)
    #expect(Self.text(SHA256.hash(bytes)) == expected)
  }

  @Test(arguments: [
    (
      "",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    ),
    (
      "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
        + "mnopqrstnopqrstu",
      "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
        + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
    ),
  ])
  func sha512MatchesPublishedHashes(text: String, expected: String) {
    #expect(Self.text(SHA512.hash(Array(text.utf8))) == expected)
  }

  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
  }

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let changed: Set<String>
    let make: @Sendable (NSManagedObjectModel) -> Void
  }

  static func name(_ model: NSManagedObjectModel) -> NSAttributeDescription? {
    model.entitiesByName["Animal"]?.attributesByName["name"]
  }

  static let all: Set = ["Animal", "Lion"]
  static let changes = [
    Change(testDescription: "a name", changed: all) { name($0)?.name = "title" },
    Change(testDescription: "a type", changed: all) {
      name($0)?.attributeType = .dateAttributeType
    },
    Change(testDescription: "optionality", changed: all) { name($0)?.isOptional = false },
    Change(testDescription: "a transient", changed: all) { name($0)?.isTransient = true },
    Change(testDescription: "a modifier", changed: all) { name($0)?.versionHashModifier = "2" },
    Change(testDescription: "a child's modifier", changed: ["Lion"]) {
      $0.entitiesByName["Lion"]?.versionHashModifier = "2"
    },
    Change(testDescription: "abstractness", changed: all) {
      $0.entitiesByName["Animal"]?.isAbstract = true
    },
    Change(testDescription: "order", changed: ["Keeper"]) {
      $0.entitiesByName["Keeper"]?.relationshipsByName["animals"]?.isOrdered = true
    },
    Change(testDescription: "to one", changed: ["Keeper"]) {
      $0.entitiesByName["Keeper"]?.relationshipsByName["animals"]?.maxCount = 1
    },
    Change(testDescription: "a delete rule", changed: []) {
      $0.entitiesByName["Keeper"]?.relationshipsByName["animals"]?.deleteRule = .cascadeDeleteRule
    },
    Change(testDescription: "a class name", changed: []) {
      $0.entitiesByName["Lion"]?.managedObjectClassName = "Cat"
    },
    Change(testDescription: "notes", changed: []) { name($0)?.userInfo = ["a": "b"] },
    Change(testDescription: "a default value", changed: []) { name($0)?.defaultValue = "x" },
    Change(testDescription: "an index", changed: []) { name($0)?.isIndexed = true },
    Change(testDescription: "a uniqueness constraint", changed: all) {
      $0.entitiesByName["Animal"]?.uniquenessConstraints = [["name"]]
    },
    Change(testDescription: "a child's uniqueness constraint", changed: ["Lion"]) {
      $0.entitiesByName["Lion"]?.uniquenessConstraints = [["name", "keeper"]]
    },
    Change(testDescription: "external storage of a string", changed: []) {
      name($0)?.allowsExternalBinaryDataStorage = true
    },
    Change(testDescription: "an identifier", changed: []) { $0.versionIdentifiers = ["2"] },
    Change(testDescription: "the order of the properties", changed: []) {
      $0.entitiesByName["Animal"]?.properties.reverse()
    },
  ]

  static func model() throws -> NSManagedObjectModel {
    let document = """
      <model><entity name="Animal"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="keeper" maxCount="1" destinationEntity="Keeper" inverseName="animals"/>
      </entity><entity name="Lion" parentEntity="Animal"/><entity name="Keeper">
      <relationship name="animals" toMany="YES" destinationEntity="Animal" inverseName="keeper"/>
      </entity><configuration name="People"><memberEntity name="Keeper"/></configuration></model>
      """
    return try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
  }

  @Test(arguments: changes)
  func onlyChangesOfStoredDataAffectVersionHashes(_ change: Change) throws {
    let model = try Self.model()
    let before = model.entityVersionHashesByName
    let digest = model.digest
    let metadata: [String: Any] = [
      "NSStoreModelVersionHashes": before,
      NSManagedObjectModel.digestFormulaKey: DigestFormula.current.rawValue,
    ]
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    change.make(model)
    let after = model.entityVersionHashesByName
    #expect(Set(after.keys.filter { after[$0] != before[$0] }) == change.changed)
    #expect((model.digest != digest) == !change.changed.isEmpty)
    #expect(
      model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        == change.changed.isEmpty)
  }

  @Test func configurationMatchesOnlyItsEntities() throws {
    let model = try Self.model()
    let people = ["Keeper": try #require(model.entityVersionHashesByName["Keeper"])]
    let metadata = ["NSStoreModelVersionHashes": people]
    #expect(people["Keeper"]?.count == 32)
    #expect(model.isConfiguration(withName: "People", compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: "Other", compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: "People", compatibleWithStoreMetadata: [:]))
  }

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func checksumsOfAVersionedModelMatchItsVersions() throws {
    let url = SharedData.url("moody/Moody.xcdatamodeld")
    let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: url)
    #expect(checksums.count == 6 && Set(checksums.values).count >= 5)
    let fourth = try NSManagedObjectModel.read(contentsOf: url, version: "Moody 4")
    #expect(checksums["Moody 4"] == fourth.versionChecksum)
    let error = #expect(throws: NSError.self) {
      try NSManagedObjectModel.checksumsForVersionedModel(at: URL(fileURLWithPath: "/no.momd"))
    }
    #expect(error?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
  }

  @Test func earlierFormulaIgnoresOnlyConstraints() throws {
    let model = try Self.model()
    let lion = try #require(model.entitiesByName["Lion"])
    #expect(lion.digest(.withoutConstraints) == lion.digest(.current))
    let before = lion.digest
    lion.uniquenessConstraints = [["name"], ["keeper"]]
    #expect(lion.digest(.withoutConstraints) == before && lion.digest != before)
    let constrained = lion.digest
    lion.uniquenessConstraints = [["keeper"], ["name"]]
    #expect(lion.digest == constrained)
    lion.uniquenessConstraints = [["keeper", "name"]]
    #expect(lion.digest != constrained)
  }

  @Test func externalStorageOfBytesIsPartOfTheHash() throws {
    let model = try Self.model()
    let keeper = try #require(model.entitiesByName["Keeper"])
    let photo = NSAttributeDescription()
    (photo.name, photo.attributeType) = ("photo", .binaryDataAttributeType)
    keeper.properties.append(photo)
    let before = keeper.digest
    #expect(keeper.digest(.withoutExternalStorage) == before)
    photo.allowsExternalBinaryDataStorage = true
    #expect(keeper.digest != before)
    #expect(keeper.digest(.withoutExternalStorage) == before)
    // A store of another kind, whose metadata states no formula, may have the earlier hash.
    #expect(
      model.isConfiguration(
        withName: "People",
        compatibleWithStoreMetadata: ["NSStoreModelVersionHashes": ["Keeper": before]]
      ))
    photo.isTransient = true
    let transient = keeper.digest
    photo.allowsExternalBinaryDataStorage = false
    #expect(keeper.digest == transient)
  }

  @Test func digestMatchesARecordedValue() throws {
    let digest = Self.text(Array(try Self.model().digest))
    #expect(digest == "9784c4fca418a407b3e63fc03bf57fcfa4fe807c2f7b5c3a093bf263eacab85d")
  }
}
