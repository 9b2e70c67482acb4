import Testing

@testable import ManagedModel

@Suite struct ModelArchiveTests {
  static let pairs = [
    ("moody/stores/Moody.moody", "moody/Moody.xcdatamodeld", "Moody"),
    ("moody/stores/Moody 2.moody", "moody/Moody.xcdatamodeld", "Moody 2"),
    ("moody/stores/Moody 3.moody", "moody/Moody.xcdatamodeld", "Moody 3"),
    ("moody/stores/Moody 4.moody", "moody/Moody.xcdatamodeld", "Moody 4"),
    ("moody/stores/Moody 5.moody", "moody/Moody.xcdatamodeld", "Moody 5"),
    ("stores/SampleModel_V1.sqlite", samples, "SampleModel"),
    ("stores/SampleModel_V2.sqlite", samples, "SampleModel2"),
  ]
  static let samples = "models/CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld"

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason), arguments: pairs)
  func storedModelMatchesItsDocument(
    store: String, package: String, version: String
  ) throws {
    let cache = try #require(try StoreFile.modelCache(of: SharedData.url(store)))
    let stored = try ModelArchive.read(deflated: cache)
    let document = try NSManagedObjectModel.read(
      contentsOf: SharedData.url(package), version: version)
    #expect(try ModelArchive.read(deflated: ModelArchive.write(stored)).outline == stored.outline)
    // The stores were created with other copies of the models, whose class names and identifiers
    // differ. Archives don't contain the class of transformable values.
    for model in [stored, document] {
      model.versionIdentifiers = []
      for entity in model.entities {
        entity.managedObjectClassName = nil
        for case let attribute as NSAttributeDescription in entity.ownProperties {
          attribute.explicitValueClassName = nil
        }
      }
    }
    #expect(Self.differences(stored.outline, document.outline) == [])
    #expect(stored.validate() == [])
  }

  /// The differences of two lists.
  static func differences(_ left: [String], _ right: [String]) -> [String] {
    right.difference(from: left).map { "\($0)" }
  }

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func everyRealModelRoundTrips() throws {
    for path in SharedData.paths(endingIn: ".xcdatamodel/contents") {
      let model = try NSManagedObjectModel.read(contentsOf: SharedData.url(path))
      let copy = try ModelArchive.read(deflated: ModelArchive.write(model))
      #expect(Self.differences(copy.outline, model.outline) == [], "\(path)")
    }
  }

  @Test func everyModelPropertyRoundTrips() throws {
    let data = Data(ModelDocumentTests.document.utf8)
    let model = try ModelDocument.read(data: data, file: "Zoo")
    let animal = try #require(model.entitiesByName["Animal"])
    for (index, text) in ["0", "-12.5", "340282366920938463463374607431768211455e-20"].enumerated()
    {
      let attribute = NSAttributeDescription()
      attribute.name = "number\(index)"
      attribute.attributeType = .decimalAttributeType
      attribute.defaultValue = Decimal(string: text)
      animal.properties.append(attribute)
    }
    let bytes = NSAttributeDescription()
    bytes.name = "defaultBytes"
    bytes.attributeType = .binaryDataAttributeType
    bytes.defaultValue = [UInt8]([1, 2, 255])
    animal.properties.append(bytes)
    animal.userInfo = [
      "list": ["ä", 1, 2.5, true] as [Any],
      "map": [AnyHashable("k"): Date(timeIntervalSince1970: 0)],
    ]
    let copy = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    #expect(Self.differences(copy.outline, model.outline) == [])
    let number = copy.entitiesByName["Animal"]?.attributesByName["number2"]?.defaultValue
    #expect(number as? Decimal == Decimal(string: "3402823669209384634.63374607431768211455"))
    let list = copy.entitiesByName["Animal"]?.userInfo?["list"] as? [Any]
    #expect(list?.last as? Bool == true)
  }

  @Test("Numbers in userInfo cast to Int and other number types after they were archived")
  func archivedNumbersCastToEveryNumberType() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "A"
    entity.userInfo = [
      "whole": 5, "wide": Int64(6), "fraction": 1.0 / 3, "flag": true, "list": [1, 2],
      "map": ["x": 3],
    ]
    model.entities = [entity]
    let copy = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    let info = try #require(copy.entitiesByName["A"]?.userInfo)
    #expect(info["whole"] as? Int == 5 && info["whole"] as? Int16 == 5)
    #expect(info["whole"] as? Double == 5)
    #expect(info["wide"] as? Int == 6 && info["wide"] as? Int64 == 6)
    #expect(info["fraction"] as? Double == 1.0 / 3 && info["fraction"] as? Int == nil)
    #expect(info["flag"] as? Bool == true)
    #expect(info["list"] as? [Int] == [1, 2])
    #expect(info["map"] as? [String: Int] == ["x": 3])
    #expect(Self.differences(copy.outline, model.outline) == [])
  }

  @Test func stringsAndNumbersKeepTheirBytesAndDigits() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "A"
    // Equal as strings, but not as bytes.
    let texts = ["\u{E9}", "e\u{301}"]
    entity.properties = texts.enumerated().map { index, text in
      let attribute = NSAttributeDescription()
      attribute.name = "a\(index)"
      attribute.attributeType = .stringAttributeType
      attribute.defaultValue = text
      return attribute
    }
    entity.userInfo = [
      "whole": NSNumber(value: 9_007_199_254_740_993), "one": NSNumber(value: 1),
      "large": UInt64.max, "decimal": NSDecimalNumber(string: "0.1"),
    ]
    model.entities = [entity]
    let copy = try #require(ModelArchive.read(bytes: ModelArchive.bytes(of: model)).entities.first)
    for (index, text) in texts.enumerated() {
      let found = copy.attributesByName["a\(index)"]?.defaultValue as? String
      #expect(found.map { Array($0.utf8) } == Array(text.utf8))
    }
    #expect(copy.userInfo?["whole"] as? Int64 == 9_007_199_254_740_993)
    #expect(copy.userInfo?["one"] as? Int64 == 1)
    #expect(copy.userInfo?["large"] as? UInt64 == UInt64.max)
    #expect(copy.userInfo?["decimal"] as? Decimal == Decimal(string: "0.1"))
    let list = try PropertyList.write(["a": texts[0], "b": texts[1]])
    let read = try #require(PropertyList.read(list) as? [String: String])
    #expect(read["a"]?.utf8.count == 2 && read["b"]?.utf8.count == 3)
  }

  @Test func deepHierarchiesRoundTrip() throws {
    let model = NSManagedObjectModel()
    var parent = NSEntityDescription()
    parent.name = "Root"
    model.entities = [parent]
    var all = [parent]
    for level in 0..<80 {
      let relationship = NSRelationshipDescription()
      relationship.name = "to\(level)"
      relationship.destinationEntity = all[level / 2]
      parent.properties.append(relationship)
      let child = NSEntityDescription()
      child.name = "Level\(level)"
      parent.subentities.append(child)
      all.append(child)
      parent = child
    }
    model.entities = [all[0]]
    #expect(model.entities.count == 81)
    let copy = try ModelArchive.read(deflated: ModelArchive.write(model))
    #expect(Self.differences(copy.outline, model.outline) == [])
    #expect(copy.entitiesByName["Level79"]?.relationshipsByName.count == 80)
  }

  @Test("Predicates that Core Data has archived in a compiled model are warnings")
  func unreadPartsOfCompiledModelsAreWarnings() throws {
    let first = HostileArchiveTests.otherObjects(1)
    let others: [BinaryPropertyList.Value] = [
      .array([.uid(first + 1)]),
      .dictionary([
        "NSIndexName": .string("byName"), "NSPartialIndexPredicate": .uid(first + 2),
        "$class": .uid(4),
      ]),
      .dictionary(["$class": .uid(4)]),
      .dictionary([
        "NS.keys": .array([.string("recent")]), "NS.objects": .array([.uid(first + 2)]),
        "$class": .uid(4),
      ]),
    ]
    let bytes = HostileArchiveTests.archive(
      [("Item", nil, ["NSFetchIndexDescriptions": .uid(first)])],
      root: ["NSFetchRequestTemplates": .uid(first + 3)], others: others)
    let model = try ModelArchive.read(bytes: bytes)
    #expect(
      model.readerWarnings.map(\.description) == [
        "Item: The predicate of the index byName isn't read from a compiled model: the index contains "
          + "all rows. Read the .xcdatamodeld instead.",
        "The fetch request template recent isn't read from a compiled model. Read the .xcdatamodeld "
          + "instead.",
      ])
    #expect(model.entitiesByName["Item"]?.indexes.map(\.name) == ["byName"])
  }
}
