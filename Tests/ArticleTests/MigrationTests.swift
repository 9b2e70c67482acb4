import OpenCoreData
import Testing

/// Sets the note of moods that have none.
final class NotePolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let moods = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [source])
    for mood in moods where mood.value(forKey: "note") == nil {
      mood.setValue("–", forKey: "note")
    }
  }
}

@Suite("The article Migration")
struct MigrationTests {
  private let url: URL
  private let store: MoodStore
  private let renamed: NSManagedObjectModel

  init() throws {
    store = try MoodStore(countries: 2, moodsPerCountry: 3)
    let coordinator = store.container.persistentStoreCoordinator
    for open in coordinator.persistentStores { try coordinator.remove(open) }
    url = store.url
    renamed = MoodModel.make()
    let note = try #require(renamed.entitiesByName["Mood"]?.attributesByName["note"])
    note.name = "text"
    note.renamingIdentifier = "note"
  }

  private func count(_ model: NSManagedObjectModel) throws -> Int {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Mood"))
    }
  }

  @Test func containerMigrates() throws {
    let model = renamed
    let description = NSPersistentStoreDescription(url: url)
    description.shouldMigrateStoreAutomatically = true  // the default
    description.shouldInferMappingModelAutomatically = true  // the default
    let container = NSPersistentContainer(name: "Moods", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in
      #expect(error == nil)
    }
    #expect(try count(model) == 6)
  }

  @Test func versionIsCheckedFirst() throws {
    let model = renamed
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: url)
    let isCurrent = model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    #expect(!isCurrent)
  }

  @Test func mappingIsInferredOrRefused() throws {
    let (source, destination) = (MoodModel.make(), renamed)
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    #expect(mapping.entityMappings.count == 2)
  }

  @Test func managerUsesPolicies() throws {
    let source = MoodModel.make()
    let destination = renamed
    destination.entitiesByName["Mood"]?.attributesByName["text"]?.name = "note"

    NotePolicy.registerClass(named: "NotePolicy")
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    let moods = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Mood" })
    moods.mappingType = .customEntityMappingType
    moods.entityMigrationPolicyClassName = "NotePolicy"

    let target = url.deletingLastPathComponent().appendingPathComponent("Migrated.sqlite")
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    try manager.migrateStore(
      from: url, type: .sqlite, mapping: mapping, to: target, type: .sqlite)

    let container = try MoodStore.open(target)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      let notes = try context.fetch(request).map(\.note)
      #expect(notes == Array(repeating: "–", count: 6))
    }
  }

  @Test func stagesRunHandlers() throws {
    let (first, second) = (MoodModel.make(), renamed)
    let stage = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(
        model: first, versionChecksum: first.versionChecksum),
      to: NSManagedObjectModelReference(model: second, versionChecksum: second.versionChecksum))
    var handled = 0
    stage.willMigrateHandler = { manager, _ in
      guard let context = manager.container?.newBackgroundContext() else { return }
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
        request.predicate = NSPredicate(format: "note == nil")
        for mood in try context.fetch(request) { mood.setValue("–", forKey: "note") }
        handled = context.updatedObjects.count
        try context.save()
      }
    }
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(
      NSStagedMigrationManager([stage]),
      forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    let container = NSPersistentContainer(name: "Moods", managedObjectModel: second)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in
      #expect(error == nil)
    }
    #expect(handled == 6)
  }
}
