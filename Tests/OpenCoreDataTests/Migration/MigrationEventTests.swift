import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Events of migrations")
struct MigrationEventTests {
  /// A version with notes in folders; later ones add and remove attributes.
  private static func model(_ attributes: [String], defaults: [String: Any] = [:])
    -> NSManagedObjectModel
  {
    let (folder, note) = (NSEntityDescription(), NSEntityDescription())
    (folder.name, note.name) = ("Folder", "Note")
    let (notes, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
    (notes.name, notes.destinationEntity, notes.inverseRelationship) = ("notes", note, inverse)
    (inverse.name, inverse.destinationEntity, inverse.inverseRelationship) =
      ("folder", folder, notes)
    inverse.maxCount = 1
    folder.properties = [notes]
    note.properties =
      [inverse]
      + attributes.map { name in
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
        attribute.defaultValue = defaults[name]
        return attribute
      }
    let model = NSManagedObjectModel()
    model.entities = [folder, note]
    return model
  }

  /// Creates a store with five notes in one folder.
  private func store(_ model: NSManagedObjectModel) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(model)
    try context.performAndWait {
      let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
      for number in 0..<5 {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue("text \(number)", forKey: "text")
        note.setValue(folder, forKey: "folder")
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for opened in coordinator.persistentStores { try coordinator.remove(opened) }
    return store
  }

  private func work(_ list: EventList) -> [String] {
    list.events.filter { $0.kind == .migrationStep }
      .compactMap { event in event.migration.map { "\($0.work) \(event.rows)" } }
  }

  @Test("Each statement in place is an event with its rows, in the event of the migration")
  func inferredMigrationEmitsItsStatements() throws {
    let store = try store(Self.model(["text"]))
    let list = EventList()
    _ = try store.open(Self.model(["text", "title"], defaults: ["title": "none"]), sink: list)
    #expect(work(list) == ["addColumn 0", "changeRows 5"])
    let whole = try #require(list.events.first { $0.kind == .migration })
    #expect(whole.migration?.work == .inferred)
    let steps = list.events.filter { $0.kind == .migrationStep }
    #expect(steps.allSatisfy { $0.parent == whole.id && $0.id > whole.id })
    #expect(list.statements(.insert).isEmpty)
  }

  @Test("The rows of a table that loses a column are copied, and its indexes are created again")
  func copiedTableIsAnEvent() throws {
    let store = try store(Self.model(["text", "title"]))
    let list = EventList()
    _ = try store.open(Self.model(["text"]), sink: list)
    #expect(
      work(list).sorted() == [
        "copyTable 5", "createIndex 0", "schema 0", "schema 0", "schema 0",
      ])
  }

  @Test("A migration that fails emits the steps that it ran, but isn't one")
  func failedMigrationIsNotCounted() throws {
    let store = try store(Self.model(["text"]))
    let strict = Self.model(["text", "title"])
    strict.entitiesByName["Note"]?.attributesByName["title"]?.isOptional = false
    let list = EventList()
    #expect(throws: NSError.self) { _ = try store.open(strict, sink: list) }
    #expect(work(list) == ["addColumn 0"])
    #expect(list.events.allSatisfy { $0.kind != .migration })
  }

  @Test("Each pass of each entity mapping is an event with the rows that it wrote")
  func mappedMigrationEmitsItsPasses() throws {
    let source = Self.model(["text"])
    let destination = Self.model(["text", "title"])
    let store = try store(source)
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    let hub = EventHub()
    let list = EventList()
    hub.add(list)
    try MappedMigration(
      url: store.url, source: source, destination: destination, mappings: [mapping],
      configuration: nil, options: nil, hub: hub
    ).run()
    #expect(
      work(list) == [
        "instances 1", "instances 5", "relationships 0", "relationships 5", "validation 0",
      ])
    let whole = try #require(list.events.first { $0.kind == .migration })
    #expect(whole.migration?.work == .mapped)
    #expect(list.events.compactMap(\.entity) == ["Folder", "Note", "Folder", "Note"])
    // Statements of the migration's own contexts aren't those of the program.
    #expect(list.events.allSatisfy { $0.kind != .statement })
  }

  @Test("A mapping model is inferable if it does what the inferred one does")
  func inferableMappingsAreRecognized() throws {
    let source = Self.model(["text"])
    let destination = Self.model(["text", "title"])
    func mapping() throws -> NSMappingModel {
      try NSMappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: destination)
    }
    #expect(try mapping().isInferable(from: source, to: destination))
    let policy = try mapping()
    policy.entityMappings[0].entityMigrationPolicyClassName = "Policy"
    #expect(!policy.isInferable(from: source, to: destination))
    let computed = try mapping()
    let note = try #require(
      computed.entityMappings.first { $0.destinationEntityName == "Note" })
    note.attributeMappings?.first { $0.name == "title" }?.valueExpression = NSExpression(
      forConstantValue: "untitled")
    #expect(!computed.isInferable(from: source, to: destination))
    let partial = try mapping()
    partial.entityMappings.removeFirst()
    #expect(!partial.isInferable(from: source, to: destination))
  }
}
