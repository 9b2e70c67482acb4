@testable import ManagedModel

/// Generates valid random models that use every element of a model document.
struct RandomModel {
  private var random: SeededNumbers
  private var entities: [NSEntityDescription] = []
  private var counter = 0

  /// The model for a seed.
  static func make(seed: UInt64) -> NSManagedObjectModel {
    var maker = RandomModel(random: SeededNumbers(seed: seed))
    return maker.make()
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  /// A unique name, sometimes with non-ASCII characters.
  private mutating func name(_ stem: String) -> String {
    counter += 1
    return stem + pick(["", "_", "Ä", "日"]) + "\(counter)"
  }

  private mutating func text() -> String {
    pick(["plain", "a & b", "<\"quoted\" 'text'>", "two\nlines\tand more", "ünï", "x"])
  }

  private mutating func make() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    for _ in 0..<Int.random(in: 1...9, using: &random) {
      let entity = NSEntityDescription()
      entity.name = name("Entity")
      entity.isAbstract = chance(20)
      if chance(70) { entity.managedObjectClassName = name("Class") }
      if chance(20) { entity.explicitRenamingIdentifier = name("Former") }
      if chance(20) { entity.versionHashModifier = text() }
      if chance(30) { entity.codeGenerationType = pick(["class", "category"]) }
      if chance(10) { entity.coreSpotlightDisplayNameExpression = NSExpression(forKeyPath: "a.b") }
      entity.isSyncable = chance(80)
      entity.userInfo = info()
      if chance(60), let parent = entities.last(where: { _ in true }), chance(70) {
        (chance(50) ? parent : entities[0]).subentities.append(entity)
      }
      entities.append(entity)
    }
    model.entities = entities
    for entity in entities { addAttributes(to: entity) }
    for _ in 0..<Int.random(in: 0...8, using: &random) { addRelationship() }
    for entity in entities { addGroups(to: entity) }
    if chance(70) { model.versionIdentifiers = [text()] }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let members = entities.filter { _ in Int.random(in: 0...1, using: &random) == 1 }
      model.setEntities(members, forConfigurationName: name("Configuration"))
    }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      model.fetchRequestTemplates.append(template(name("request")))
    }
    return model
  }

  private mutating func info() -> [AnyHashable: Any]? {
    guard chance(30) else { return nil }
    return ["key": text(), text(): ""]
  }

  private mutating func template(_ name: String) -> FetchRequestTemplate {
    let entity = pick(entities).name ?? ""
    let format = pick([nil, "name == $name", "a > 3 AND b CONTAINS[cd] \"x\"", "TRUEPREDICATE"])
    var template = FetchRequestTemplate(name: name, entityName: entity, predicateFormat: format)
    if chance(40) { template.fetchLimit = 20 }
    if chance(40) { template.fetchBatchSize = 10 }
    if chance(30) { template.resultType = 2 }
    template.includesSubentities = chance(60)
    template.includesPropertyValues = chance(60)
    template.includesPendingChanges = chance(60)
    template.returnsObjectsAsFaults = chance(60)
    template.returnsDistinctResults = chance(30)
    return template
  }

  // MARK: Properties

  private mutating func finish(_ property: NSPropertyDescription, _ stem: String) {
    property.name = name(stem)
    property.isOptional = chance(60)
    property.isIndexed = chance(15)
    property.isIndexedBySpotlight = chance(10)
    property.isSyncable = chance(80)
    if chance(15) { property.explicitRenamingIdentifier = name("former") }
    if chance(15) { property.versionHashModifier = text() }
    property.userInfo = info()
  }

  private mutating func addAttributes(to entity: NSEntityDescription) {
    var properties: [NSPropertyDescription] = []
    for _ in 0..<Int.random(in: 0...6, using: &random) { properties.append(attribute(depth: 0)) }
    if chance(20) {
      let fetched = NSFetchedPropertyDescription()
      finish(fetched, "fetched")
      fetched.template = template("fetchedPropertyFetchRequest")
      properties.append(fetched)
    }
    entity.properties = properties
  }

  private mutating func attribute(depth: Int) -> NSAttributeDescription {
    if chance(10) {
      let derived = NSDerivedAttributeDescription()
      derived.attributeType = .integer64AttributeType
      derived.derivationExpression = NSExpression(
        format: pick(["pages.@count", "canonical:(name)", "now()", "owner.name", "pages.@sum.n"]))
      finish(derived, "derived")
      return derived
    }
    if depth < 3, chance(8) {
      let composite = NSCompositeAttributeDescription()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        composite.elements.append(attribute(depth: depth + 1))
      }
      finish(composite, "composite")
      return composite
    }
    let attribute = NSAttributeDescription()
    finish(attribute, "attribute")
    attribute.attributeType = pick(
      NSAttributeType.allCases.filter {
        $0 != .compositeAttributeType && $0 != .undefinedAttributeType
      })
    attribute.isTransient = chance(15)
    attribute.usesScalarValueType = chance(60)
    attribute.allowsCloudEncryption = chance(10)
    attribute.preservesValueInHistoryOnDeletion = chance(10)
    addValues(to: attribute)
    return attribute
  }

  private mutating func addValues(to attribute: NSAttributeDescription) {
    let whole = Int16.random(in: -500...500, using: &random)
    let value: Any? =
      switch attribute.attributeType {
      case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: whole
      case .doubleAttributeType: Double(whole) / 7
      case .floatAttributeType: Float(whole) / 7
      case .decimalAttributeType: Decimal(string: "\(whole).25")
      case .booleanAttributeType: chance(50)
      case .stringAttributeType: text()
      case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(whole) / 8)
      case .UUIDAttributeType: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
      case .URIAttributeType: URL(string: "https://example.org/a?b=c&d")
      default: nil
      }
    if chance(60) { attribute.defaultValue = value }
    switch attribute.attributeType {
    case .stringAttributeType where chance(50):
      attribute.valueRule = ValueRule(minimum: "1", maximum: "80", pattern: "[a-z\"&]+\\\\d")
    case .integer32AttributeType where chance(50), .dateAttributeType where chance(50):
      attribute.valueRule = ValueRule(minimum: "-7", maximum: "600")
    case .decimalAttributeType where chance(50):
      attribute.setValidationPredicates(
        [NSPredicate(format: "SELF >= %@", Decimal(2))], withValidationWarnings: ["too few"])
    case .transformableAttributeType:
      attribute.valueTransformerName = "NSSecureUnarchiveFromDataTransformerName"
      attribute.explicitValueClassName = "UIColor"
    case .binaryDataAttributeType: attribute.allowsExternalBinaryDataStorage = chance(60)
    default: break
    }
  }

  private mutating func addRelationship() {
    let (source, destination) = (pick(entities), pick(entities))
    let relationship = self.relationship(to: destination)
    source.properties.append(relationship)
    guard chance(75) else { return }
    if chance(10), source === destination {
      relationship.inverseRelationship = relationship
    } else {
      let inverse = self.relationship(to: source)
      inverse.inverseRelationship = relationship
      relationship.inverseRelationship = inverse
      destination.properties.append(inverse)
    }
  }

  private mutating func relationship(to entity: NSEntityDescription) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    finish(relationship, "relationship")
    relationship.destinationEntity = entity
    relationship.maxCount = pick([0, 1, 1, 5])
    relationship.minCount = pick([0, 0, 1])
    relationship.isOrdered = relationship.isToMany && chance(30)
    relationship.deleteRule = pick(NSDeleteRule.allCases)
    return relationship
  }

  // MARK: Indexes

  private mutating func addGroups(to entity: NSEntityDescription) {
    let attributes = entity.attributesByName.values.sorted { $0.name < $1.name }
    guard attributes.count > 1 else { return }
    if chance(30) { entity.uniquenessConstraints = [[attributes[0].name], [attributes[1].name]] }
    if chance(30) { entity.compoundIndexes = [attributes.prefix(2).map(\.name)] }
    guard chance(60) else { return }
    var elements: [NSFetchIndexElementDescription] = []
    for attribute in attributes.prefix(3).reversed() {
      let element = NSFetchIndexElementDescription(
        property: attribute, collationType: chance(15) ? .rTree : .binary)
      element.isAscending = chance(60)
      elements.append(element)
    }
    if chance(20) {
      let computed = NSExpressionDescription()
      computed.expression = NSExpression(format: "lowercase:(%K)", attributes[0].name)
      computed.name = "\(computed.expression?.description ?? "")"
      computed.expressionResultType = .stringAttributeType
      elements.append(NSFetchIndexElementDescription(property: computed, collationType: .binary))
    }
    let index = NSFetchIndexDescription(name: name("by"), elements: elements)
    if chance(40) {
      index.partialIndexPredicate = NSPredicate(
        format: "%K > 3 OR %K BEGINSWITH[c] %@", attributes[0].name, attributes[1].name, text())
    }
    entity.indexes = [index]
  }
}
