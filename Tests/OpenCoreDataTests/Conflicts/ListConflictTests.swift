import OpenCoreData
import Testing

@Suite("Ordered relationships that two contexts have changed")
struct ListConflictTests {
  /// Saves the lists `l`, with the songs a, b, and c, and `m`, with x and y; changes them in two
  /// contexts, and saves the second one after the first.
  ///
  /// - Parameters:
  ///   - policy: The second context's; with the error policy, it refreshes `l` before its save.
  ///   - expected: The names of each list's songs in the store afterward.
  ///   - change: Receives the second context's `l`.
  ///   - changeElsewhere: Receives the first context's lists and songs.
  private func save(
    _ kind: StoreKind, _ policy: NSMergePolicyType, expecting expected: [String],
    _ change: (NSManagedObject) -> Void,
    _ changeElsewhere: ([NSManagedObject], [NSManagedObject]) -> Void
  ) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: policy)))
    try first.performAndWait {
      let lists = ["l", "m"].map { first.make("List", ["name": $0]) }
      let songs = ["a", "b", "c", "x", "y"].enumerated().map { index, name in
        first.make("Song", ["name": name, "list": lists[index / 3]])
      }
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: lists[0])
        #expect(twin.names("songs") == "abc")
        change(twin)
        second.processPendingChanges()
        changeElsewhere(lists, songs)
        try first.save()
        if policy == .errorMergePolicyType { second.refresh(twin, mergeChanges: true) }
        try second.save()
      }
    }
    // A file is read again: the row cache may differ from it.
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    let found = try third.performAndWait { try third.all("List").map { $0.names("songs") } }
    #expect(found == expected)
  }

  @Test(
    "An overwritten list without an inverse has what another context has removed from it",
    arguments: StoreKind.allCases)
  func overwrittenListWithoutInverseHasItsObjects(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.overwrite))
    try first.performAndWait {
      let country = first.make("Country", ["name": "old"])
      let sights = ["x", "y", "z"].map { first.make("Sight", ["name": $0]) }
      country.setValue(sights, forKey: "sights")
      try first.save()
      try second.performAndWait {
        let theirs = second.twin(of: country)
        #expect(theirs.names("sights") == "xyz")
        theirs.setValue([sights[1], sights[2]].map(second.twin), forKey: "sights")
        country.setValue([sights[0], sights[1]], forKey: "sights")
        try first.save()
        try second.save()
      }
    }
    // A file is read by another coordinator, too: the row cache may differ from it.
    var contexts = [stack.context()]
    if kind == .sqlite { contexts.append(try stack.foreignContext()) }
    for context in contexts {
      let found = try context.performAndWait {
        try context.all("Country").map { $0.names("sights") }
      }
      #expect(found == ["yz"])
    }
  }

  @Test(
    "An overwritten list without an inverse doesn't take back what its save adds to another",
    arguments: StoreKind.allCases)
  func overwrittenListLeavesAddedObjectsToOthers(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.overwrite))
    try first.performAndWait {
      let countries = ["c", "d"].map { first.make("Country", ["name": $0]) }
      let sights = ["w", "x", "y", "z"].map { first.make("Sight", ["name": $0]) }
      countries[0].setValue([sights[1], sights[2]], forKey: "sights")
      try first.save()
      try second.performAndWait {
        let theirs = countries.map(second.twin)
        #expect(theirs.map { $0.names("sights") } == ["xy", ""])
        theirs[1].setValue([second.twin(of: sights[3])], forKey: "sights")
        let order = [sights[1], sights[2], sights[0]]
        theirs[0].setValue(order.map(second.twin), forKey: "sights")
        countries[0].setValue([sights[3], sights[1], sights[2]], forKey: "sights")
        try first.save()
        try second.save()
      }
    }
    // A file is read by another coordinator, too: the row cache may differ from it.
    var contexts = [stack.context()]
    if kind == .sqlite { contexts.append(try stack.foreignContext()) }
    for context in contexts {
      let found = try context.performAndWait {
        try context.all("Country").map { $0.names("sights") }
      }
      #expect(found == ["xyw", "z"])
    }
  }

  @Test(
    "A saved order doesn't affect an object that another context has moved to another list",
    arguments: StoreKind.allCases,
    [
      NSMergePolicyType.errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .overwriteMergePolicyType,
    ])
  func movedObjectsKeepTheirPlaces(kind: StoreKind, policy: NSMergePolicyType) throws {
    try save(kind, policy, expecting: ["ca", "xyb"]) { list in
      let songs = (list.value(forKey: "songs") as? NSOrderedSet)?.array ?? []
      list.setValue(NSOrderedSet(array: songs.reversed()), forKey: "songs")
    } _: { lists, songs in
      songs[1].setValue(lists[1], forKey: "list")
    }
  }

  @Test(
    "A context that only removes an object from a list keeps the order that another has saved",
    arguments: StoreKind.allCases,
    [NSMergePolicyType.errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType])
  func savedOrderOfOthersIsKept(kind: StoreKind, policy: NSMergePolicyType) throws {
    try save(kind, policy, expecting: ["cb", "xy"]) { list in
      list.mutableOrderedSetValue(forKey: "songs").removeObject(at: 0)
    } _: { lists, songs in
      lists[0].setValue(NSOrderedSet(array: songs[..<3].reversed()), forKey: "songs")
    }
  }

  @Test(
    "An overwritten order is followed by what another context has added",
    arguments: StoreKind.allCases)
  func addedObjectsFollowAnOverwrittenOrder(kind: StoreKind) throws {
    try save(kind, .overwriteMergePolicyType, expecting: ["cbad", "xy"]) { list in
      let songs = (list.value(forKey: "songs") as? NSOrderedSet)?.array ?? []
      list.setValue(NSOrderedSet(array: songs.reversed()), forKey: "songs")
    } _: { lists, songs in
      _ = songs[0].managedObjectContext?.make("Song", ["name": "d", "list": lists[0]])
    }
  }

  @Test(
    "An overwritten list of a many-to-many relationship has no objects that no longer exist",
    arguments: StoreKind.allCases)
  func overwrittenListsHaveExistingObjects(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.overwrite))
    try first.performAndWait {
      let tags = ["a", "b", "c"].map { first.make("Tag", ["name": $0]) }
      let list = first.make("List", ["name": "l", "tags": NSOrderedSet(array: tags)])
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: list)
        let objects = (twin.value(forKey: "tags") as? NSOrderedSet)?.array ?? []
        twin.setValue(NSOrderedSet(array: objects.reversed()), forKey: "tags")
        first.delete(tags[1])
        let added = first.make("Tag", ["name": "d"])
        list.setValue(NSOrderedSet(array: [tags[0], tags[2], added]), forKey: "tags")
        try first.save()
        try second.save()
        #expect(!second.hasChanges && twin.names("tags") == "ca")
        second.refreshAllObjects()
        #expect(twin.names("tags") == "cad")
      }
    }
    // A file is read again: the row cache may differ from it.
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    let found = try third.performAndWait { try third.all("List").map { $0.names("tags") } }
    #expect(found == ["cad"])
  }

  @Test(
    "Removing an object doesn't remove it from the owner to which another context has moved it",
    arguments: StoreKind.allCases)
  func movedObjectsStayWithTheirOwners(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.mergeByPropertyObjectTrump))
    try first.performAndWait {
      let countries = ["c", "d"].map { first.make("Country", ["name": $0]) }
      let sight = first.make("Sight", ["name": "s"])
      countries[0].setValue([sight], forKey: "sights")
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: countries[0])
        #expect(twin.names("sights") == "s")
        twin.setValue(NSOrderedSet(), forKey: "sights")
        countries[0].setValue(NSOrderedSet(), forKey: "sights")
        countries[1].setValue([sight], forKey: "sights")
        try first.save()
        try second.save()
      }
    }
    // A file is read again: the row cache may differ from it.
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    let found = try third.performAndWait { try third.all("Country").map { $0.names("sights") } }
    #expect(found == ["", "s"])
  }

  @Test(
    "A stored object that takes the values of a new one with its unique value takes its place, too",
    arguments: StoreKind.allCases)
  func storedObjectsTakeThePlacesOfNewOnes(kind: StoreKind) throws {
    let model = try KinshipModel.make()
    model.entitiesByName["Song"]?.uniquenessConstraints = [["name"]]
    let stack = try SharedStack(kind, model)
    let context = stack.context(.mergeByPropertyObjectTrump)
    try context.performAndWait {
      let lists = ["l", "m"].map { context.make("List", ["name": $0]) }
      let stored = context.make("Song", ["name": "b", "list": lists[1]])
      try context.save()
      for name in ["a", "b", "c"] { _ = context.make("Song", ["name": name, "list": lists[0]]) }
      try context.save()
      #expect(lists.map { $0.names("songs") } == ["abc", ""])
      #expect(stored.one("list") === lists[0])
    }
    // A file is read again: the row cache may differ from it.
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    let found = try third.performAndWait { try third.all("List").map { $0.names("songs") } }
    #expect(found == ["abc", ""])
  }
}
