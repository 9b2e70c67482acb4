import OpenCoreData
import PostgresDriver
import PostgresStore
import Synchronization
import Testing

import class ManagedModel.NSDerivedAttributeDescription
import class ManagedModel.NSExpression
import class ManagedModel.NSManagedObjectModel

@Suite("Opening a store")
struct SchemaTests {
  @Test("The store is opened again with its UUID, and its URIs find the objects")
  func storesAreOpenedAgain() throws {
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    let uri = try context.performAndWait {
      let ada = context.insert("Person", ["name": "Ada"])
      try context.save()
      return ada.objectID.uriRepresentation()
    }
    let coordinator = try stack.newCoordinator()
    #expect(
      coordinator.persistentStores[0].identifier == stack.coordinator.persistentStores[0].identifier
    )
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    let other = stack.context(coordinator)
    try other.performAndWait {
      try expectEqual(other.existingObject(with: id).name, "Ada")
    }
  }

  @Test("A store of another model is error 134100, and its data stays")
  func otherModelsAreRefused() throws {
    let stack = try PostgresStack(SampleModels.company())
    let model = SampleModels.company()
    model.entitiesByName["Task"]?.properties.append(
      SampleModels.attribute("extra", .stringAttributeType))
    for other in [model, SampleModels.accounts()] {
      let error = #expect(throws: NSError.self) { try stack.newCoordinator(other) }
      #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }
    try expectEqual(stack.newCoordinator().persistentStores.count, 1)
  }

  @Test("If version hashes are ignored, rows keep their entities, and new entities have no table")
  func ignoredVersions() throws {
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    try context.performAndWait {
      context.insert("Manager", ["name": "Ben", "boss": context.insert("Person", ["name": "Ada"])])
      try context.save()
    }
    let model = SampleModels.company()
    // The first and the last of the names.
    model.entities += ["Aardvark", "Zebra"].map { name in
      SampleModels.entity(name, [SampleModels.attribute("name", .stringAttributeType)])
    }
    let other = stack.context(
      try stack.newCoordinator(model, options: [NSIgnorePersistentStoreVersioningOption: true]))
    try other.performAndWait {
      let people = try other.all("Person")
      #expect(people.map(\.entity.name) == ["Person", "Manager"])
      #expect((people[1].value(forKey: "boss") as? NSManagedObject)?.entity.name == "Person")
      let error = #expect(throws: NSError.self) { try other.all("Zebra") }
      #expect(error?.userInfo[PostgresSQLStateErrorKey] as? String == "42P01")
    }
  }

  @Test("An unreachable server, another scheme, and a schema that can't be used are error 134080")
  func unreachableServers() throws {
    let model = SampleModels.accounts()
    for text in [
      "postgres://user:secret@127.0.0.1:1/db", "postgres:///db?host=/nonexistent", "file:///tmp/x",
      "postgres:///postgres?schema=pg_catalog", "postgres:///postgres?schema=",
    ] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
      let error = #expect(throws: NSError.self) {
        try coordinator.addPersistentStore(
          type: .postgres, at: try #require(URL(string: text)),
          options: [NSPersistentStoreTimeoutOption: 2])
      }
      #expect(error?.code == NSPersistentStoreOpenError, "\(text) \(error as Any)")
      #expect(error?.localizedDescription.contains("secret") == false)
    }
  }

  @Test("Several programs that open a new store at once create it once", arguments: 0..<5)
  func creationIsSerialized(round: Int) throws {
    let stack = try PostgresStack(SampleModels.accounts())
    try TestServer.connection().execute("DROP SCHEMA \(stack.quoted) CASCADE")
    nonisolated(unsafe) let shared = stack
    let identifiers = Mutex<[String?]>([])
    onThreads(6) { _ in
      let coordinator = try? shared.newCoordinator(SampleModels.accounts())
      identifiers.withLock { $0.append(coordinator?.persistentStores[0].identifier) }
    }
    let found = identifiers.withLock { $0 }
    #expect(found.count == 6)
    #expect(Set(found).count == 1)
    #expect(!found.contains(nil))
  }

  @Test("A read-only store is read, not created, and never written")
  func readOnlyStores() throws {
    let stack = try PostgresStack(SampleModels.accounts())
    let options = [NSReadOnlyPersistentStoreOption: true]
    let context = stack.context(try stack.newCoordinator(options: options))
    try context.performAndWait {
      let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Account"))
      #expect(count == 0)
      context.insert("Account")
      #expect(throws: NSError.self) { try context.save() }
    }
    try TestServer.connection().execute("DROP SCHEMA \(stack.quoted) CASCADE")
    let error = #expect(throws: NSError.self) { try stack.newCoordinator(options: options) }
    #expect(error?.code == NSPersistentStoreOpenError)
    try TestServer.connection().execute("CREATE SCHEMA \(stack.quoted)")
  }

  @Test("Metadata is read and written without a coordinator, and saved with objects")
  func metadata() throws {
    let stack = try PostgresStack(SampleModels.accounts())
    let (store, url) = (stack.coordinator.persistentStores[0], try PostgresStack.url(stack.schema))
    var metadata = stack.coordinator.metadata(for: store)
    metadata["app"] = "first"
    stack.coordinator.setMetadata(metadata, for: store)
    let context = stack.context()
    try context.performAndWait {
      context.insert("Account", ["name": "a"])
      try context.save()
    }
    var read = try PostgresStore.metadataForPersistentStore(with: url)
    #expect(read["app"] as? String == "first")
    #expect(read[NSStoreUUIDKey] as? String == store.identifier)
    try PostgresStore.setMetadata(
      ["app": "second", NSStoreUUIDKey: "x"], forPersistentStoreAt: url)
    read = try PostgresStore.metadataForPersistentStore(with: url)
    #expect(read["app"] as? String == "second")
    #expect(read[NSStoreUUIDKey] as? String == store.identifier)
    try expectEqual(stack.newCoordinator().metadata(for: store)["app"] as? String, "first")
  }

  /// A model whose names are hostile: quotes, long, equal in their first 63 bytes, and the server's
  /// own.
  private static func hostileModel() -> (NSManagedObjectModel, [String], [String]) {
    let long = String(repeating: "ä", count: 60)
    let attributes = [
      "a\"b", "'; DROP TABLE x; --", "z_pk", "ctid", "xmin", "order", "a.b", long + "1", long + "2",
      long, "snow☃man", "back\\slash", "%s", "Select", "quote\"\u{301}mark",
    ]
    let names = [
      "My \"Entity\"", "z_metadata", "select", "Table_pkey", "Table", long + "1", long + "2",
    ]
    let entities = names.map { name in
      SampleModels.entity(name, attributes.map { SampleModels.attribute($0, .stringAttributeType) })
    }
    for entity in entities {
      SampleModels.relate(
        entity, "to \"\(long)", SampleModels.many, entity, "from \"\(long)", SampleModels.many)
    }
    return (SampleModels.model(entities), names, attributes)
  }

  @Test("Entities and properties may have any names")
  func hostileNames() throws {
    let (model, names, attributes) = Self.hostileModel()
    let stack = try PostgresStack(model, schema: "test \"'ü \(UUID().uuidString)")
    let context = stack.context()
    let relationship = try #require(
      model.entitiesByName[names[0]]?.relationshipsByName.keys.first { $0.hasPrefix("to ") })
    try context.performAndWait {
      for name in names {
        let values = Dictionary(uniqueKeysWithValues: attributes.map { ($0, "\(name) \($0)") })
        let object = context.insert(name, values)
        object.mutableSetValue(forKey: relationship).add(context.insert(name))
      }
      try context.save()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      for name in names {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.predicate = NSPredicate(format: "%K == %@", "order", "\(name) order")
        request.sortDescriptors = attributes.filter { !$0.contains(".") }.map {
          NSSortDescriptor(key: $0, ascending: true)
        }
        let found = try cold.fetch(request)
        #expect(found.count == 1)
        for attribute in attributes {
          #expect(found.first?.value(forKey: attribute) as? String == "\(name) \(attribute)")
        }
        #expect((found.first?.value(forKey: relationship) as? Set<NSManagedObject>)?.count == 1)
      }
    }
  }

  @Test(
    "A container opens a store from a description, and removing the store closes its connections")
  func containers() throws {
    let stack = try PostgresStack(SampleModels.accounts())
    let container = NSPersistentContainer(name: "Accounts", managedObjectModel: stack.model)
    let description = NSPersistentStoreDescription(url: try PostgresStack.url(stack.schema))
    description.type = NSPersistentStore.StoreType.postgres.rawValue
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      context.insert("Account", ["name": "a"])
      try context.save()
      // The last statement of a connection, by which it's counted, names the schema.
      try expectEqual(context.all("Account").count, 1)
    }
    let counter = try TestServer.connection()
    func connections() throws -> Int64? {
      try counter.query(
        "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND strpos(query, $1) > 0",
        [.text(stack.schema)]
      ).integer(0, 0)
    }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let before = try connections() ?? 0
    try container.persistentStoreCoordinator.remove(store)
    // The server notices a moment later.
    for _ in 0..<200 where try connections() == before { Thread.sleep(forTimeInterval: 0.01) }
    let after = try connections() ?? 0
    #expect(after < before)
    context.performAndWait {
      #expect(throws: NSError.self) { try context.all("Account") }
    }
  }

  @Test("Derived attributes and attributes without a type are refused")
  func unsupportedProperties() throws {
    let derived = NSDerivedAttributeDescription()
    derived.name = "derived"
    derived.attributeType = .stringAttributeType
    derived.derivationExpression = NSExpression(format: "name")
    let model = SampleModels.model([
      SampleModels.entity("Item", [SampleModels.attribute("name", .stringAttributeType), derived])
    ])
    let error = #expect(throws: NSError.self) { try PostgresStack(model) }
    #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
    #expect(error?.localizedDescription.contains("'derived' of 'Item'") == true)
  }

  @Test("Batch requests are error 134091")
  func unsupportedRequests() throws {
    let stack = try PostgresStack(SampleModels.accounts())
    let context = stack.context()
    context.performAndWait {
      let request = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Account"))
      let error = #expect(throws: NSError.self) { try context.execute(request) }
      #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    }
  }
}
