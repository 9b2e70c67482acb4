import OpenCoreData
import ProfileEvents

/// Random objects in plain Swift, which can be saved in a store.
final class Warehouse {
  final class Person {
    var name: String?
    var age: Int64?
    var boss: Person?
    var items: [Item] = []
  }

  final class Part {
    var size: Int64?
    var label: String?
  }

  final class Item {
    var kind = "Item"
    var number: Int64 = 0
    var name: String?
    var count: Int64?
    var weight: Double?
    var price: Double?
    var added: Double?
    var flag: Bool?
    var owner: Person?
    var parts: [Part] = []
    var tags: [String] = []
  }

  private(set) var items: [Item] = []
  private(set) var people: [Person] = []
  private var random: SeededRandom

  static let texts = ["", "a", "ab", "Ab", "abc", "b", "É", "é", "eab", "zz", "a*b", "b c"]
  static let tagNames = ["", "a", "ab", "É", "zz"]

  /// Creates the objects; a seed always creates the same.
  init(seed: UInt64, count: Int) {
    random = SeededRandom(seed: seed)
    for _ in 0..<8 {
      let person = Person()
      person.name = random.sometimes(Self.texts.randomElement(using: &random))
      person.age = random.sometimes(Int64.random(in: -1...5, using: &random))
      person.boss = random.sometimes(people.randomElement(using: &random))
      people.append(person)
    }
    for number in 1...count { items.append(makeItem(Int64(number))) }
  }

  deinit {
    // Breaks the reference cycles of people and their items.
    for person in people { person.items = [] }
  }

  private func makeItem(_ number: Int64) -> Item {
    let item = Item()
    item.kind = ["Item", "Book", "Disc"].randomElement(using: &random) ?? ""
    item.number = number
    item.name = random.sometimes(Self.texts.randomElement(using: &random))
    item.count = random.sometimes(Int64.random(in: -2...6, using: &random))
    item.weight = random.sometimes(Double(Int.random(in: -4...12, using: &random)) / 4)
    item.price = random.sometimes(Double(Int.random(in: 0...12, using: &random)) / 4)
    item.added = random.sometimes(Double(Int.random(in: 0...10, using: &random)) / 2)
    item.flag = random.sometimes(Bool.random(using: &random))
    item.owner = random.sometimes(people.randomElement(using: &random))
    item.owner?.items.append(item)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let part = Part()
      part.size = random.sometimes(Int64.random(in: 0...4, using: &random))
      part.label = random.sometimes(Self.texts.randomElement(using: &random))
      item.parts.append(part)
    }
    item.tags = Self.tagNames.filter { _ in Int.random(in: 0...2, using: &random) == 0 }
    return item
  }

  static func model() -> NSManagedObjectModel {
    let person = SchemaModels.entity(
      "Person",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("age", .integer16AttributeType),
      ])
    let item = SchemaModels.entity(
      "Item",
      [
        SchemaModels.attribute("number", .integer64AttributeType),
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("count", .integer32AttributeType),
        SchemaModels.attribute("weight", .doubleAttributeType),
        SchemaModels.attribute("price", .decimalAttributeType),
        SchemaModels.attribute("added", .dateAttributeType),
        SchemaModels.attribute("flag", .booleanAttributeType),
      ])
    let part = SchemaModels.entity(
      "Part",
      [
        SchemaModels.attribute("size", .integer16AttributeType),
        SchemaModels.attribute("label", .stringAttributeType),
      ])
    let tag = SchemaModels.entity("Tag", [SchemaModels.attribute("name", .stringAttributeType)])
    let book = SchemaModels.entity("Book", [])
    let disc = SchemaModels.entity("Disc", [])
    item.subentities = [book, disc]
    SchemaModels.relate(person, "items", many: true, item, "owner", many: false)
    SchemaModels.relate(person, "staff", many: true, person, "boss", many: false)
    SchemaModels.relate(item, "parts", many: true, part, "item", many: false)
    SchemaModels.relate(item, "tags", many: true, tag, "items", many: true)
    let model = NSManagedObjectModel()
    model.entities = [person, item, part, tag, book, disc]
    return model
  }

  /// A context of a new store with the objects.
  func context(
    _ type: String, at url: URL?, sinks: [any EventSink] = []
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let filling = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    filling.persistentStoreCoordinator = coordinator
    try filling.performAndWait { try fill(filling) }
    for sink in sinks { coordinator.eventHub.add(sink) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// A context of a new store whose items all have unsaved changes; the store contains only their
  /// numbers.
  func unsavedContext(at url: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for item in items { insert(item.kind, context, ["number": item.number]) }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      fill(context, try context.fetch(request))
    }
    return context
  }

  private func fill(_ context: NSManagedObjectContext) throws {
    fill(context, items.map { insert($0.kind, context, [:]) })
    try context.save()
  }

  /// Sets the values of an object for each item, and inserts the other objects.
  private func fill(_ context: NSManagedObjectContext, _ objects: [NSManagedObject]) {
    var made: [ObjectIdentifier: NSManagedObject] = [:]
    for person in people {
      let object = insert("Person", context, ["name": person.name, "age": person.age])
      object.setValue(person.boss.flatMap { made[ObjectIdentifier($0)] }, forKey: "boss")
      made[ObjectIdentifier(person)] = object
    }
    let tags = Dictionary(
      uniqueKeysWithValues: Self.tagNames.map { ($0, insert("Tag", context, ["name": $0])) })
    for (item, object) in zip(items, objects) {
      let values: [String: Any?] = [
        "number": item.number, "name": item.name, "count": item.count, "weight": item.weight,
        "price": item.price.flatMap { Decimal(string: "\($0)") },
        "added": item.added.map { Date(timeIntervalSinceReferenceDate: $0) },
        "flag": item.flag,
      ]
      for (key, value) in values { object.setValue(value, forKey: key) }
      object.setValue(item.owner.flatMap { made[ObjectIdentifier($0)] }, forKey: "owner")
      object.setValue(Set(item.tags.compactMap { tags[$0] }), forKey: "tags")
      for part in item.parts {
        insert("Part", context, ["size": part.size, "label": part.label])
          .setValue(object, forKey: "item")
      }
    }
  }

  @discardableResult
  private func insert(
    _ entity: String, _ context: NSManagedObjectContext, _ values: [String: Any?]
  ) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }
}
