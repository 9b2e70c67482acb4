import Testing

@testable import ManagedModel

@Suite("Archiving of models and descriptions")
struct DescriptionCodingTests {
  private func archive(_ object: any NSObject & NSSecureCoding) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
  }

  private func decoded<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
    try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: archive(object)))
  }

  private func zoo() throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data(ModelDocumentTests.document.utf8), file: "Zoo")
  }

  @Test func decodedModelsAreEqual() throws {
    let model = try zoo()
    model.localizationDictionary = ["Entity/Animal": "Tier"]
    model.entitiesByName["Animal"]?.userInfo = [
      "list": [1, 2], "date": Date(timeIntervalSince1970: 5),
    ]
    model.entitiesByName["Animal"]?.recordVersionHash(Data(repeating: 1, count: 32))
    let again = try decoded(model)
    #expect(ModelArchiveTests.differences(again.outline, model.outline) == [])
    #expect(again == model && again.digest == model.digest && !again.isFrozen)
    #expect(again.localizationDictionary == model.localizationDictionary)
    #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(again.entitiesByName["Animal"]?.userInfo?["list"] as? [Int64] == [1, 2])
    model.freeze()
    #expect(try decoded(model) == model)
    for seed in 500..<520 as Range<UInt64> {
      let model = RandomModel.make(seed: seed)
      #expect(try decoded(model) == model, "seed \(seed)")
    }
  }

  @Test func decodedEntitiesKeepTheirReferences() throws {
    for seed in 500..<510 as Range<UInt64> {
      let model = RandomModel.make(seed: seed)
      for entity in model.entities {
        let again = try decoded(entity)
        #expect(again == entity && again.managedObjectModel == nil, "seed \(seed)")
        #expect(again.superentity == entity.superentity)
        #expect(Set(again.subentities) == Set(entity.subentities))
        #expect(again.propertiesByName == entity.propertiesByName)
        #expect(again.indexes == entity.indexes)
        for (name, relationship) in entity.relationshipsByName {
          let other = again.relationshipsByName[name]
          #expect(other?.destinationEntity?.name == relationship.destinationEntity?.name)
          #expect(other?.inverseRelationship?.name == relationship.inverseRelationship?.name)
        }
      }
    }
  }

  @Test func decodedEntitiesAreReleased() throws {
    weak var entity: NSEntityDescription?
    weak var parent: NSEntityDescription?
    do {
      let zoo = try zoo()
      let again = try decoded(try #require(zoo.entitiesByName["Lion"]))
      (entity, parent) = (again, again.superentity)
      #expect(parent?.name == "Animal")
      let model = NSManagedObjectModel()
      model.entities = [again]
      #expect(try decoded(model).entities.map(\.name) == ["Lion"])
    }
    #expect(entity == nil && parent == nil)
  }

  @Test func decodedPropertiesAndIndexesAreEqual() throws {
    let model = try zoo()
    for entity in model.entities {
      for property in entity.ownProperties {
        let again = try decoded(property)
        #expect(again == property, "\(property)")
        guard let relationship = property as? NSRelationshipDescription else { continue }
        let other = try decoded(relationship)
        #expect(other.destinationEntity?.name == relationship.destinationEntity?.name)
        #expect(other.inverseRelationship?.name == relationship.inverseRelationship?.name)
        #expect(other.inverseRelationship?.inverseRelationship === other)
        #expect(other.entity?.name == entity.name)
      }
      for index in entity.indexes {
        #expect(try decoded(index) == index)
        for element in index.elements {
          #expect(try decoded(element).outlineText == element.outlineText)
        }
      }
    }
  }

  @Test func descriptionsWithoutAnEntityAreDecoded() throws {
    let attribute = NSAttributeDescription()
    attribute.type = .integer16
    attribute.defaultValue = 7
    attribute.isOptional = false
    let nameless = try decoded(attribute)
    #expect(nameless == attribute && nameless.name == "" && nameless.type == .integer16)
    attribute.name = "age"
    attribute.setValidationPredicates(
      [NSPredicate(format: "SELF > 3")], withValidationWarnings: ["too young"])
    #expect(try decoded(attribute) == attribute)
    let derived = NSDerivedAttributeDescription()
    derived.name = "count"
    derived.derivationExpression = NSExpression(format: "count:(pages)")
    #expect(try decoded(derived).derivationExpression == derived.derivationExpression)
    let composite = NSCompositeAttributeDescription()
    composite.name = "address"
    composite.elements = [attribute]
    #expect(try decoded(composite).elements == [attribute])
    let computed = NSExpressionDescription()
    computed.name = "oldest"
    computed.expression = NSExpression(format: "max:(age)")
    computed.resultType = .integer64
    let again = try decoded(computed)
    #expect(again == computed && again.expression == computed.expression)
    #expect(again.resultType == .integer64)
    let alone = NSRelationshipDescription()
    alone.name = "owner"
    alone.maxCount = 1
    alone.deleteRule = .denyDeleteRule
    #expect(try decoded(alone) == alone)
    let entity = NSEntityDescription()
    entity.name = "Person"
    entity.properties = [attribute, alone]
    alone.destinationEntity = entity
    let person = try decoded(entity)
    #expect(person == entity)
    #expect(person.relationshipsByName["owner"]?.destinationEntity === person)
    #expect(entity.managedObjectModel == nil)
  }

  private func propertyList(of object: any NSObject & NSSecureCoding) throws -> [String: Any] {
    try #require(
      try PropertyListSerialization.propertyList(from: archive(object), format: nil)
        as? [String: Any])
  }

  /// Returns an archive in which the bytes of the model are replaced.
  private func archive(_ list: [String: Any], with payload: Any) throws -> Data {
    var list = list
    var objects = try #require(list["$objects"] as? [Any])
    let index = try #require(objects.firstIndex { $0 is Data })
    objects[index] = payload
    list["$objects"] = objects
    return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  @Test(arguments: [
    Data(), Data([1, 2, 3]), Data("bplist00".utf8), Data(repeating: 0xFF, count: 4_000),
  ])
  func archivesWithInvalidPayloadAreErrors(payload: Data) throws {
    let model = try zoo()
    let entity = try #require(model.entitiesByName["Animal"])
    var objects: [any NSObject & NSSecureCoding] = [model, entity]
    for property in entity.ownProperties.prefix(4) { objects.append(property) }
    for index in entity.indexes.prefix(1) { objects.append(index) }
    for object in objects {
      let list = try propertyList(of: object)
      for payload in [payload, "text", 5] as [Any] {
        let data = try archive(list, with: payload)
        #expect(throws: (any Error).self) {
          try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [type(of: object)], from: data)
        }
      }
    }
  }

  @Test func ordersByComparatorsAreNotArchived() async throws {
    let archived = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = DescriptionCodingTests.modelSortedByComparator()
      _ = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
    }
    #expect(
      archived.message.contains(
        "the fetch request all is sorted with a comparator block, which can't be archived"))
    // The model in a store has the order as far as it has names.
    let model = Self.modelSortedByComparator()
    let read = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    #expect(read.fetchRequestTemplates.first?.sortDescriptors.map(\.key) == ["name"])
  }

  static func modelSortedByComparator() -> NSManagedObjectModel {
    let model = EntityTests.model()
    var template = FetchRequestTemplate(name: "all", entityName: "Animal", predicateFormat: nil)
    template.sortDescriptors = [
      NSSortDescriptor(key: "name", ascending: true),
      NSSortDescriptor(key: "age", ascending: true, comparator: { _, _ in .orderedSame }),
      NSSortDescriptor(key: "name", ascending: false),
    ]
    model.fetchRequestTemplates = [template]
    return model
  }

  @Test(arguments: [1, 2, 3])
  func corruptModelsInArchivesNeverTrap(seed: UInt64) throws {
    let model = try zoo()
    let bytes = ModelArchive.bytes(of: model)
    var random = SeededNumbers(seed: seed)
    var (readable, rejected) = (0, 0)
    var lists: [ObjectIdentifier: [String: Any]] = [:]
    for _ in 0..<25 {
      var corrupt = bytes
      for _ in 0..<4 {
        corrupt[Int.random(in: 0..<corrupt.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      let entity = try #require(model.entities.randomElement(using: &random))
      var objects: [any NSObject & NSSecureCoding] = [model, entity]
      for property in entity.ownProperties { objects.append(property) }
      for object in objects {
        let list = try lists[ObjectIdentifier(object)] ?? propertyList(of: object)
        lists[ObjectIdentifier(object)] = list
        let data = try archive(list, with: Data(corrupt))
        let again = try? NSKeyedUnarchiver.unarchivedObject(
          ofClasses: [type(of: object)], from: data)
        if again == nil { rejected += 1 } else { readable += 1 }
        _ = (again as? NSManagedObjectModel)?.outline
        _ = (again as? NSEntityDescription)?.outline
        _ = (again as? NSPropertyDescription)?.outline
      }
    }
    #expect(readable > 0 && rejected > 0)
  }
}

extension NSFetchIndexElementDescription {
  fileprivate var outlineText: String {
    "\(propertyName ?? "?") \(isAscending) \(collationType)"
  }
}
