import Testing

@testable import ManagedModel

@Suite struct EntityTests {
  /// Person is a subentity of Animal, and Animal's keeper is a Person.
  static func model() -> NSManagedObjectModel {
    let animal = NSEntityDescription()
    animal.name = "Animal"
    let person = NSEntityDescription()
    person.name = "Person"
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    let age = NSAttributeDescription()
    age.name = "age"
    age.attributeType = .integer16AttributeType
    age.defaultValue = 7
    let keeper = NSRelationshipDescription()
    keeper.name = "keeper"
    keeper.maxCount = 1
    keeper.destinationEntity = person
    let animals = NSRelationshipDescription()
    animals.name = "animals"
    animals.destinationEntity = animal
    animals.inverseRelationship = keeper
    keeper.inverseRelationship = animals
    animal.properties = [name, keeper]
    person.properties = [age, animals]
    animal.subentities = [person]
    let model = NSManagedObjectModel()
    model.entities = [animal]
    return model
  }

  @Test func subentitiesInheritDeclarations() throws {
    let model = Self.model()
    #expect(Set(model.entitiesByName.keys) == ["Animal", "Person"])
    let animal = try #require(model.entitiesByName["Animal"])
    let person = try #require(model.entitiesByName["Person"])
    #expect(person.properties.map(\.name) == ["name", "keeper", "age", "animals"])
    #expect(person.attributesByName.keys.sorted() == ["age", "name"])
    #expect(person.relationshipsByName["keeper"] === animal.relationshipsByName["keeper"])
    #expect(person.attributesByName["name"]?.entity === animal)
    #expect(animal.attributesByName["age"] == nil)
    #expect(person.isKindOf(entity: animal) && !animal.isKindOf(entity: person))
    #expect(person.isKind(of: animal) && person.isKind(of: person) && !animal.isKind(of: person))
    #expect(person.superentity === animal && animal.superentity == nil)
    #expect(person.rootEntity === animal)
    #expect(person.relationships(forDestination: animal).map(\.name) == ["animals"])
    #expect(animal.subentitiesByName["Person"] === person)
    #expect(person.attributesByName["age"]?.typedDefaultValue as? Int16 == 7)
    #expect(person.attributesByName["age"]?.attributeValueClassName == "NSNumber")
    #expect(model.validate() == [])
  }

  @Test func lookupsFollowEveryChange() throws {
    let model = Self.model()
    let animal = try #require(model.entitiesByName["Animal"])
    let person = try #require(model.entitiesByName["Person"])
    _ = person.properties
    animal.attributesByName["name"]?.name = "title"
    #expect(person.attributesByName.keys.sorted() == ["age", "title"])
    let size = NSAttributeDescription()
    size.name = "size"
    person.properties += [size]
    #expect(person.ownProperties.map(\.name) == ["age", "animals", "size"])
    animal.properties.removeFirst()
    #expect(person.attributesByName.keys.sorted() == ["age", "size"])
    person.name = "Human"
    #expect(model.entitiesByName["Human"] === person && model.entitiesByName["Person"] == nil)
    #expect(animal.subentitiesByName["Human"] === person)
    let other = NSEntityDescription()
    other.subentities = [person]
    #expect(animal.subentities.isEmpty && person.superentity === other)
    #expect(person.relationshipsByName["keeper"] == nil && !person.isKind(of: animal))
  }

  @Test func validationReportsEveryProblem() throws {
    let model = Self.model()
    let animal = try #require(model.entitiesByName["Animal"])
    let person = try #require(model.entitiesByName["Person"])
    let stranger = NSEntityDescription()
    stranger.name = "Stranger"
    let lost = NSRelationshipDescription()
    lost.name = "lost"
    let away = NSRelationshipDescription()
    away.name = "away"
    away.destinationEntity = stranger
    away.minCount = 3
    away.maxCount = 2
    let hidden = NSAttributeDescription()
    hidden.name = "name"
    person.properties += [lost, away, hidden]
    person.relationshipsByName["animals"]?.inverseRelationship = nil
    animal.attributesByName["name"]?.defaultValue = 3
    animal.uniquenessConstraints = [["nmae"]]
    #expect(
      model.validate().map(\.description) == [
        "Animal.name: The default value 3 doesn't fit the type String. "
          + "Change the default value or the type.",
        "Animal.keeper: The inverse Person.animals has nothing as its own inverse. "
          + "Set the inverse of Person.animals to Animal.keeper.",
        "Animal: The uniqueness constraint names nmae, which the entity doesn't have. "
          + "Did you mean name?",
        "Person.name: The parent Animal already has a property name. Rename one of them.",
        "Person.lost: The relationship has no destination. Specify its destination entity.",
        "Person.away: The relationship's counts are from 3 to 2 objects, which is impossible. "
          + "Make the minimum count at most the maximum; 0 means no limit.",
        "Person.away: The destination Stranger isn't in the model. Add it to the model.",
        "Person.name: The attribute has no type, so a store saves it as bytes. "
          + "Give it a type or make it transient.",
      ])
    let areWarnings = model.validate().map(\.isWarning)
    #expect(areWarnings == [true, false, true, false, true, true, false, true])
  }

  @Test(
    arguments: [
      (
        NSAttributeType.integer16AttributeType, ValueRule(minimum: "2", maximum: "5"), [2, 5],
        [1, 6]
      ),
      (
        .stringAttributeType, ValueRule(minimum: "2", pattern: "[a-z]*"), ["ab", "abc"],
        ["a", "aB"]
      ),
      (
        .dateAttributeType, ValueRule(maximum: "600"), [Date(timeIntervalSinceReferenceDate: 600)],
        [Date(timeIntervalSinceReferenceDate: 601)]
      ),
      (.decimalAttributeType, ValueRule(minimum: "0.5"), [Decimal(1)], [Decimal(0)]),
    ] as [(NSAttributeType, ValueRule, [any Sendable], [any Sendable])])
  func limitsBecomeValidationPredicates(
    type: NSAttributeType, rule: ValueRule, good: [any Sendable], bad: [any Sendable]
  ) {
    let attribute = NSAttributeDescription()
    attribute.attributeType = type
    attribute.valueRule = rule
    func isValid(_ value: Any) -> Bool {
      attribute.validationPredicates.allSatisfy { $0.evaluate(with: value) }
    }
    #expect(!attribute.validationPredicates.isEmpty)
    #expect(good.allSatisfy(isValid))
    #expect(!bad.contains(where: isValid))
    attribute.setValidationPredicates([NSPredicate(value: false)], withValidationWarnings: ["no"])
    #expect(!good.contains(where: isValid) && attribute.validationWarnings as? [String] == ["no"])
  }

  @Test func predicatesBecomeExactLimits() {
    let predicate = NSPredicate(format: "SELF <= %ld", 9_007_199_254_740_993)
    let rule = ValueRule(predicates: [predicate], type: .integer64AttributeType)
    #expect(rule?.maximum == "9007199254740993")
  }

  @Test func configurationsContainEntitiesOfTheModel() throws {
    let model = Self.model()
    let person = try #require(model.entitiesByName["Person"])
    model.setEntities([person], forConfigurationName: "People")
    #expect(model.configurations == ["People"])
    #expect(model.entities(forConfigurationName: "People") == [person])
    #expect(model.entities(forConfigurationName: nil)?.count == 2)
    #expect(model.entities(forConfigurationName: "Other") == nil)
    model.entities = []
    #expect(model.entities(forConfigurationName: "People") == [])
  }

  @Test func mutatingAModelInUseIsAProgrammerError() async {
    let optional = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = EntityTests.model()
      model.freeze()
      model.entitiesByName["Animal"]?.attributesByName["name"]?.isOptional = false
    }
    #expect(optional.message.contains("The property name belongs to a model that is in use."))
    let properties = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = EntityTests.model()
      model.freeze()
      model.entitiesByName["Animal"]?.properties = []
    }
    #expect(properties.message.contains("The entity Animal belongs to a model that is in use."))
    let entities = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = EntityTests.model()
      model.freeze()
      model.entities = []
    }
    #expect(entities.message.contains("The model is in use. Change a copy of it."))
    let cycle = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = EntityTests.model()
      model.entitiesByName["Person"]?.subentities = model.entities
    }
    #expect(cycle.message.contains("can't be its own ancestor"))
  }

  @Test func userInfoOfAModelInUseCanBeChangedConcurrently() async throws {
    let model = Self.model()
    model.freeze()
    let entity = try #require(model.entitiesByName["Animal"])
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for index in 0..<200 {
            entity.userInfo = ["\(number)": index]
            _ = entity.userInfo?.count
          }
        }
      }
    }
    #expect(entity.userInfo?.count == 1)
    for property in entity.properties { property.userInfo = ["color": property.name] }
    #expect(entity.attributesByName["name"]?.userInfo?["color"] as? String == "name")
    #expect(entity.relationshipsByName["keeper"]?.userInfo?["color"] as? String == "keeper")
    model.localizationDictionary = ["Entity/Animal": "Tier"]
    #expect(model.localizationDictionary == ["Entity/Animal": "Tier"])
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.localizationDictionary == ["Entity/Animal": "Tier"])
    #expect(copy.entitiesByName["Animal"]?.userInfo?.count == 1)
  }

  @Test(arguments: [
    (NSAttributeDescription.AttributeType.undefined, NSAttributeType.undefinedAttributeType),
    (.integer16, .integer16AttributeType), (.integer32, .integer32AttributeType),
    (.integer64, .integer64AttributeType), (.decimal, .decimalAttributeType),
    (.double, .doubleAttributeType), (.float, .floatAttributeType),
    (.string, .stringAttributeType), (.boolean, .booleanAttributeType),
    (.date, .dateAttributeType), (.binaryData, .binaryDataAttributeType),
    (.uuid, .UUIDAttributeType), (.uri, .URIAttributeType),
    (.transformable, .transformableAttributeType), (.objectID, .objectIDAttributeType),
    (.composite, .compositeAttributeType),
  ])
  func attributeTypesMatchTheOlderEnumeration(
    type: NSAttributeDescription.AttributeType, attributeType: NSAttributeType
  ) {
    let attribute = NSAttributeDescription()
    attribute.type = type
    #expect(attribute.attributeType == attributeType && type.rawValue == attributeType.rawValue)
    attribute.type = .undefined
    attribute.attributeType = attributeType
    #expect(attribute.type == type)
    let computed = NSExpressionDescription()
    computed.resultType = type
    #expect(computed.expressionResultType == attributeType && computed.resultType == type)
    attribute.type = .init(rawValue: 77)
    #expect(attribute.attributeType == .undefinedAttributeType)
  }

  @Test func numbersAsDefaultValuesCastToEveryType() throws {
    let values: [(NSAttributeType, Any)] = [
      (.integer16AttributeType, 1), (.integer32AttributeType, Int32(1)),
      (.integer64AttributeType, NSNumber(value: 1)), (.doubleAttributeType, 1),
      (.floatAttributeType, Float(1)), (.booleanAttributeType, true),
      (.decimalAttributeType, Decimal(1)),
    ]
    for (type, value) in values {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.defaultValue) = ("value", type, value)
      let bytes = try NSKeyedArchiver.archivedData(
        withRootObject: attribute, requiringSecureCoding: true)
      let decoded = try NSKeyedUnarchiver.unarchivedObject(
        ofClass: NSAttributeDescription.self, from: bytes)
      for found in [attribute.defaultValue, decoded?.defaultValue] {
        #expect(found as? Int == 1 && found as? Int16 == 1 && found as? Double == 1, "\(type)")
        #expect(found as? Bool == true && (found as? NSNumber)?.intValue == 1, "\(type)")
      }
    }
  }

  @Test func defaultValuesAreExactOrNil() {
    let values: [(NSAttributeType, Any?, String?)] = [
      (.integer64AttributeType, Decimal(string: "9007199254740992.5"), nil),
      (.integer64AttributeType, NSDecimalNumber(string: "9007199254740993"), "9007199254740993"),
      (.integer64AttributeType, 0x1p63, nil), (.decimalAttributeType, UInt64.max, "\(UInt64.max)"),
      (.doubleAttributeType, UInt64.max, "1.8446744073709552e+19"),
      (.decimalAttributeType, 1e300, nil), (.decimalAttributeType, 0.1, "0.1"),
      (.floatAttributeType, 1e300, nil), (.floatAttributeType, -Double.infinity, "-inf"),
    ]
    for (type, value, text) in values {
      let attribute = NSAttributeDescription()
      (attribute.attributeType, attribute.defaultValue) = (type, value)
      #expect(attribute.typedDefaultValue.map { "\($0)" } == text)
    }
  }

  /// Their texts would be equal in Foundation's form, or depend on the order of entries.
  @Test func defaultValuesAreCompared() {
    func attribute(_ type: NSAttributeType, _ value: Any) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.defaultValue) = ("a", type, value)
      return attribute
    }
    let (one, other) = (Data([1, 2, 3]), Data([4, 5, 6]))
    #expect(attribute(.binaryDataAttributeType, one) != attribute(.binaryDataAttributeType, other))
    #expect(attribute(.binaryDataAttributeType, one) == attribute(.binaryDataAttributeType, one))
    let (long, longer) = (Data(count: 40), Data(count: 39) + [1])
    #expect(
      attribute(.binaryDataAttributeType, long) != attribute(.binaryDataAttributeType, longer))
    let dates = [0.25, 0.75].map { Date(timeIntervalSinceReferenceDate: $0) }
    #expect(attribute(.dateAttributeType, dates[0]) != attribute(.dateAttributeType, dates[1]))
    let undefined = attribute(.dateAttributeType, Date(timeIntervalSinceReferenceDate: .nan))
    #expect(undefined.outline.contains("default nan seconds"))
    let keys = (0..<6).map { "k\($0)" }
    var reversed: [String: Any] = [:]
    reversed.reserveCapacity(200)
    for key in keys.reversed() { reversed[key] = 1 }
    let values = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1 as Any) })
    #expect(
      attribute(.transformableAttributeType, values)
        == attribute(.transformableAttributeType, reversed))
  }

  @Test func descriptionsWithEqualValuesAreEqual() throws {
    let (model, same) = (Self.model(), Self.model())
    #expect(model == same && model.hash == same.hash)
    let (animal, twin) = (model.entitiesByName["Animal"], same.entitiesByName["Animal"])
    #expect(animal == twin && animal != model.entitiesByName["Person"])
    #expect(animal?.attributesByName["name"] == twin?.attributesByName["name"])
    twin?.attributesByName["name"]?.isOptional = false
    #expect(animal?.attributesByName["name"] != twin?.attributesByName["name"])
    #expect(animal != twin && model != same)
    #expect(NSAttributeDescription() != NSDerivedAttributeDescription())
  }

  @Test func modelInUseIsReadConcurrently() async throws {
    let model = Self.model()
    model.freeze()
    model.freeze()
    let counts = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<500).reduce(0) { sum, _ in
            sum + (model.entitiesByName["Person"]?.attributesByName.count ?? 0)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == Array(repeating: 1_000, count: 8))
  }
}

extension EntityTests {
  @Test func copyOfAModelInUseIsEqualAndMutable() throws {
    let data = Data(ModelDocumentTests.document.utf8)
    let model = try ModelDocument.read(data: data, file: "Zoo")
    model.freeze()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy.outline == model.outline)
    #expect(copy.validate() == [])
    copy.entitiesByName["Animal"]?.attributesByName["a16"]?.name = "other"
    copy.entitiesByName["Animal"]?.indexes.first?.name = "another"
    #expect(model.entitiesByName["Lion"]?.attributesByName["a16"] != nil)
    #expect(copy.entitiesByName["Lion"]?.attributesByName["a16"] == nil)
    #expect(model.entitiesByName["Animal"]?.indexes.first?.name == "byDate")
    #expect(copy.entitiesByName["Animal"]?.codeGenerationType == "class")
  }

  @Test("A copy of a property can be changed, and leaves the property of a model in use unchanged")
  func propertiesAreCopied() throws {
    let model = Self.model()
    let animal = try #require(model.entitiesByName["Animal"])
    let name = try #require(animal.attributesByName["name"])
    name.setValidationPredicates(
      [NSPredicate(format: "length > 2")], withValidationWarnings: ["short"])
    name.userInfo = ["color": "red"]
    let keeper = try #require(animal.relationshipsByName["keeper"])
    model.freeze()
    let copy = try #require(name.copy() as? NSAttributeDescription)
    #expect(copy !== name && copy == name && copy.entity == nil)
    #expect(copy.userInfo?["color"] as? String == "red" && copy.validationPredicates.count == 1)
    copy.name = "title"
    copy.isOptional = false
    #expect(name.name == "name" && name.isOptional && animal.attributesByName["title"] == nil)
    let linked = try #require(keeper.copy() as? NSRelationshipDescription)
    #expect(linked !== keeper && linked == keeper)
    #expect(linked.destinationEntity === model.entitiesByName["Person"])
    #expect(linked.inverseRelationship?.name == "animals")
    #expect(linked.inverseRelationship?.inverseRelationship === keeper)
    let derived = NSDerivedAttributeDescription()
    derived.derivationExpression = NSExpression(forKeyPath: "name")
    let group = NSCompositeAttributeDescription()
    group.elements = [copy]
    #expect((derived.copy() as? NSDerivedAttributeDescription)?.derivationText == "name")
    let groupCopy = try #require(group.copy() as? NSCompositeAttributeDescription)
    #expect(groupCopy.elements == [copy] && groupCopy.elements.first !== copy)
  }

  @Test("A copy of an entity has its own properties and indexes, and isn't in the model")
  func entitiesAreCopied() throws {
    let model = Self.model()
    let animal = try #require(model.entitiesByName["Animal"])
    let person = try #require(model.entitiesByName["Person"])
    let name = try #require(animal.attributesByName["name"])
    let age = try #require(person.attributesByName["age"])
    let friends = NSRelationshipDescription()
    friends.name = "friends"
    friends.destinationEntity = person
    friends.inverseRelationship = friends
    person.properties += [friends]
    person.uniquenessConstraints = [[age, "name"]]
    person.indexes = [
      NSFetchIndexDescription(
        name: "byAge",
        elements: [age, name].map {
          NSFetchIndexElementDescription(property: $0, collationType: .binary)
        })
    ]
    model.freeze()
    let copy = try #require(person.copy() as? NSEntityDescription)
    #expect(copy !== person && copy == person && copy.managedObjectModel == nil)
    #expect(copy.superentity === animal && animal.subentities == [person])
    #expect(copy.ownProperties.map(\.name) == ["age", "animals", "friends"])
    let copiedAge = try #require(copy.attributesByName["age"])
    #expect(copiedAge !== age && copiedAge.entity === copy && age.entity === person)
    #expect(copy.attributesByName["name"] === name)
    #expect(copy.uniquenessConstraintNames == [["age", "name"]])
    let index = try #require(copy.indexes.first)
    #expect(index.entity === copy && index !== person.indexes.first)
    #expect(index.elements.first?.property === copiedAge)
    #expect(index.elements.last?.property === name)
    let copiedFriends = try #require(copy.relationshipsByName["friends"])
    #expect(copiedFriends.destinationEntity === copy)
    #expect(copiedFriends.inverseRelationship === copiedFriends)
    #expect(copy.relationshipsByName["animals"]?.destinationEntity === animal)
    copy.name = "Human"
    copiedAge.name = "years"
    #expect(person.name == "Person" && age.name == "age")
    #expect(model.entitiesByName["Human"] == nil && person.attributesByName["years"] == nil)
    let other = try #require(person.indexes.first?.copy() as? NSFetchIndexDescription)
    #expect(other == person.indexes.first && other.entity == nil)
    other.name = "other"
    #expect(person.indexes.first?.name == "byAge")
  }
}
