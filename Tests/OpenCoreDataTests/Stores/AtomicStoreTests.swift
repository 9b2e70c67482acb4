import CoreDataCosts
import Glibc
import Testing

@testable import OpenCoreData

@Suite("XML and binary stores")
struct AtomicStoreTests {
  static let documents: [StoreKind] = [.xml, .binary]

  private func add(_ names: [String], to context: NSManagedObjectContext) throws {
    try context.performAndWait {
      for name in names {
        NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
  }

  private func tags(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  private func names(_ context: NSManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      try tags(context).compactMap { $0.value(forKey: "name") as? String }
    }
  }

  /// The total size of a store's files, and their inode numbers.
  private func files(_ folder: URL) throws -> (bytes: Int, nodes: Set<Int>) {
    let files = FileManager.default
    let all = try files.contentsOfDirectory(atPath: folder.path).map {
      try files.attributesOfItem(atPath: folder.appendingPathComponent($0).path)
    }
    return (
      all.reduce(0) { $0 + ($1[.size] as? Int ?? 0) },
      Set(all.compactMap { $0[.systemFileNumber] as? Int })
    )
  }

  @Test(
    "S-H01 a change writes nothing, some pages, or the whole file, by store type",
    arguments: StoreKind.allCases)
  func changeWritesNothingSomePagesOrTheWholeFile(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    let context = try stack.coldContext()
    let all = (0..<2_000).map { "tag \($0)" }.sorted()
    try add(all, to: context)
    let before = try files(stack.folder)
    try context.performAndWait {
      try tags(context)[0].setValue("tag <0>", forKey: "name")
      try context.save()
    }
    let after = try files(stack.folder)
    switch kind {
    case .memory, .sqliteInMemory: #expect(after.bytes == 0, "nothing is written")
    case .xml, .binary:
      #expect(after.nodes.isDisjoint(with: before.nodes), "all of it is written, to a new file")
      #expect(after.nodes.count == 1 && after.bytes > 2_000 * 8)
    case .sqlite:
      #expect(after.nodes == before.nodes, "the files are the same")
      #expect(after.bytes - before.bytes < 20_000 && before.bytes > 100_000, "a page or two")
    }
    if kind == .xml {
      let text = try String(contentsOf: stack.storeURL, encoding: .utf8)
      #expect(text.contains("<attribute name=\"name\" type=\"string\">tag &lt;0&gt;</attribute>"))
    }
    // A store that is read into memory doesn't need its file once it's open.
    let cold = kind.isInMemory ? context : try stack.coldContext()
    let store = try #require(cold.persistentStoreCoordinator?.firstStore)
    #expect(kind.isInMemory || store.cachedRowCount == 0, "opening a store caches no rows")
    let changed = (all.dropFirst() + ["tag <0>"]).sorted()
    if kind != .sqlite { try FileManager.default.removeItem(at: stack.folder) }
    var found: [String] = []
    let cost = try costs(of: cold) { found = try names(cold) }
    #expect(found == changed)
    #expect(cost.statements == stack.statements(1))
  }

  @Test("S-H02 faults of a store that is read into memory need no statement and no file")
  func faultsOfStoresReadIntoMemoryNeedNoStatementOrFile() throws {
    for kind in AtomicStoreTests.documents + [.memory] {
      let stack = try TestStack(kind, model: SchemaModels.library())
      let writer = try stack.coldContext()
      try add(["one", "two"], to: writer)
      let context = kind == .memory ? writer : try stack.coldContext()
      try FileManager.default.removeItem(at: stack.folder)
      try context.performAndWait {
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.includesPropertyValues = false
        let found = try context.fetch(request)
        #expect(found.count == 2 && found.allSatisfy(\.isFault), "\(kind)")
        let cost = costs(of: context) { for tag in found { _ = tag.value(forKey: "name") } }
        #expect(cost.statements == 0 && cost.faults == 2, "\(kind)")
        #expect(Set(found.compactMap { $0.value(forKey: "name") as? String }) == ["one", "two"])
      }
    }
  }

  @Test("S-H01 a crash in the middle of a save leaves the old file", arguments: documents)
  func crashDuringASaveLeavesTheOldFile(kind: StoreKind) async throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    try add(["old"], to: stack.coldContext())
    let bytes = try Data(contentsOf: stack.storeURL)
    let isXML = kind == .xml
    let path = stack.storeURL.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, isXML = isXML as Bool] in
      let file = AtomicStoreFile(
        url: URL(fileURLWithPath: path), form: isXML ? .xml : .binary)
      var document = try file.read().document
      document.objects = []
      _ = try file.replace(by: document) { kill(getpid(), SIGKILL) }
    }
    #expect(try Data(contentsOf: stack.storeURL) == bytes)
    #expect(try names(stack.coldContext()) == ["old"])
  }

  @Test("A document doesn't change if the save of another store fails", arguments: documents)
  func failedSaveOfAnotherStoreLeavesTheDocumentUnchanged(kind: StoreKind) throws {
    let model = SchemaModels.library()
    let stack = try TestStack(kind, model: model)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let document = try coordinator.addPersistentStore(type: kind.type, at: stack.storeURL)
    let file = try coordinator.addPersistentStore(
      type: .sqlite, at: stack.folder.appendingPathComponent("Other.sqlite"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    func insert(_ name: String, in store: NSPersistentStore) {
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      tag.setValue(name, forKey: "name")
      context.assign(tag, to: store)
    }
    try context.performAndWait {
      insert("here", in: document)
      insert("there", in: file)
      try context.save()
      insert("new", in: document)
      insert("there", in: file)
      #expect(throws: NSError.self, "two of one name") { try context.save() }
    }
    #expect(try names(stack.coldContext()) == ["here"])
    let left = try FileManager.default.contentsOfDirectory(atPath: stack.folder.path)
    #expect(!left.contains { $0.hasPrefix(".Store") }, "no temporary file is left")
    try context.performAndWait {
      context.rollback()
      insert("new", in: document)
      try context.save()
    }
    #expect(try names(stack.coldContext()) == ["here", "new"])
  }

  @Test("A document that was changed elsewhere isn't overwritten", arguments: documents)
  func documentChangedElsewhereIsNotOverwritten(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    let (one, other) = (try stack.coldContext(), try stack.coldContext())
    try add(["one"], to: one)
    let error = try #require(throws: NSError.self) { try add(["other"], to: other) }
    #expect(error.code == NSPersistentStoreSaveError)
    #expect(error.localizedDescription.contains("it was modified by another process"))
    #expect(try names(stack.coldContext()) == ["one"])
    // A deleted file is written again with all objects.
    try FileManager.default.removeItem(at: stack.storeURL)
    try add(["two"], to: one)
    #expect(try names(stack.coldContext()) == ["one", "two"])
  }

  @Test("A read-only document isn't written, and one that can't be created is an error")
  func readOnlyDocumentIsNotWritten() throws {
    for kind in AtomicStoreTests.documents {
      let stack = try TestStack(kind, model: SchemaModels.library())
      let missing = try #require(throws: NSError.self) {
        try stack.coldContext(options: [NSReadOnlyPersistentStoreOption: true])
      }
      #expect(missing.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
      #expect(try files(stack.folder).nodes == [])
      try add(["one"], to: stack.coldContext())
      let before = try files(stack.folder)
      let context = try stack.coldContext(options: [NSReadOnlyPersistentStoreOption: true])
      let refused = try #require(throws: NSError.self) { try add(["two"], to: context) }
      #expect(refused.code == NSPersistentStoreSaveError)
      #expect(try files(stack.folder) == before)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
      let nowhere = try #require(throws: NSError.self) {
        try coordinator.addPersistentStore(
          type: kind.type, at: URL(fileURLWithPath: "/proc/no/Store.xml"))
      }
      #expect(nowhere.code == NSPersistentStoreOpenError)
      #expect(coordinator.persistentStores.isEmpty)
    }
  }

  @Test("Metadata is written with a save, or immediately by the class method", arguments: documents)
  func metadataIsWrittenWithASaveOrImmediately(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    let context = try stack.coldContext()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    func onDisk() throws -> [String: Any] {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: kind.type, at: stack.storeURL)
    }
    #expect(try onDisk()[NSStoreTypeKey] as? String == kind.type.rawValue)
    #expect(try onDisk()[NSStoreUUIDKey] as? String == store.identifier)
    coordinator.setMetadata(["imported": "<plist> </plist>", "bytes": Data([0, 1])], for: store)
    #expect(try onDisk()["imported"] == nil, "not saved yet")
    try context.performAndWait { try context.save() }
    #expect(try onDisk()["imported"] as? String == "<plist> </plist>")
    #expect(try onDisk()["bytes"] as? Data == Data([0, 1]))
    try add(["one"], to: context)
    try NSPersistentStoreCoordinator.setMetadata(
      ["round": 2], type: kind.type, at: stack.storeURL)
    #expect(try onDisk()["round"] as? Int == 2)
    #expect(try onDisk()["imported"] == nil)
    #expect(try names(stack.coldContext()) == ["one"])
    #expect(throws: NSError.self, "written elsewhere") { try add(["two"], to: context) }
  }

  @Test(
    "Documents are moved, replaced, and destroyed, and keep their permissions", arguments: documents
  )
  func documentsAreMovedReplacedAndDestroyed(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    let context = try stack.coldContext()
    try add(["one"], to: context)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stack.storeURL.path)
    try add(["two"], to: context)
    let permissions = try files.attributesOfItem(atPath: stack.storeURL.path)[.posixPermissions]
    #expect(permissions as? Int == 0o600)

    let other = stack.folder.appendingPathComponent("Other")
    let stranger = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    #expect(!stranger.setURL(other, for: store) && store.url?.path == stack.storeURL.path)
    #expect(coordinator.setURL(other, for: store))
    try add(["three"], to: context)
    #expect(try names(stack.coldContext()) == ["one", "two"], "the old file doesn't change")
    let support = stack.folder.appendingPathComponent(".Other_SUPPORT")
    try files.createDirectory(at: support, withIntermediateDirectories: true)
    try coordinator.replacePersistentStore(
      at: stack.storeURL, withPersistentStoreFrom: other, type: kind.type)
    #expect(try names(stack.coldContext()) == ["one", "three", "two"])
    try coordinator.destroyPersistentStore(at: other, type: kind.type)
    #expect(throws: NSError.self, "destroyed already") {
      try coordinator.destroyPersistentStore(at: other, type: kind.type)
    }
    #expect(!files.fileExists(atPath: other.path))
    #expect(files.fileExists(atPath: support.path), "it belongs to a SQLite store")
    let missing = try #require(throws: NSError.self) {
      try coordinator.replacePersistentStore(
        at: stack.storeURL, withPersistentStoreFrom: other, type: kind.type)
    }
    #expect(missing.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
    #expect(try names(stack.coldContext()) == ["one", "three", "two"])
  }

  @Test(
    "The first save to a document whose version was ignored writes the model's version",
    arguments: documents)
  func ignoredVersionIsReplaced(kind: StoreKind) throws {
    func model(_ names: [String]) -> NSManagedObjectModel {
      let model = NSManagedObjectModel()
      model.entities = [
        SchemaModels.entity(
          "Item", names.map { SchemaModels.attribute($0, .stringAttributeType) })
      ]
      return model
    }
    let stack = try TestStack(kind, model: model(["a"]))
    let first = try stack.coldContext()
    try first.performAndWait {
      _ = first.make("Item", ["a": "1"])
      try first.save()
    }
    func open(_ options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(["a", "b"]))
      try coordinator.addPersistentStore(type: kind.type, at: stack.storeURL, options: options)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let ignoring = try open([NSIgnorePersistentStoreVersioningOption: true])
    let refused = thrownError { _ = try open() }
    #expect(refused?.code == NSPersistentStoreIncompatibleVersionHashError, "nothing was saved")
    try ignoring.performAndWait {
      _ = ignoring.make("Item", ["b": "2"])
      try ignoring.save()
    }
    let context = try open()
    let count = try context.performAndWait { try context.everyObject(of: "Item").count }
    #expect(count == 2)
  }

  @Test("Another model is rejected, and the file doesn't change", arguments: documents)
  func anotherModelIsRejectedWithoutChangingTheDocument(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    try add(["one"], to: stack.coldContext())
    let bytes = try Data(contentsOf: stack.storeURL)
    let other = NSManagedObjectModel()
    other.entities = [
      SchemaModels.entity("Tag", [SchemaModels.attribute("title", .stringAttributeType)])
    ]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
    let refused = try #require(throws: NSError.self) {
      try coordinator.addPersistentStore(type: kind.type, at: stack.storeURL)
    }
    #expect(refused.code == NSPersistentStoreIncompatibleVersionHashError)
    let unfit = try #require(throws: NSError.self) {
      try coordinator.addPersistentStore(
        type: kind.type, at: stack.storeURL,
        options: [NSIgnorePersistentStoreVersioningOption: true])
    }
    #expect(unfit.code == NSPersistentStoreIncompatibleSchemaError)
    #expect(unfit.localizedDescription.contains("no attribute 'name'"))
    #expect(try Data(contentsOf: stack.storeURL) == bytes)
  }

  @Test("Names of attributes and relationships in an XML document match in any case")
  func xmlPropertyNamesMatchInAnyCase() throws {
    let stack = try TestStack(.xml, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let home = context.make("Department", ["name": "D"])
      _ = context.make("Employee", ["name": "E", "department": home])
      try context.save()
    }
    var text = try String(contentsOf: stack.storeURL, encoding: .utf8)
    for name in ["name", "department", "employees"] {
      text = text.replacingOccurrences(
        of: "name=\"\(name)\"", with: "name=\"\(name.uppercased())\"")
    }
    #expect(text.contains("DEPARTMENT"))
    try Data(text.utf8).write(to: stack.storeURL)
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let employee = try #require(try cold.all("Employee").first)
      #expect(employee.value(forKey: "name") as? String == "E")
      let home = employee.value(forKey: "department") as? NSManagedObject
      #expect(home?.value(forKey: "name") as? String == "D")
      #expect((home?.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 1)
    }
  }

  @Test("A save through a symbolic link replaces the link's target", arguments: documents)
  func saveThroughALinkReplacesItsTarget(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    try add(["one"], to: stack.coldContext())
    let files = FileManager.default
    let folder = stack.folder.appendingPathComponent("Real", isDirectory: true)
    try files.createDirectory(at: folder, withIntermediateDirectories: false)
    let target = folder.appendingPathComponent("Target")
    try files.moveItem(at: stack.storeURL, to: target)
    try files.createSymbolicLink(at: stack.storeURL, withDestinationURL: target)
    let context = try stack.coldContext()
    try add(["two"], to: context)
    try add(["three"], to: context)
    #expect(try files.destinationOfSymbolicLink(atPath: stack.storeURL.path) == target.path)
    #expect(try files.contentsOfDirectory(atPath: folder.path) == ["Target"])
    #expect(try names(stack.coldContext()) == ["one", "three", "two"])
  }

  @Test(
    "Metadata that XML can't represent fails the save, and the file stays readable",
    arguments: [("note", "a\u{1}b"), ("no\u{2}te", "a"), ("note", "\u{FFFE}")])
  func metadataThatXMLCannotRepresentFailsTheSave(key: String, value: String) throws {
    let stack = try TestStack(.xml, model: SchemaModels.library())
    let context = try stack.coldContext()
    try add(["one"], to: context)
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    let metadata = store.metadata
    store.metadata[key] = value
    let refused = try #require(throws: NSError.self) { try add(["two"], to: context) }
    #expect(refused.code == NSPersistentStoreSaveError)
    #expect(refused.localizedDescription.contains("a string in its metadata"))
    #expect(try names(stack.coldContext()) == ["one"])
    store.metadata = metadata
    try context.performAndWait { try context.save() }
    #expect(try names(stack.coldContext()) == ["one", "two"])
    store.identifier = "a\u{1}b"
    let unidentified = try #require(throws: NSError.self) { try add(["three"], to: context) }
    #expect(unidentified.localizedDescription.contains("its identifier"))
    #expect(try names(stack.coldContext()) == ["one", "two"])
  }

  @Test("CDATA sections of an XML document are text, and a destination that is repeated is one")
  func sectionsAndRepeatedDestinationsAreRead() throws {
    let stack = try TestStack(.xml, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let home = context.make("Department", ["name": "<D>"])
      _ = context.make("Employee", ["name": "E", "department": home])
      try context.save()
    }
    var text = try String(contentsOf: stack.storeURL, encoding: .utf8)
    for key in ["z1", "z2"] {
      text = text.replacingOccurrences(of: "idrefs=\"\(key)\"", with: "idrefs=\"\(key) \(key)\"")
    }
    text = text.replacingOccurrences(of: "&lt;D&gt;", with: "<![CDATA[<D>]]>")
    try Data(text.utf8).write(to: stack.storeURL)
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
      request.predicate = NSPredicate(format: "employees.@count == 1")
      let home = try #require(try cold.fetch(request).first)
      #expect(home.value(forKey: "name") as? String == "<D>")
      #expect((home.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 1)
    }
  }
}
