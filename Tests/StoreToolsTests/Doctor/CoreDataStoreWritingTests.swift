import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Writing to Core Data's stores keeps them valid")
struct CoreDataStoreWritingTests {
  /// All rows of a store by table and primary key, its metadata, and its schema.
  private struct Contents {
    var rows: [String: [Int64: [SQLiteValue]]] = [:]
    let metadata: [[SQLiteValue]]
    let schema: [[SQLiteValue]]

    init(_ url: URL, _ tables: Set<String>) throws {
      let connection = try Connection(path: url.path, access: .inspecting)
      defer { connection.close() }
      for table in tables {
        for row in try connection.values("SELECT * FROM \(SQLSyntax.quoted(table))") {
          guard case .integer(let key) = row[0] else { continue }
          rows[table, default: [:]][key] = row
        }
      }
      metadata = try connection.values("SELECT * FROM Z_METADATA")
      schema = try connection.values("SELECT name, sql FROM sqlite_master ORDER BY rowid")
    }
  }

  /// The primary keys of the saved objects, by table.
  private struct SavedKeys {
    var keys: [String: Set<Int64>] = [:]

    mutating func save(_ context: NSManagedObjectContext, _ tables: [String: String]) throws {
      context.processPendingChanges()
      let objects = context.insertedObjects.union(context.updatedObjects)
        .union(context.deletedObjects)
      try context.save()
      for object in objects {
        let uri = object.objectID.uriRepresentation()
        let key = Int64(uri.lastPathComponent.dropFirst()) ?? 0
        keys[tables[object.entity.name ?? ""] ?? "", default: []].insert(key)
      }
    }
  }

  @Test(.enabled(if: SharedData.moodyStores != nil), arguments: SharedData.stores)
  func insertsUpdatesAndDeletesKeepTheStoreValid(path: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Copy.sqlite")
    try FileManager.default.copyItem(at: try SharedData.url(path), to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
    let model = try StoreModel.ofStore(at: url).model
    let tables = try Self.tables(of: url)
    let before = try Contents(url, Set(tables.values))
    var savedKeys = SavedKeys()
    do {
      // This test doesn't need the classes that other tests register.
      for entity in model.entities { entity.managedObjectClassName = nil }
      // A required to-many relationship would prevent the objects from being deleted one at a time.
      for relationship in model.entities.flatMap(\.relationshipsByName.values)
      where relationship.isToMany { relationship.isOptional = true }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        type: .sqlite, at: url, options: [NSIgnorePersistentStoreVersioningOption: true])
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        for (index, name) in model.entitiesByName.keys.sorted().enumerated() {
          guard let entity = model.entitiesByName[name], !entity.isAbstract else { continue }
          let request = NSFetchRequest<NSManagedObject>(entityName: name)
          request.includesSubentities = false
          request.fetchLimit = 2
          let present = try context.fetch(request)
          let new = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
          try Self.fill(new, in: context, number: 7_000 + index)
          try savedKeys.save(context, tables)
          if let object = present.first {
            try Self.fill(object, in: context, number: 8_000 + index)
            try savedKeys.save(context, tables)
          }
          for object in [present.last, new].compactMap(\.self) where !object.isDeleted {
            context.delete(object)
          }
          try savedKeys.save(context, tables)
        }
      }
      try coordinator.remove(store)
    }
    let after = try Contents(url, Set(tables.values))
    #expect(after.metadata == before.metadata)
    #expect(after.schema == before.schema)
    for (table, rows) in before.rows {
      for (key, row) in rows where savedKeys.keys[table]?.contains(key) != true {
        #expect(after.rows[table]?[key] == row, "\(table) \(key)")
      }
    }
    #expect(savedKeys.keys.values.allSatisfy { !$0.isEmpty } && !savedKeys.keys.isEmpty)
    #expect(try StoreDoctor.examine(url).findings == [])
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    #expect(try connection.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  private static func tables(of url: URL) throws -> [String: String] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let anatomy = try StoreAnatomy(reading: connection)
    return Dictionary(uniqueKeysWithValues: anatomy.mapping.entities.map { ($0.name, $0.table) })
  }

  /// Sets all attributes of an object and its required relationships.
  private static func fill(
    _ object: NSManagedObject, in context: NSManagedObjectContext, number: Int
  ) throws {
    for (name, attribute) in object.entity.attributesByName
    where !attribute.isTransient && !attribute.isDerived {
      let value: Any? =
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
        case .doubleAttributeType, .floatAttributeType: Double(number) / 3
        case .decimalAttributeType: Decimal(number)
        case .booleanAttributeType: true
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number))
        case .stringAttributeType: "text \(number) of \(object.entity.name ?? "")"
        case .binaryDataAttributeType, .transformableAttributeType: Data([1, 2, 3])
        case .UUIDAttributeType: UUID()
        case .URIAttributeType: URL(string: "https://example.org/\(number)")
        default: nil
        }
      if attribute.valueTransformerName == nil
        || attribute.attributeType == .binaryDataAttributeType
        || !attribute.isOptional
      {
        object.setValue(value, forKey: name)
      }
    }
    for (name, relationship) in object.entity.relationshipsByName
    where !relationship.isOptional && !relationship.isToMany {
      let request = NSFetchRequest<NSManagedObject>(
        entityName: relationship.destinationEntity?.name ?? "")
      request.fetchLimit = 1
      object.setValue(try context.fetch(request).first, forKey: name)
    }
  }
}
