import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// A list whose class declares its songs.
final class DeclaringList: NSManagedObject {
  @Managed("songs") var songs: NSOrderedSet
  @Managed("tags") var tags: NSOrderedSet?
}

/// A list that records its changes.
private final class ReportingList: NSManagedObject {
  nonisolated(unsafe) static var changes: [String] = []

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    ReportingList.changes.append(key)
  }
}

@Suite("Ordered relationships")
struct OrderedRelationshipTests {
  /// A list with songs of these names, saved.
  private func list(
    _ names: String, in context: NSManagedObjectContext
  ) throws -> NSManagedObject {
    let list = context.make("List", ["name": "l"])
    for name in names { add(String(name), to: list, in: context) }
    try context.save()
    return list
  }

  private func add(_ name: String, to list: NSManagedObject, in context: NSManagedObjectContext) {
    list.mutableOrderedSetValue(forKey: "songs").add(context.make("Song", ["name": name]))
  }

  private func orderKeys(_ stack: GraphStack) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    return try connection.values(
      "SELECT ZNAME, Z_FOK_LIST FROM ZSONG WHERE ZLIST IS NOT NULL ORDER BY Z_FOK_LIST", [])
  }

  @Test(
    "S4.12 S-E19 an ordered relationship keeps its order, sorts a fetch, and has no duplicates",
    .ofOwnStores,
    arguments: StoreKind.allCases)
  func orderedRelationshipKeepsItsOrderAndSortsAFetch(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let writer = try stack.context()
    try writer.performAndWait {
      let list = try list("edcab", in: writer)
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      songs.add(songs.object(at: 0))
      #expect(songs.count == 5 && list.names("songs") == "edcab")
    }
    let context = try stack.context()
    try context.performAndWait {
      let list = try #require(try context.all("List").first)
      let cost = costs(of: context) { #expect(list.set("songs").count == 5) }
      #expect(cost.selects == stack.statements(1) && cost.hits == 1)
      #expect(list.names("songs") == "edcab")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
      for (ascending, names) in [(true, "edcab"), (false, "bacde")] {
        request.sortDescriptors = [NSSortDescriptor(key: "list", ascending: ascending)]
        let fetched = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        #expect(fetched.joined() == names)
      }
    }
    let prefetching = try stack.context()
    try prefetching.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "List")
      request.relationshipKeyPathsForPrefetching = ["songs"]
      let list = try #require(try prefetching.fetch(request).first)
      let cost = costs(of: prefetching) { #expect(list.names("songs") == "edcab") }
      #expect(cost.selects == 0)
    }
  }

  @Test(
    "Every mutation of the list is saved, and other contexts read the saved order",
    arguments: StoreKind.allCases)
  func everyMutationOfTheListIsSaved(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let context = try stack.context()
    try context.performAndWait {
      let list = try list("abcd", in: context)
      func saved(_ change: (NSMutableOrderedSet) throws -> Void) throws -> String {
        try change(list.mutableOrderedSetValue(forKey: "songs"))
        try context.save()
        let other = try stack.context()
        let stored = try other.performAndWait { try other.all("List").first?.names("songs") }
        #expect(stored == list.names("songs"))
        context.refresh(list, mergeChanges: false)
        return list.names("songs")
      }
      #expect(try saved { $0.exchangeObject(at: 0, withObjectAt: 3) } == "dbca")
      #expect(try saved { $0.moveObjects(at: [2, 3], to: 0) } == "cadb")
      #expect(try saved { $0.removeObject(at: 1) } == "cdb")
      #expect(try saved { $0.insert(context.make("Song", ["name": "x"]), at: 1) } == "cxdb")
      #expect(
        try saved { $0.replaceObject(at: 0, with: context.make("Song", ["name": "y"])) }
          == "yxdb")
      #expect(
        try saved { songs in
          songs.sort { first, second in
            let names = [first, second].map { ($0 as? NSManagedObject)?.value(forKey: "name") }
            return (names[0] as? String ?? "").compare(names[1] as? String ?? "")
          }
        } == "bdxy")
      #expect(
        try saved { songs in
          (songs.object(at: 2) as? NSManagedObject)?.setValue(nil, forKey: "list")
          context.make("Single", ["name": "z"]).setValue(list, forKey: "list")
        } == "bdyz")
      #expect(
        try saved { songs in
          list.setValue(songs.reversed, forKey: "songs")
          if let song = songs.object(at: 0) as? NSManagedObject { context.delete(song) }
        } == "ydb")
      let kept = try saved { $0.removeAllObjects() }
      #expect(kept.isEmpty && list.set("songs").isEmpty)
    }
  }

  @Test("A list that has its former order again isn't changed", arguments: StoreKind.allCases)
  func restoredOrderIsNotAChange(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: KinshipModel.make()).context()
    try context.performAndWait {
      let list = try list("abcd", in: context)
      let songs = list.mutableOrderedSetValue(forKey: "songs").array
      func isChanged(_ change: (NSMutableOrderedSet) -> Void) throws -> Bool {
        change(list.mutableOrderedSetValue(forKey: "songs"))
        defer { context.rollback() }
        let isChanged = list.changedValues()["songs"] != nil
        #expect(list.hasPersistentChangedValues == isChanged)
        context.processPendingChanges()
        #expect(list.names("songs").count == 4)
        return isChanged
      }
      for _ in 0..<2 {
        #expect(try isChanged { $0.exchangeObject(at: 0, withObjectAt: 2) })
        #expect(
          try !isChanged { songs in
            songs.exchangeObject(at: 0, withObjectAt: 2)
            songs.exchangeObject(at: 0, withObjectAt: 2)
          })
        #expect(
          try !isChanged { list in
            list.removeObject(at: 1)
            list.insert(songs[1], at: 1)
          })
        #expect(
          try !isChanged { list in
            list.remove(songs[3])
            list.add(songs[3])
          })
        #expect(
          try isChanged { list in
            list.removeObject(at: 1)
            list.insert(songs[1], at: 0)
          })
        #expect(
          try !isChanged { list in
            list.removeAllObjects()
            list.addObjects(from: songs)
          })
        #expect(
          try !isChanged { list in
            let song = context.make("Song", ["name": "x"])
            list.insert(song, at: 0)
            list.remove(song)
            context.delete(song)
          })
        context.refreshAllObjects()
      }
    }
  }

  @Test("Restoring an order is undone")
  func restoredOrderIsUndone() throws {
    let context = try GraphStack(.sqlite, model: KinshipModel.make()).context()
    try context.performAndWait {
      let list = try list("abc", in: context)
      context.undoManager = UndoManager()
      for _ in 0..<2 {
        list.mutableOrderedSetValue(forKey: "songs").exchangeObject(at: 0, withObjectAt: 2)
        context.processPendingChanges()
      }
      #expect(list.names("songs") == "abc" && list.changedValues().isEmpty)
      context.undo()
      #expect(list.names("songs") == "cba" && list.changedValues()["songs"] != nil)
      context.undo()
      #expect(list.names("songs") == "abc" && list.changedValues().isEmpty)
      context.redo()
      #expect(list.names("songs") == "cba")
      try context.save()
      context.refresh(list, mergeChanges: false)
      #expect(list.names("songs") == "cba")
    }
  }

  @Test(
    "A mutable ordered set keeps its contents when the object becomes a fault",
    arguments: StoreKind.allCases)
  func mutableOrderedSetIsValidUntilTheObjectBecomesAFault(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let context = try stack.context()
    try context.performAndWait {
      let list = try list("ab", in: context)
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        add("c", to: try #require(try other.all("List").first), in: other)
        try other.save()
      }
      context.refresh(list, mergeChanges: false)
      #expect(list.names("songs") == "abc" && songs.count == 2)
      let current = list.mutableOrderedSetValue(forKey: "songs")
      #expect(current !== songs && current.count == 3)
    }
  }

  @Test(
    "Order keys begin at 2048, grow by 1024, are halved between, and are renumbered if exhausted",
    .ofOwnStores)
  func orderKeysAreSpacedHalvedAndRenumbered() throws {
    let stack = try GraphStack(.sqlite, model: KinshipModel.make())
    let context = try stack.context()
    try context.performAndWait {
      let list = try list("abc", in: context)
      func row(_ name: String, _ key: Int64) -> [SQLiteValue] { [.text(name), .integer(key)] }
      #expect(try orderKeys(stack) == [row("a", 2048), row("b", 3072), row("c", 4096)])
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      songs.insert(context.make("Song", ["name": "x"]), at: 1)
      songs.insert(context.make("Song", ["name": "y"]), at: 0)
      add("z", to: list, in: context)
      let cost = try costs(of: context) { try context.save() }
      // Three songs are inserted, and the list's version increases; no other song is written.
      #expect(cost.inserts == 3 && cost.updates == 1 && cost.selects == 1)
      #expect(
        try orderKeys(stack) == [
          row("y", 1024), row("a", 2048), row("x", 2560), row("b", 3072), row("c", 4096),
          row("z", 5120),
        ])
      songs.moveObjects(at: [5], to: 0)
      let move = try costs(of: context) { try context.save() }
      #expect(move.updates == 2 && move.inserts == 0)
      #expect(try orderKeys(stack).first == row("z", 512))
      for number in 0..<12 {
        songs.insert(context.make("Song", ["name": "\(number)"]), at: 0)
        try context.save()
      }
      let numbers = try orderKeys(stack)
      #expect(numbers.count == 18 && Set(numbers.map(\.description)).count == 18)
      let names = numbers.compactMap { row -> String? in
        if case .text(let name) = row[0] { name } else { nil }
      }
      #expect(names.joined() == list.names("songs"))
    }
  }

  @Test(
    "New order keys ascend and change as few rows as possible",
    arguments: [
      ([nil, nil, nil], [2048, 3072, 4096]), ([2048, nil], [nil, 3072]),
      ([nil, 2048], [1024, nil]), ([2048, nil, 3072], [nil, 2560, nil]),
      ([nil, nil, nil, 8], [2, 4, 6, nil]), ([nil, 1], [2048, 3072]),
      ([5, nil, 6], [2048, 3072, 4096]), ([3072, 2048], [1024, nil]),
      ([4096, 2048, 3072], [1024, nil, nil]), ([], []),
      ([2048, .max, nil], [nil, 3072, 4096]),
    ] as [([Int64?], [Int64?])])
  func allocatorChangesAsFewOrderKeysAsPossible(present: [Int64?], changes: [Int64?]) {
    #expect(OrderKeyAllocator.changes(present) == changes)
  }

  @Test(
    "Ordered many-to-many relationships, and ones without inverse, keep their order",
    arguments: StoreKind.allCases)
  func orderedManyToManyAndOneWayRelationshipsKeepTheirOrder(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let writer = try stack.context()
    try writer.performAndWait {
      let tags = "abc".map { writer.make("Tag", ["name": "\($0)"]) }
      let lists = "xy".map { writer.make("List", ["name": "\($0)"]) }
      lists[0].setValue([tags[2], tags[0], tags[1]], forKey: "tags")
      tags[1].setValue(Set(lists), forKey: "lists")
      tags[2].mutableSetValue(forKey: "lists").add(lists[1])
      let people = "pq".map { writer.make("Person", ["name": "\($0)"]) }
      let countries = "mn".map { writer.make("Country", ["name": "\($0)"]) }
      people[0].setValue([countries[1], countries[0]], forKey: "visited")
      countries[1].mutableOrderedSetValue(forKey: "visitors").insert(people[1], at: 0)
      let sights = "stu".map { writer.make("Sight", ["name": "\($0)"]) }
      countries[0].setValue([sights[1], sights[2], sights[0]], forKey: "sights")
      try writer.save()
      countries[0].mutableOrderedSetValue(forKey: "sights").moveObjects(at: [2], to: 0)
      people[0].mutableOrderedSetValue(forKey: "visited").exchangeObject(at: 0, withObjectAt: 1)
      lists[1].mutableOrderedSetValue(forKey: "tags").exchangeObject(at: 0, withObjectAt: 1)
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let lists = try context.all("List")
      #expect(lists.map { $0.names("tags") } == ["cab", "cb"])
      let people = try context.all("Person")
      #expect(people.map { $0.names("visited") } == ["mn", "n"])
      let countries = try context.all("Country")
      #expect(countries.map { $0.names("visitors") } == ["p", "qp"])
      #expect(countries[0].names("sights") == "stu")
      countries[0].mutableOrderedSetValue(forKey: "sights").removeObject(at: 1)
      people[0].setValue([], forKey: "visited")
      try context.save()
      context.refreshAllObjects()
      #expect(countries[0].names("sights") == "su")
      #expect(countries.map { $0.names("visitors") } == ["", "q"])
    }
  }

  @Test("An ordered relationship is declared as NSOrderedSet")
  func declaredOrderedRelationshipIsAnNSOrderedSet() throws {
    DeclaringList.registerClass()
    let model = try KinshipModel.make()
    model.entitiesByName["List"]?.managedObjectClassName = "DeclaringList"
    let context = try GraphStack(.sqlite, model: model).context()
    try context.performAndWait {
      let list = try #require(context.make("List", ["name": "l"]) as? DeclaringList)
      let songs = "ba".map { context.make("Song", ["name": "\($0)"]) }
      list.songs = NSOrderedSet(array: songs)
      #expect(list.songs.array as? [NSManagedObject] == songs && list.tags?.count == 0)
      try context.save()
      context.refresh(list, mergeChanges: false)
      #expect(list.songs.count == 2 && list.names("songs") == "ba")
    }
  }

  @Test("didChangeValue is called for each change of a mutable ordered set")
  func changesOfAMutableOrderedSetAreReported() throws {
    ReportingList.registerClass()
    let model = try KinshipModel.make()
    model.entitiesByName["List"]?.managedObjectClassName = "ReportingList"
    let context = try GraphStack(.sqlite, model: model).context()
    context.performAndWait {
      let list = context.make("List", ["name": "l"])
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      songs.addObjects(from: "abc".map { context.make("Song", ["name": "\($0)"]) })
      ReportingList.changes = []
      songs.exchangeObject(at: 0, withObjectAt: 2)
      songs.removeAllObjects()
      #expect(ReportingList.changes == ["songs", "songs"])
    }
  }

  @Test("A child context's save passes the order to its parent", arguments: StoreKind.allCases)
  func childSavePassesTheOrderToItsParent(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let parent = try stack.context()
    let list = try parent.performAndWait { try self.list("abc", in: parent) }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let list = try #require(try child.all("List").first)
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      songs.exchangeObject(at: 0, withObjectAt: 2)
      songs.insert(child.make("Song", ["name": "x"]), at: 1)
      try child.save()
    }
    try parent.performAndWait {
      #expect(list.names("songs") == "cxba")
      try parent.save()
    }
    let cold = try stack.context()
    try cold.performAndWait {
      let stored = try #require(try cold.all("List").first)
      #expect(stored.names("songs") == "cxba")
    }
  }

  @Test(
    "A range is sorted, with options too, and an object that is present isn't inserted again",
    arguments: StoreKind.allCases)
  func rangesAreSortedAndPresentObjectsAreNotInserted(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let context = try stack.context()
    try context.performAndWait {
      let list = try list("abcd", in: context)
      func descending(_ first: Any, _ second: Any) -> ComparisonResult {
        let names = [first, second].map {
          ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? ""
        }
        return names[1].compare(names[0])
      }
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      songs.sortRange(
        NSRange(location: 1, length: 2), options: [], usingComparator: descending)
      #expect(list.names("songs") == "acbd")
      songs.sort(options: [], usingComparator: descending)
      #expect(list.names("songs") == "dcba")
      songs.insert([songs.object(at: 3)], at: IndexSet(integer: 0))
      #expect(list.names("songs") == "dcba")
      songs.removeObjects(in: [songs.object(at: 0), songs.object(at: 2)])
      #expect(list.names("songs") == "ca" && songs.count == 2)
      try context.save()
      context.refresh(list, mergeChanges: false)
      #expect(list.names("songs") == "ca")
    }
  }

  @Test(
    "The values of the current event and of the last save are in the order before the change",
    arguments: StoreKind.allCases)
  func earlierValuesAreInTheEarlierOrder(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let context = try stack.context()
    try context.performAndWait {
      let list = try list("abcd", in: context)
      func names(_ values: [String: Any]) -> String {
        let objects = (values["songs"] as? NSOrderedSet)?.array ?? []
        return objects.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-" }
          .joined()
      }
      func committed() -> String { names(list.committedValues(forKeys: ["songs"])) }
      func beforeEvent() -> String { names(list.changedValuesForCurrentEvent()) }
      #expect(committed() == "abcd")
      let songs = list.mutableOrderedSetValue(forKey: "songs")
      songs.exchangeObject(at: 0, withObjectAt: 3)
      #expect(list.names("songs") == "dbca" && beforeEvent() == "abcd" && committed() == "abcd")
      songs.removeObject(at: 1)
      add("x", to: list, in: context)
      #expect(list.names("songs") == "dcax" && beforeEvent() == "abcd" && committed() == "abcd")
      context.processPendingChanges()
      songs.removeObject(at: 0)
      #expect(list.names("songs") == "cax" && beforeEvent() == "dcax" && committed() == "abcd")
      try context.save()
      #expect(committed() == "cax")
      list.setValue(nil, forKey: "songs")
      #expect(beforeEvent() == "cax" && committed() == "cax" && songs.count == 0)
    }
  }

  @Test(
    "An object is saved as the last one of a list that has discarded the addition",
    arguments: StoreKind.allCases)
  func discardedAdditionsAreLastInOrder(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let context = try stack.context()
    try context.performAndWait {
      let list = try list("ab", in: context)
      #expect(list.names("songs") == "ab")
      for name in ["x", "y"] { _ = context.make("Song", ["name": name, "list": list]) }
      context.refresh(list, mergeChanges: false)
      try context.save()
      #expect(list.names("songs") == "abxy")
    }
    let cold = try stack.context()
    try cold.performAndWait {
      let lists = try cold.all("List")
      #expect(lists.map { $0.names("songs") } == ["abxy"])
    }
  }
}
