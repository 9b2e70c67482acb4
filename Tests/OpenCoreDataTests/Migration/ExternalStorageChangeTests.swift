import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("External storage that's turned on or off")
struct ExternalStorageChangeTests {
  private typealias Sample = LightweightMigrationTests

  /// The kind of version hashes of a store.
  enum Hashes: CaseIterable, Sendable {
    case current
    /// Digests of a formula without external storage.
    case earlier
    /// Core Data's, which may be the same for both models.
    case appleSame
  }

  private static func model(isExternal: Bool, _ hashes: Hashes) -> NSManagedObjectModel {
    let model = Sample.model { person, _ in
      let photo = Sample.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = isExternal
      person.properties.append(photo)
    }
    if hashes == .appleSame {
      for entity in model.entities {
        entity.recordVersionHash(Data(repeating: UInt8(entity.name?.count ?? 0), count: 32))
      }
    }
    return model
  }

  /// Creates a store with one person for each value.
  private static func store(
    _ model: NSManagedObjectModel, _ hashes: Hashes, _ values: [Data]
  ) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(model)
    try context.performAndWait {
      for (index, value) in values.enumerated() {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue("\(index)", forKey: "name")
        person.setValue(value, forKey: "photo")
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    guard hashes == .earlier else { return store }
    let connection = try Connection(path: store.url.path, access: .writing)
    defer { connection.close() }
    var metadata = try StoreMetadata(reading: connection)
    metadata.values[StoreMetadata.hashesKey] = model.entitiesByName.mapValues {
      $0.digest(.withoutExternalStorage)
    }
    metadata.values[StoreMetadata.digestFormulaKey] = 2
    try metadata.write(to: connection)
    return store
  }

  private static func photos(in context: NSManagedObjectContext) throws -> [Data?] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: "photo") as? Data }
    }
  }

  @Test(
    "Values in rows are never read as marked ones: the store is migrated",
    arguments: Hashes.allCases)
  func turningOnKeepsValues(hashes: Hashes) throws {
    let reference = Data([2] + UUID().uuidString.utf8)
    let values = [Data([1, 5]), Data([2, 6]), reference, Data([9]), Data()]
    let store = try Self.store(Self.model(isExternal: false, hashes), hashes, values)
    let external = Self.model(isExternal: true, hashes)
    let error = thrownError { _ = try store.open(external, options: nil) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(try Self.photos(in: store.open(external)) == values)
    // The migrated store opens without migration.
    #expect(try Self.photos(in: store.open(external, options: nil)) == values)
  }

  @Test(
    "Marked values aren't read as plain ones: the store isn't opened", arguments: Hashes.allCases)
  func turningOffIsRefused(hashes: Hashes) throws {
    let values = [Data([9]), Data(repeating: 1, count: 200_000)]
    let external = Self.model(isExternal: true, hashes)
    let store = try Self.store(external, hashes, values)
    let model = Self.model(isExternal: false, hashes)
    let error = thrownError { _ = try store.open(model, options: nil) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let refusal = try #require(thrownError { try store.migrate(to: model) })
    #expect(refusal.code == NSMigrationMissingMappingModelError)
    #expect(refusal.localizedDescription.contains("external storage"))
    #expect(try Self.photos(in: store.open(external)) == values)
  }
}
