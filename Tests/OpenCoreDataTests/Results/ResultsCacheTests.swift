import FailingFiles
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("The cache files of fetched results controllers")
struct ResultsCacheTests {
  private func controller(
    _ context: NSManagedObjectContext, _ name: String, predicate: NSPredicate? = nil,
    sections: String? = nil
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    let keys: [String] = [sections, "number"].compactMap { $0 }
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    request.fetchBatchSize = 2
    request.predicate = predicate
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
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

  @Test(
    "A cache is complete after a short write",
    .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"))
  func shortWriteKeepsTheCache() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    try FileManager.default.createDirectory(
      at: FetchedResultsCache.folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let (result, report) = FailingFiles.run(
      below: FetchedResultsCache.folder, failure: .init(.shortWrite, at: 1)
    ) { try fetch(bed, name).selects }
    #expect(try result.get() == 2)
    #expect(report.failures == 1)
    #expect(try fetch(bed, name).selects == 1)
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

  @Test("Results that unsaved changes of a context or its parent affect aren't cached")
  func unsavedResultsAreNotCached() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(2)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    let parent = bed.context()
    parent.performAndWait {
      let person = parent.object(with: ids[0])
      (person.value(forKey: "team") as? NSManagedObject)?.label = "unsaved"
    }
    #expect(try sections(parent, name) == ["unsaved"])
    #expect(try sections(bed.child(of: parent), name) == ["unsaved"])
    #expect(try sections(bed.context(), name) == ["t"])
  }

  /// Fetches in a context, and returns the names of the sections: those of teams.
  private func sections(_ context: NSManagedObjectContext, _ name: String) throws -> [String]? {
    try context.performAndWait {
      let controller = controller(context, name, sections: "team.name")
      try controller.performFetch()
      return controller.sections?.map(\.name)
    }
  }

  /// A context with a controller that follows it until the end of `body`, with the people in order.
  private func follow(
    _ bed: ContextBed, _ name: String, sections: String? = nil,
    _ body: (NSManagedObjectContext, [NSManagedObject]) throws -> Void
  ) throws {
    let context = bed.context()
    try context.performAndWait {
      let controller = controller(context, name, sections: sections)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      try body(context, controller.fetchedObjects ?? [])
      withExtendedLifetime((controller, listener)) {}
    }
  }

  @Test(
    "A cache is found with other instances of the objects in the predicate",
    arguments: [false, true])
  func cacheOfAPredicateWithObjectsIsFound(isSet: Bool) throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    func selects() throws -> Int {
      let context = bed.context()
      return try context.performAndWait {
        let people = try ids.map { try context.existingObject(with: $0) }
        let team = people[0].value(forKey: "team")
        let predicate =
          isSet
          ? NSPredicate(format: "SELF IN %@", Set(people)) : NSPredicate(format: "team == %@", team)
        let before = context.counters.selects
        let controller = controller(context, name, predicate: predicate)
        try controller.performFetch()
        let selects = context.counters.selects - before
        #expect(controller.fetchedObjects == people)
        return selects
      }
    }
    // One for each table, and one of IDs without a cache.
    let tables = isSet ? 1 : 2
    #expect(try selects() == tables + 1)
    #expect(try selects() == tables)
  }

  @Test("A cache isn't used after the result of FETCH in the predicate has changed")
  func cacheDependsOnFetchesInThePredicate() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    /// The names of the people with a number up to that of the gadgets, and whether the file of the
    /// cache was kept.
    func found() throws -> (names: [String?], isKept: Bool) {
      let file = FetchedResultsCache.file(name)
      let before = try? Data(contentsOf: file)
      let context = bed.context()
      return try context.performAndWait {
        let gadgets = NSFetchRequest<NSManagedObject>(entityName: "Gadget")
        let predicate = NSPredicate(format: "number <= FETCH(%@, %@, YES)", gadgets, context)
        let controller = controller(context, name, predicate: predicate)
        try controller.performFetch()
        let names = (controller.fetchedObjects ?? []).map(\.label)
        let after = try? Data(contentsOf: file)
        return (names, before == after)
      }
    }
    for count in 0...2 {
      let first = try found()
      let names: [String?] = ["p1", "p2", "p3"]
      #expect(first.names == Array(names.prefix(count)) && !first.isKept, "\(count)")
      let second = try found()
      #expect(second.names == first.names && second.isKept, "\(count)")
      let context = bed.context()
      try context.performAndWait {
        _ = context.make("Gadget")
        try context.save()
      }
    }
  }

  @Test("With a delegate, the context's saves update the cache")
  func savesUpdateTheCache() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(4)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    try follow(bed, name) { context, people in
      _ = context.make("Person", ["name": "new", "number": Int64(0)])
      people[0].number = 9
      context.delete(people[3])
      try context.save()
      people[1].label = "q"
      context.delete(people[2])
      try context.save()
    }
    let found = try fetch(bed, name)
    #expect(found.names == ["new", "q", "p1"] && found.selects == 1)
  }

  @Test("A save doesn't update the cache if rows have changed otherwise")
  func cacheIsNotUpdatedAfterOtherChanges() throws {
    let bed = try ContextBed(.sqlite)
    let ids = try bed.addPeople(3)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    try follow(bed, name) { context, people in
      // As many rows as before, and a new highest key that isn't that of the last one.
      let other = bed.context()
      try other.performAndWait {
        _ = other.make("Person", ["name": "new", "number": Int64(0)])
        other.delete(other.object(with: ids[1]))
        try other.save()
      }
      people[0].label = "q"
      _ = context.make("Person", ["name": "last", "number": Int64(8)])
      try context.save()
    }
    let found = try fetch(bed, name)
    #expect(found.names == ["new", "q", "p3", "last"] && found.selects == 2)
  }

  @Test("A save that changes the names of sections in other objects doesn't update the cache")
  func cacheIsNotUpdatedAfterChangesOfOtherObjects() throws {
    let bed = try ContextBed(.sqlite)
    try bed.addPeople(2)
    let name = "ResultsCacheTests \(UUID().uuidString)"
    defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    try follow(bed, name, sections: "team.name") { context, people in
      (people[0].value(forKey: "team") as? NSManagedObject)?.label = "z"
      try context.save()
    }
    #expect(try sections(bed.context(), name) == ["z"])
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
