import CoreDataCosts
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("External storage")
struct ExternalDataTests {
  private static func model() -> NSManagedObjectModel {
    let photo = SchemaModels.entity(
      "Photo",
      [
        SchemaModels.attribute("outside", .binaryDataAttributeType),
        SchemaModels.attribute("inside", .binaryDataAttributeType),
        SchemaModels.attribute("title", .stringAttributeType),
      ])
    photo.attributesByName["outside"]?.allowsExternalBinaryDataStorage = true
    let model = NSManagedObjectModel()
    model.entities = [photo]
    return model
  }

  private static func bytes(_ count: Int, _ seed: UInt8) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0) ^ seed })
  }

  private func photo(in context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo")).first)
  }

  private func column(_ name: String, of stack: TestStack) throws -> [UInt8]? {
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    guard case .blob(let bytes)? = try connection.values("SELECT \(name) FROM ZPHOTO").first?.first
    else { return nil }
    return bytes
  }

  @Test("Batch requests delete unreferenced files")
  func batchRequestsDeleteUnreferencedFiles() throws {
    let stack = try TestStack(model: Self.model())
    let files = ExternalStorage(storeURL: stack.storeURL)
    let context = try stack.coldContext()
    try context.performAndWait {
      for number in 0..<4 as Range<UInt8> {
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        photo.setValue(Self.bytes(number == 3 ? 37 : 100_001, number), forKey: "outside")
        photo.setValue("p\(number)", forKey: "title")
      }
      try context.save()
      #expect(try files.fileNames().count == 3)
      let update = NSBatchUpdateRequest(entityName: "Photo")
      update.predicate = NSPredicate(format: "title == 'p0'")
      update.propertiesToUpdate = ["outside": Data([1, 2])]
      _ = try context.execute(update)
      #expect(try files.fileNames().count == 2)
      let titled = NSBatchUpdateRequest(entityName: "Photo")
      titled.propertiesToUpdate = ["title": "t"]
      _ = try context.execute(titled)
      #expect(try files.fileNames().count == 2)
      context.reset()
      let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))
        .sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
      #expect(found[0].value(forKey: "outside") as? Data == Data([1, 2]))
      _ = try context.execute(NSBatchDeleteRequest(objectIDs: [found[1].objectID]))
      #expect(try files.fileNames().count == 1)
      #expect(found[2].value(forKey: "outside") as? Data == Self.bytes(100_001, 2))
      let rest = NSFetchRequest<NSManagedObject>(entityName: "Photo")
      _ = try context.execute(NSBatchDeleteRequest(fetchRequest: rest))
      #expect(try files.fileNames().isEmpty)
    }
  }

  @Test("A batch insertion that updates a row deletes the file of the value that it replaces")
  func updatingInsertionsDeleteUnreferencedFiles() throws {
    let model = Self.model()
    model.entitiesByName["Photo"]?.uniquenessConstraints = [["title"]]
    let stack = try TestStack(model: model)
    let files = ExternalStorage(storeURL: stack.storeURL)
    let context = try stack.coldContext()
    context.mergePolicy = NSMergePolicy.overwrite
    try context.performAndWait {
      for title in ["a", "b"] {
        _ = context.make("Photo", ["outside": Self.bytes(100_001, 7), "title": title])
      }
      try context.save()
      #expect(try files.fileNames().count == 2)
      let small = Data([1, 2])
      try context.execute(
        NSBatchInsertRequest(
          entityName: "Photo",
          objects: [
            ["title": "a", "inside": small], ["title": "b", "outside": small],
            ["title": "c", "outside": small],
          ]))
      #expect(try files.fileNames().count == 1)
      context.reset()
      let photos = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))
        .sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
      let values = photos.map { $0.value(forKey: "outside") as? Data }
      #expect(values == [Self.bytes(100_001, 7), small, small])
    }
  }

  @Test("A batch update can't copy values that may be in files, and keeps the files")
  func batchUpdatesDontCopyExternalValues() throws {
    let stack = try TestStack(model: Self.model())
    let files = ExternalStorage(storeURL: stack.storeURL)
    let context = try stack.coldContext()
    try context.performAndWait {
      let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
      photo.setValue(Self.bytes(100_001, 1), forKey: "outside")
      try context.save()
      for (name, source) in [("outside", "outside"), ("outside", "inside"), ("inside", "outside")] {
        let update = NSBatchUpdateRequest(entityName: "Photo")
        update.propertiesToUpdate = [name: NSExpression(forKeyPath: source)]
        let error = #expect(throws: NSError.self) { try context.execute(update) }
        #expect(error?.localizedDescription.contains("can't be copied") == true)
      }
      context.reset()
      #expect(try files.fileNames().count == 1)
      let value = try self.photo(in: context).value(forKey: "outside")
      #expect(value as? Data == Self.bytes(100_001, 1))
    }
  }

  @Test("S-C32 a fetch reads large values of its rows, but those of a to-one only when followed")
  func largeValueOfAToOneIsReadOnlyWhenFollowed() throws {
    let photo = SchemaModels.entity(
      "Photo",
      [
        SchemaModels.attribute("title", .stringAttributeType),
        SchemaModels.attribute("inside", .binaryDataAttributeType),
      ])
    let item = SchemaModels.entity("Item", [SchemaModels.attribute("title", .stringAttributeType)])
    let bytes = SchemaModels.entity(
      "Bytes", [SchemaModels.attribute("data", .binaryDataAttributeType)])
    SchemaModels.relate(item, "bytes", many: false, bytes, "item", many: false)
    let model = NSManagedObjectModel()
    model.entities = [photo, item, bytes]
    let stack = try TestStack(model: model)
    let writer = try stack.coldContext()
    try writer.performAndWait {
      for number in 0..<20 as Range<UInt8> {
        let value = Self.bytes(80_000, number)
        _ = writer.make("Photo", ["title": "p", "inside": value])
        _ = writer.make("Item", ["title": "i", "bytes": writer.make("Bytes", ["data": value])])
      }
      try writer.save()
    }
    var sizes: [String: Int] = [:]
    for entity in ["Photo", "Item"] {
      let context = try stack.coldContext()
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.returnsObjectsAsFaults = false
        let found = try context.fetch(request)
        #expect(found.allSatisfy { ($0.value(forKey: "title") as? String)?.count == 1 })
        sizes[entity] = found.reduce(0) { $0 + $1.row.size }
        guard entity == "Item" else { return }
        let cost = costs(of: context) {
          let bytes = found[3].value(forKey: "bytes") as? NSManagedObject
          #expect((bytes?.value(forKey: "data") as? Data)?.count == 80_000)
        }
        #expect(cost.selects == 1 && cost.rows == 1 && cost.misses == 1)
      }
    }
    #expect(try #require(sizes["Photo"]) > 20 * 80_000)
    #expect(try #require(sizes["Item"]) < 20 * 200)
  }

  @Test(
    "S5.02 S-C31 a value above 100,000 bytes is stored in a file, deleted with the object",
    arguments: [(0, false), (50_000, false), (100_000, false), (100_001, true), (500_000, true)])
  func largeValuesAreStoredInFilesDeletedWithTheirObject(count: Int, isOutside: Bool) throws {
    let stack = try TestStack(model: Self.model())
    let files = ExternalStorage(storeURL: stack.storeURL)
    let value = Self.bytes(count, 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
      photo.setValue(value, forKey: "outside")
      photo.setValue(value, forKey: "inside")
      try context.save()
      #expect(photo.value(forKey: "outside") as? Data == value)
      #expect(!photo.hasChanges)
    }
    #expect(files.folder.path.hasSuffix("/.Store_SUPPORT/_EXTERNAL_DATA"))
    #expect(try files.fileNames().count == (isOutside ? 1 : 0))
    let column = try #require(try column("ZOUTSIDE", of: stack))
    if isOutside {
      let name = try #require(try files.fileNames().first)
      #expect(column == [2] + Array(name.utf8))
    } else {
      #expect(column == [1] + Array(value))
    }
    #expect(try self.column("ZINSIDE", of: stack) == Array(value))

    let cold = try stack.coldContext()
    try cold.performAndWait {
      let photo = try photo(in: cold)
      #expect(photo.value(forKey: "outside") as? Data == value)
      cold.refresh(photo, mergeChanges: false)
      #expect(photo.value(forKey: "outside") as? Data == value)
      photo.setValue("other", forKey: "title")
      try cold.save()
      let count = try files.fileNames().count
      #expect(count == (isOutside ? 1 : 0), "another column's update keeps it")
      photo.setValue(Self.bytes(200_000, 2), forKey: "outside")
      try cold.save()
      #expect(try files.fileNames().count == 1)
      cold.refresh(photo, mergeChanges: false)
      #expect(photo.value(forKey: "outside") as? Data == Self.bytes(200_000, 2))
      photo.setValue(nil, forKey: "outside")
      try cold.save()
      #expect(try files.fileNames().isEmpty)
      photo.setValue(value, forKey: "outside")
      try cold.save()
      cold.delete(photo)
      try cold.save()
      #expect(try files.fileNames().isEmpty)
    }
  }

  @Test func failedSaveRemovesItsFiles() throws {
    let stack = try TestStack(model: Self.model())
    let files = ExternalStorage(storeURL: stack.storeURL)
    let context = try stack.coldContext()
    try context.performAndWait {
      let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
      photo.setValue(Self.bytes(200_000, 1), forKey: "outside")
      try context.save()
      let other = try Connection(path: stack.storeURL.path, access: .writing)
      try other.execute("UPDATE ZPHOTO SET Z_OPT = 9")
      other.close()
      photo.setValue(Self.bytes(300_000, 2), forKey: "outside")
      #expect(throws: NSError.self) { try context.save() }
      #expect(try files.fileNames().count == 1, "the new file is deleted, and the old one is kept")
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let photo = try photo(in: cold)
      #expect(photo.value(forKey: "outside") as? Data == Self.bytes(200_000, 1))
    }
  }

  /// As in Core Data's stores: a zero after the name, values without a prefix, and missing files.
  @Test func columnsOfOtherFormsAreRead() throws {
    let stack = try TestStack(model: Self.model())
    let files = ExternalStorage(storeURL: stack.storeURL)
    let file = try files.write(Data([9, 8, 7]))
    _ = try stack.coldContext()
    for (column, value) in [
      ([2] + Array(file.name.utf8) + [0], Data([9, 8, 7])),
      ([2] + Array(file.name.utf8), Data([9, 8, 7])),
      ([0x89, 0x50], Data([0x89, 0x50])), ([1], Data()), ([], Data()),
      ([2] + Array("../../../../../../../../../etc/passwd...".utf8.prefix(36)), nil),
      ([2] + Array(UUID().uuidString.utf8), nil),
    ] as [([UInt8], Data?)] {
      let connection = try Connection(path: stack.storeURL.path, access: .writing)
      _ = try connection.values(
        "INSERT OR REPLACE INTO ZPHOTO(Z_PK, Z_ENT, Z_OPT, ZOUTSIDE) VALUES(1, 1, 1, ?)",
        [.blob(column)])
      connection.close()
      let context = try stack.coldContext()
      try context.performAndWait {
        let found = try photo(in: context).value(forKey: "outside") as? Data
        if column.count == 37, value == nil, ExternalStorage.fileName(in: column) == nil {
          #expect(found == Data(column), "what isn't a UUID isn't a path")
        } else {
          #expect(found == value)
        }
      }
    }
  }

  @Test func memoryStoreKeepsExternalValues() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
      photo.setValue(Self.bytes(200_000, 1), forKey: "outside")
      try context.save()
      context.refresh(photo, mergeChanges: false)
      #expect(photo.value(forKey: "outside") as? Data == Self.bytes(200_000, 1))
    }
  }

  @Test(
    "Dictionaries, committed values, and those of the current event have decoded values",
    arguments: StoreKind.allCases)
  func dictionariesAndEarlierValuesAreDecoded(kind: StoreKind) throws {
    let model = Self.model()
    model.entitiesByName["Photo"]?.properties.append(
      SchemaModels.attribute("tags", .transformableAttributeType))
    let stack = try TestStack(kind, model: model)
    let context = try stack.coldContext()
    let values = ["large": Self.bytes(200_000, 1), "small": Self.bytes(3, 1)]
    try context.performAndWait {
      for (title, bytes) in values {
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        photo.setValuesForKeys(["title": title, "outside": bytes, "tags": ["x", "y"]])
      }
      try context.save()
      let request = NSFetchRequest<NSDictionary>(entityName: "Photo")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["title", "outside", "tags"]
      let dictionaries = try context.fetch(request)
      #expect(dictionaries.count == 2)
      for found in dictionaries {
        let title = found["title"] as? String ?? ""
        #expect(found["outside"] as? Data == values[title], "\(title)")
        #expect(found["tags"] as? [String] == ["x", "y"], "\(title)")
      }
      context.refreshAllObjects()
      for photo in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo")) {
        let title = photo.value(forKey: "title") as? String ?? ""
        photo.setValue(Data([9]), forKey: "outside")
        let committed = photo.committedValues(forKeys: ["outside"])["outside"]
        #expect(committed as? Data == values[title], "\(title)")
        let earlier = photo.changedValuesForCurrentEvent()["outside"]
        #expect(earlier as? Data == values[title], "\(title)")
      }
    }
    withExtendedLifetime(stack) {}
  }

  /// Two contexts of one coordinator, and the ID of a saved photo with a value in a file.
  private func sharedPhoto() throws -> (
    stack: SharedStack, mine: NSManagedObjectContext, other: NSManagedObjectContext,
    id: NSManagedObjectID
  ) {
    let stack = try SharedStack(.sqlite, Self.model())
    let (mine, other) = (stack.context(.overwrite), stack.context())
    let id = try other.performAndWait {
      let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: other)
      photo.setValue(Self.bytes(200_000, 1), forKey: "outside")
      try other.save()
      return photo.objectID
    }
    return (stack, mine, other, id)
  }

  /// The value in the store, and the number of files.
  private func stored(_ stack: SharedStack) throws -> (value: Data?, files: Int) {
    let context = try stack.foreignContext()
    let value = try context.performAndWait {
      try photo(in: context).value(forKey: "outside") as? Data
    }
    return try (value, ExternalStorage(storeURL: stack.storeURL).fileNames().count)
  }

  @Test(
    "Overwriting a row whose file was replaced writes the value that was read, or keeps the newest",
    arguments: [true, false])
  func overwrittenRowRefersToAFileThatExists(isRead: Bool) throws {
    let (stack, mine, other, id) = try sharedPhoto()
    try mine.performAndWait {
      let photo = try mine.existingObject(with: id)
      if isRead { _ = photo.value(forKey: "outside") }
      try other.performAndWait {
        other.object(with: id).setValue(Self.bytes(200_000, 2), forKey: "outside")
        try other.save()
      }
      photo.setValue("mine", forKey: "title")
      try mine.save()
      #expect(photo.value(forKey: "outside") as? Data == Self.bytes(200_000, isRead ? 1 : 2))
    }
    let (value, files) = try stored(stack)
    #expect(value == Self.bytes(200_000, isRead ? 1 : 2) && files == 1)
  }

  @Test(
    "A deleted row that is inserted again has the value that was read from its file, or nil",
    arguments: [true, false])
  func restoredRowHasTheValueOfItsRemovedFile(isRead: Bool) throws {
    let (stack, mine, other, id) = try sharedPhoto()
    try mine.performAndWait {
      let photo = try mine.existingObject(with: id)
      if isRead { _ = photo.value(forKey: "outside") }
      try other.performAndWait {
        other.delete(other.object(with: id))
        try other.save()
      }
      photo.setValue("mine", forKey: "title")
      try mine.save()
    }
    let (value, files) = try stored(stack)
    #expect(value == (isRead ? Self.bytes(200_000, 1) : nil) && files == (isRead ? 1 : 0))
  }

  @Test(
    "A conflict's snapshots have externally stored values, except those of removed files",
    arguments: [true, false])
  func conflictSnapshotsHaveExternalValues(isRead: Bool) throws {
    let (stack, mine, other, id) = try sharedPhoto()
    let foreign = try stack.foreignContext()
    try mine.performAndWait {
      mine.mergePolicy = NSMergePolicy.error
      let photo = try mine.existingObject(with: id)
      if isRead { _ = photo.value(forKey: "outside") }
      try other.performAndWait {
        other.object(with: id).setValue(Self.bytes(200_000, 2), forKey: "outside")
        try other.save()
      }
      let first = try #require(conflict(of: photo))
      let known = first.objectSnapshot?["outside"]
      #expect(isRead ? known as? Data == Self.bytes(200_000, 1) : known == nil)
      #expect(first.cachedSnapshot?["outside"] as? Data == Self.bytes(200_000, 2))
      mine.rollback()
      #expect(photo.value(forKey: "title") == nil)
      try foreign.performAndWait {
        try self.photo(in: foreign).setValue(Self.bytes(200_000, 3), forKey: "outside")
        try foreign.save()
      }
      let second = try #require(conflict(of: photo))
      #expect(second.objectSnapshot == nil && second.cachedSnapshot?["outside"] == nil)
      #expect(second.persistedSnapshot?["outside"] as? Data == Self.bytes(200_000, 3))
    }
  }

  /// Changes the title of a photo and saves; returns the conflict.
  private func conflict(of photo: NSManagedObject) -> NSMergeConflict? {
    photo.setValue("mine", forKey: "title")
    let error = #expect(throws: NSError.self) { try photo.managedObjectContext?.save() }
    return (error?.userInfo["conflictList"] as? [NSMergeConflict])?.first
  }

  @Test("Undo restores a value whose file a save has removed", arguments: [true, false])
  func undoRestoresTheValueOfARemovedFile(isDeleted: Bool) throws {
    let (stack, mine, _, id) = try sharedPhoto()
    try mine.performAndWait {
      mine.undoManager = UndoManager()
      let photo = try mine.existingObject(with: id)
      if isDeleted {
        mine.delete(photo)
      } else {
        photo.setValue(Self.bytes(200_000, 2), forKey: "outside")
      }
      try mine.save()
      mine.undo()
      #expect(photo.value(forKey: "outside") as? Data == Self.bytes(200_000, 1))
      try mine.save()
    }
    let (value, files) = try stored(stack)
    #expect(value == Self.bytes(200_000, 1) && files == 1)
  }

  @Test("Undoing the change of another property keeps the value and its file")
  func undoOfAnotherPropertyKeepsTheFile() throws {
    let (stack, mine, _, id) = try sharedPhoto()
    try mine.performAndWait {
      mine.undoManager = UndoManager()
      let photo = try mine.existingObject(with: id)
      photo.setValue("mine", forKey: "title")
      try mine.save()
      mine.undo()
      #expect(photo.value(forKey: "outside") as? Data == Self.bytes(200_000, 1))
      #expect(photo.changedValues().keys.sorted() == ["title"])
      try mine.save()
    }
    let (value, files) = try stored(stack)
    #expect(value == Self.bytes(200_000, 1) && files == 1)
  }
}
