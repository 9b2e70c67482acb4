import OpenCoreData

/// Changes a version of a model in a random way that lightweight migration supports.
struct ModelMutator<Generator: RandomNumberGenerator> {
  var sketch: ModelSketch
  var random: Generator
  /// What was changed, for the report of a failing test.
  private(set) var log: [String] = []

  init(_ sketch: ModelSketch, _ random: Generator) {
    self.sketch = sketch
    self.random = random
  }

  /// Makes a first version: two hierarchies and related entities.
  mutating func begin() {
    for _ in 0..<3 { addEntity() }
    for _ in 0..<2 { addSubentity() }
    for _ in 0..<4 { addRelationship() }
    log = []
  }

  /// Applies a number of changes.
  mutating func change(_ count: Int) {
    for _ in 0..<count { changeOnce() }
  }

  private mutating func changeOnce() {
    switch Int.random(in: 0..<22, using: &random) {
    case 0: addEntity()
    case 1: addSubentity()
    case 2: addParent()
    case 3: removeEntity()
    case 4: renameEntity()
    case 5: addRelationship()
    case 6: removeRelationship()
    case 7: renameRelationship()
    case 8: widenRelationship()
    case 9: toggleOrder()
    case 10, 11: addAttribute()
    case 12: removeAttribute()
    case 13, 14: renameAttribute()
    case 15: widenAttribute()
    case 16: requireAttribute()
    case 17: toggleIndex()
    case 18: moveAttributeUp()
    case 19: moveAttributeDown()
    case 20: swapNames()
    default: leaveHierarchy()
    }
  }

  private mutating func name(_ prefix: String) -> String {
    // Names in another order than the identities change the entity IDs.
    "\(prefix)\("ABCDEFGHIJKLMNOP".randomElement(using: &random) ?? "A")\(sketch.newID())"
  }

  private mutating func pick(where isSuitable: (ModelSketch.Entity) -> Bool = { _ in true }) -> Int?
  {
    sketch.entities.indices.filter { isSuitable(sketch.entities[$0]) }.randomElement(using: &random)
  }

  private mutating func attribute() -> ModelSketch.Attribute {
    let types: [NSAttributeType] = [
      .integer16AttributeType, .integer32AttributeType, .stringAttributeType,
      .doubleAttributeType, .dateAttributeType, .booleanAttributeType,
    ]
    let hasDefault = Bool.random(using: &random)
    var attribute = ModelSketch.Attribute(
      id: sketch.newID(), name: name("a"),
      type: types.randomElement(using: &random) ?? .stringAttributeType)
    attribute.isOptional = !hasDefault || Bool.random(using: &random)
    attribute.defaultValue = hasDefault ? Int.random(in: 0..<100, using: &random) : nil
    return attribute
  }

  // MARK: Entities

  private mutating func addEntity() {
    var entity = ModelSketch.Entity(id: sketch.newID(), name: name("E"))
    for _ in 0..<3 { entity.attributes.append(attribute()) }
    sketch.entities.append(entity)
    log.append("add \(entity.name)")
  }

  private mutating func addSubentity() {
    guard let index = pick() else { return }
    var entity = ModelSketch.Entity(
      id: sketch.newID(), name: name("S"), parent: sketch.entities[index].id)
    for _ in 0..<2 { entity.attributes.append(attribute()) }
    sketch.entities.append(entity)
    log.append("add \(entity.name) below \(sketch.entities[index].name)")
  }

  /// Adds an abstract or concrete parent to a root entity, with a new attribute.
  private mutating func addParent() {
    guard let index = pick(where: { $0.parent == nil }) else { return }
    var parent = ModelSketch.Entity(id: sketch.newID(), name: name("P"))
    parent.isAbstract = Bool.random(using: &random)
    parent.attributes.append(attribute())
    sketch.entities[index].parent = parent.id
    sketch.entities.append(parent)
    log.append("add \(parent.name) above \(sketch.entities[index].name)")
  }

  private mutating func removeEntity() {
    let leaves = sketch.entities.filter { sketch.isLeaf($0.id) }
    guard sketch.entities.count > 2, let entity = leaves.randomElement(using: &random) else {
      return
    }
    let lost = sketch.entities.flatMap(\.relationships).filter { $0.destination == entity.id }
    for relationship in lost + entity.relationships { remove(relationship.id) }
    sketch.entities.removeAll { $0.id == entity.id }
    log.append("remove \(entity.name)")
  }

  private mutating func renameEntity() {
    guard let index = pick() else { return }
    let old = sketch.entities[index].name
    sketch.entities[index].name = name("R")
    log.append("rename \(old) to \(sketch.entities[index].name)")
  }

  /// Moves an entity out of its hierarchy, with the attributes that it inherited.
  private mutating func leaveHierarchy() {
    guard let index = pick(where: { $0.parent != nil }) else { return }
    let entity = sketch.entities[index]
    // Relationships of ancestors, or to them, can no longer have its objects.
    let ancestors = sketch.lineage(of: entity.id).dropLast()
    let isRelated = sketch.entities.flatMap(\.relationships).contains { relationship in
      ancestors.contains { $0.id == relationship.destination }
    }
    guard !isRelated, ancestors.allSatisfy({ $0.relationships.isEmpty }) else { return }
    sketch.entities[index].parent = nil
    log.append("move \(entity.name) out of its hierarchy")
  }

  // MARK: Attributes

  private mutating func addAttribute() {
    guard let index = pick() else { return }
    let attribute = attribute()
    sketch.entities[index].attributes.append(attribute)
    log.append("add \(sketch.entities[index].name).\(attribute.name)")
  }

  private mutating func pickAttribute(
    where isSuitable: (ModelSketch.Attribute) -> Bool = { _ in true }
  ) -> (entity: Int, place: Int)? {
    let all = sketch.entities.indices.flatMap { entity in
      sketch.entities[entity].attributes.indices.map { (entity: entity, place: $0) }
    }
    return all.filter { isSuitable(sketch.entities[$0.entity].attributes[$0.place]) }
      .randomElement(using: &random)
  }

  private mutating func removeAttribute() {
    guard let (entity, place) = pickAttribute() else { return }
    let attribute = sketch.entities[entity].attributes.remove(at: place)
    log.append("remove \(sketch.entities[entity].name).\(attribute.name)")
  }

  private mutating func renameAttribute() {
    guard let (entity, place) = pickAttribute() else { return }
    let old = sketch.entities[entity].attributes[place].name
    sketch.entities[entity].attributes[place].name = name("r")
    log.append("rename \(old) to \(sketch.entities[entity].attributes[place].name)")
  }

  private mutating func widenAttribute() {
    let wider: [NSAttributeType: NSAttributeType] = [
      .integer16AttributeType: .integer32AttributeType,
      .integer32AttributeType: .integer64AttributeType,
      .booleanAttributeType: .integer32AttributeType,
      .integer64AttributeType: .doubleAttributeType,
    ]
    guard
      let (entity, place) = pickAttribute(where: { wider[$0.type] != nil && $0.defaultValue == nil }
      )
    else { return }
    let attribute = sketch.entities[entity].attributes[place]
    sketch.entities[entity].attributes[place].type = wider[attribute.type] ?? attribute.type
    log.append("widen \(attribute.name)")
  }

  private mutating func requireAttribute() {
    guard let (entity, place) = pickAttribute(where: \.isOptional) else { return }
    sketch.entities[entity].attributes[place].isOptional = false
    if sketch.entities[entity].attributes[place].defaultValue == nil {
      sketch.entities[entity].attributes[place].defaultValue = 7
    }
    log.append("require \(sketch.entities[entity].attributes[place].name)")
  }

  private mutating func toggleIndex() {
    guard let (entity, place) = pickAttribute() else { return }
    sketch.entities[entity].attributes[place].isIndexed.toggle()
    log.append("index \(sketch.entities[entity].attributes[place].name)")
  }

  private mutating func moveAttributeUp() {
    guard let (entity, place) = pickAttribute(), let parent = sketch.entities[entity].parent,
      let above = sketch.entities.firstIndex(where: { $0.id == parent })
    else { return }
    var attribute = sketch.entities[entity].attributes.remove(at: place)
    attribute.isIndexed = false
    sketch.entities[above].attributes.append(attribute)
    log.append("move \(attribute.name) up to \(sketch.entities[above].name)")
  }

  private mutating func moveAttributeDown() {
    guard let (entity, place) = pickAttribute() else { return }
    let children = sketch.entities.indices.filter {
      sketch.entities[$0].parent == sketch.entities[entity].id
    }
    guard let below = children.randomElement(using: &random) else { return }
    var attribute = sketch.entities[entity].attributes.remove(at: place)
    attribute.isIndexed = false
    sketch.entities[below].attributes.append(attribute)
    log.append("move \(attribute.name) down to \(sketch.entities[below].name)")
  }

  /// Gives two attributes of an entity each other's name.
  private mutating func swapNames() {
    guard let index = pick(where: { $0.attributes.count > 1 }) else { return }
    let places = sketch.entities[index].attributes.indices.shuffled(using: &random).prefix(2)
    let (first, second) = (places[places.startIndex], places[places.startIndex + 1])
    let name = sketch.entities[index].attributes[first].name
    sketch.entities[index].attributes[first].name = sketch.entities[index].attributes[second].name
    sketch.entities[index].attributes[second].name = name
    // Two attributes of the same type would leave the version hash as it is.
    sketch.entities[index].modifier = "\(sketch.newID())"
    log.append("swap \(name) and \(sketch.entities[index].attributes[first].name)")
  }

  // MARK: Relationships

  private mutating func addRelationship() {
    guard let source = pick(), let destination = pick() else { return }
    let (id, back) = (sketch.newID(), sketch.newID())
    let isToMany = Bool.random(using: &random)
    let isBackToMany = Bool.random(using: &random)
    var relationship = ModelSketch.Relationship(
      id: id, name: name("x"), destination: sketch.entities[destination].id, inverse: back,
      isToMany: isToMany)
    relationship.isOrdered = isToMany && Int.random(in: 0..<3, using: &random) == 0
    sketch.entities[source].relationships.append(relationship)
    sketch.entities[destination].relationships.append(
      ModelSketch.Relationship(
        id: back, name: name("y"), destination: sketch.entities[source].id, inverse: id,
        isToMany: isBackToMany))
    log.append("relate \(sketch.entities[source].name) and \(sketch.entities[destination].name)")
  }

  private mutating func pickRelationship(
    where isSuitable: (ModelSketch.Relationship) -> Bool = { _ in true }
  ) -> (entity: Int, place: Int)? {
    let all = sketch.entities.indices.flatMap { entity in
      sketch.entities[entity].relationships.indices.map { (entity: entity, place: $0) }
    }
    return all.filter { isSuitable(sketch.entities[$0.entity].relationships[$0.place]) }
      .randomElement(using: &random)
  }

  private mutating func remove(_ id: Int) {
    let inverse = sketch.entities.flatMap(\.relationships).first { $0.id == id }?.inverse
    for index in sketch.entities.indices {
      sketch.entities[index].relationships.removeAll { $0.id == id || $0.id == inverse }
    }
  }

  private mutating func removeRelationship() {
    guard let (entity, place) = pickRelationship() else { return }
    let relationship = sketch.entities[entity].relationships[place]
    remove(relationship.id)
    log.append("remove \(relationship.name)")
  }

  private mutating func renameRelationship() {
    guard let (entity, place) = pickRelationship() else { return }
    let old = sketch.entities[entity].relationships[place].name
    sketch.entities[entity].relationships[place].name = name("z")
    log.append("rename \(old) to \(sketch.entities[entity].relationships[place].name)")
  }

  private mutating func widenRelationship() {
    guard let (entity, place) = pickRelationship(where: { !$0.isToMany }) else { return }
    sketch.entities[entity].relationships[place].isToMany = true
    log.append("make \(sketch.entities[entity].relationships[place].name) to-many")
  }

  private mutating func toggleOrder() {
    guard let (entity, place) = pickRelationship(where: \.isToMany) else { return }
    sketch.entities[entity].relationships[place].isOrdered.toggle()
    log.append("toggle the order of \(sketch.entities[entity].relationships[place].name)")
  }
}
