import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("The cache files of fetched results controllers")
struct ResultsCacheTests {
  private func controller(
    _ context: NSManagedObjectContext, _ name: String, predicate: NSPredicate? = nil
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    request.fetchBatchSize = 2
    request.predicate = predicate
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
      cacheName: name)
  }

  /// Fetches in a new context, and returns the names of the people and the number of SELECTs that
  /// the controller took.
  private func fetch(
    _ bed: ContextBed, _ name: String, predicate: NSPredicate? = nil, isPinned: Bool = false
  ) throws -> (names: [String?], selects: Int) {
    let context = bed.context()
    return try context.performAndWait {
      if isPinned { try context.setQueryGenerationFrom(.current) }
      let controller = controller(context, name, predicate: predicate)
      try controller.performFetch()
      let selects = context.counters.selects
      return ((controller.fetchedObjects ?? []).map(\.label), selects)
    }
  }

  @Test("A fetch succeeds if its cache can't be written")
  func unwritableCacheIsIgnored() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    // A folder can be neither read nor replaced as a file.
    let folder = FetchedResultsCache.file(name)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for _ in 0..<2 {
      let found = try fetch(bed, name)
      #expect(found.names == ["p1", "p2", "p3"] && found.selects == 2)
    }
    #expect(try folder.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true)
  }

  /// The controller takes a SELECT of the signature, and without a valid cache one of the IDs.
  @Test(
    "A fetch succeeds if its cache is corrupt",
    arguments: [
      "", "{", "[]", "keys", "entities", "starts", "fewer entities", "another entity", "signature",
    ])
  func corruptCacheIsIgnored(_ damage: String) throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    #expect(try fetch(bed, name).selects == 2)
    let cached = try fetch(bed, name)
    #expect(cached.names == ["p1", "p2", "p3"] && cached.selects == 1)
    let file = FetchedResultsCache.file(name)
    let written = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    var content = try #require(written as? [String: Any])
    #expect((content["keys"] as? [Int])?.count == 3)
    switch damage {
    case "keys": content["keys"] = [1, -2, 3]
    case "entities": content["entities"] = [99, 99, 99]
    case "starts": content["starts"] = [0, 7]
    case "fewer entities": content["entities"] = [1]
    case "another entity": content["entities"] = [1, 1, 1]
    case "signature": content["signature"] = [[1]]
    default: content = [:]
    }
    let bytes =
      content.isEmpty ? Data(damage.utf8) : try JSONSerialization.data(withJSONObject: content)
    try bytes.write(to: file)
    let found = try fetch(bed, name)
    #expect(found.names == ["p1", "p2", "p3"] && found.selects == 2)
    // The fetch has replaced the file.
    #expect(try fetch(bed, name).selects == 1)
  }

  @Test("The cache of a context that's pinned to a query generation depends on its rows")
  func cacheOfAPinnedContextDependsOnItsRows() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(2)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    #expect(try fetch(bed, name, isPinned: true).names.count == 2)
    #expect(try fetch(bed, name, isPinned: true).selects == 1)
    #expect(try fetch(bed, name).selects == 1, "the rows are the same")
    try bed.addPeople(3)
    #expect(try fetch(bed, name, isPinned: true).names.count == 5)
    #expect(try fetch(bed, name, isPinned: true).selects == 1)
  }

  @Test("A program's caches are in a folder of its own, whatever their names")
  func cachesAreInTheFolderOfTheProgram() {
    let folder = FetchedResultsCache.folder
    let program = Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent
    #expect(folder.lastPathComponent.removingPercentEncoding == program)
    let names = ["a", "A", "a/b", "a%2Fb", "../a", "..", ".", "", "a.json", "ä b"]
    let files = names.map { FetchedResultsCache.file($0) }
    for (name, file) in zip(names, files) {
      let parent = file.standardizedFileURL.deletingLastPathComponent()
      #expect(parent.path == folder.standardizedFileURL.path, "\(name)")
    }
    #expect(Set(files.map(\.lastPathComponent)).count == names.count)
  }

  @Test("A cache file next to the programs' folders isn't read or removed")
  func cachesOutsideOfTheProgramsFolderAreNotRead() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    _ = try fetch(bed, name)
    let file = FetchedResultsCache.file(name)
    let outside = FetchedResultsCache.folder.deletingLastPathComponent()
      .appendingPathComponent(file.lastPathComponent)
    try FileManager.default.moveItem(at: file, to: outside)
    defer { try? FileManager.default.removeItem(at: outside) }
    // The file belongs to another request, which is an error if it's read.
    let found = try fetch(bed, name, predicate: NSPredicate(format: "number > 1"))
    #expect(found.names == ["p2", "p3"] && found.selects == 2)
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(FileManager.default.fileExists(atPath: outside.path))
  }

  @Test("The cache of another store is replaced; one of another request is an error")
  func cacheOfAnotherStoreIsReplaced() throws {
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    for count in [3, 2] {
      let bed = try ContextBed(.sqlite)
      try bed.addPeople(count)
      #expect(try fetch(bed, name).selects == 2)
      #expect(try fetch(bed, name).selects == 1)
      let error = thrownError {
        _ = try fetch(bed, name, predicate: NSPredicate(format: "number > 1"))
      }
      #expect(error?.localizedDescription.contains("belongs to another request") == true)
    }
  }
}
