import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

/// An item that records the state changes that it's told of.
private final class NotedItem: NSManagedObject {
  private(set) var events: [NSSnapshotEventType] = []

  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    events.append(flags)
  }
}

@Suite("Version conflicts")
struct LockingConflictTests {
  /// Saves an item with a, b, and c of 0.
  private func item(in context: NSManagedObjectContext) throws -> NSManagedObject {
    try context.performAndWait {
      let item = context.make("Item", ["a": Int32(0), "b": Int32(0), "c": Int32(0)])
      try context.save()
      return item
    }
  }

  private func numbers(_ object: NSManagedObject) -> [Int32?] {
    ["a", "b", "c"].map { object.value(forKey: $0) as? Int32 }
  }

  /// The stored numbers of the only item.
  private func stored(_ stack: SharedStack) throws -> [Int32?] {
    let context = stack.kind == .sqlite ? try stack.foreignContext() : stack.context()
    return try context.performAndWait {
      try context.everyObject(of: "Item").first.map(numbers) ?? []
    }
  }

  private func conflicts(_ error: NSError?) -> [NSMergeConflict] {
    error?.userInfo["conflictList"] as? [NSMergeConflict] ?? []
  }

  /// Results controllers and interfaces work from this notification.
  @Test(
    "F3.31 values that a merge policy takes from the store are posted as refreshed",
    arguments: StoreKind.allCases, [true, false])
  func mergedValuesArePostedAsRefreshed(kind: StoreKind, objectTrumps: Bool) throws {
    NotedItem.registerClass(named: "NotedItem")
    let stack = try SharedStack(kind, SavingModels.items(className: "NotedItem"))
    let (first, second) = (stack.context(), stack.context())
    second.mergePolicy =
      objectTrumps
      ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.mergeByPropertyStoreTrump
    let mine = try item(in: first)
    try second.performAndWait {
      let theirs = second.twin(of: mine)
      #expect(numbers(theirs) == [0, 0, 0])
      try first.performAndWait {
        mine.setValue(1, forKey: "a")
        try first.save()
      }
      theirs.setValue(2, forKey: "b")
      second.processPendingChanges()
      nonisolated(unsafe) var refreshed: Set<NSManagedObject> = []
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: second, queue: nil
      ) { note in
        nonisolated(unsafe) let found = note.userInfo?[NSRefreshedObjectsKey]
        refreshed.formUnion(found as? Set<NSManagedObject> ?? [])
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      try second.save()
      #expect(numbers(theirs) == [1, 2, 0] && refreshed == [theirs])
      #expect((theirs as? NotedItem)?.events == [.mergePolicy])
    }
    #expect(try stored(stack) == [1, 2, 0])
  }

  @Test(
    "S7.28, S11-1, S11-39, S-G01, S-G03 a newer cached row fails the save with 133020",
    arguments: StoreKind.allCases)
  func newerCachedRowFailsTheSaveAndWritesNothing(kind: StoreKind) throws {
    let stack = try SharedStack(kind, SavingModels.items())
    let (first, second) = (stack.context(), stack.context())
    let mine = try item(in: first)
    try second.performAndWait {
      let theirs = second.twin(of: mine)
      #expect(theirs.value(forKey: "a") as? Int32 == 0)
      try first.performAndWait {
        mine.setValue(1, forKey: "a")
        try first.save()
      }
      theirs.setValue(2, forKey: "b")
      var error: NSError?
      let cost = costs(of: second) { error = thrownError { try second.save() } }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(error?.localizedDescription.hasPrefix("1 row changed in the store") == true)
      #expect(cost.updates == 0 && cost.selects == 0 && cost.transactions == 0)
      let conflict = try #require(conflicts(error).first)
      #expect(conflicts(error).count == 1 && conflict.sourceObject === theirs)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.objectSnapshot?["a"] as? Int32 == 0)
      #expect(conflict.cachedSnapshot?["a"] as? Int32 == 1)
      #expect(conflict.persistedSnapshot == nil)
      #expect(second.hasChanges && theirs.isUpdated)
    }
    #expect(try stored(stack) == [1, 0, 0])
  }

  @Test(
    "S7.29, S11-2, S11-3, S11-4, S-G03 a newer stored row fails the UPDATE until a refresh",
    .ofOwnStores
  )
  func newerStoredRowFailsTheUpdateUntilARefresh() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let second = stack.context()
    let theirs = try item(in: second)
    let first = try stack.foreignContext()
    try first.performAndWait {
      try #require(try first.everyObject(of: "Item").first).setValue(1, forKey: "a")
      try first.save()
    }
    try second.performAndWait {
      theirs.setValue(2, forKey: "b")
      var error: NSError?
      let cost = costs(of: second) { error = thrownError { try second.save() } }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(cost.updates == 1 && cost.selects == 1 && cost.transactions == 0)
      let conflict = try #require(conflicts(error).first)
      #expect(conflict.objectSnapshot == nil)
      #expect(conflict.cachedSnapshot?["a"] as? Int32 == 0)
      #expect(conflict.persistedSnapshot?["a"] as? Int32 == 1)
      #expect(conflict.newVersionNumber == 2 && conflict.oldVersionNumber == 1)
      #expect(thrownError { try second.save() }?.code == NSManagedObjectMergeError)
      let refresh = costs(of: second) { second.refresh(theirs, mergeChanges: true) }
      #expect(refresh.selects == 0)
      #expect(numbers(theirs) == [1, 2, 0])
      try second.save()
    }
    #expect(try stored(stack) == [1, 2, 0])
  }

  /// The stored values if only this context set a, only the other set b, and both set c.
  static var outcomes: [(NSMergePolicy, [Int32])] {
    [
      (.rollback, [0, 1, 1]), (.overwrite, [2, 0, 2]), (.mergeByPropertyStoreTrump, [2, 1, 1]),
      (.mergeByPropertyObjectTrump, [2, 1, 2]),
    ]
  }

  @Test(
    "S11-5, S11-6, S11-7, S11-8, S11-41, S7.30, S-G02 each policy resolves by property",
    arguments: [("row cache", StoreKind.sqlite), ("store", .sqlite), ("row cache", .memory)],
    0..<4)
  func policyResolvesConflictsByProperty(location: (String, StoreKind), number: Int) throws {
    let (policy, expected) = LockingConflictTests.outcomes[number]
    let stack = try SharedStack(location.1, SavingModels.items())
    let second = stack.context(policy)
    let theirs = try item(in: second)
    let first = location.0 == "store" ? try stack.foreignContext() : stack.context()
    try first.performAndWait {
      let mine = try #require(try first.everyObject(of: "Item").first)
      mine.setValue(1, forKey: "b")
      mine.setValue(1, forKey: "c")
      try first.save()
    }
    try second.performAndWait {
      theirs.setValue(2, forKey: "a")
      theirs.setValue(2, forKey: "c")
      try second.save()
      #expect(!second.hasChanges && numbers(theirs) == expected)
    }
    #expect(try stored(stack) == expected)
  }

  @Test(
    "S11-9, S11-10 rollback keeps the other objects' changes; overwrite writes every column",
    .ofOwnStores,
    arguments: [true, false])
  func rollbackKeepsOtherObjectsChangesAndOverwriteWritesEveryColumn(overwrites: Bool) throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let (first, second) = (stack.context(), stack.context(overwrites ? .overwrite : .rollback))
    let (mine, other) = (try item(in: first), try item(in: first))
    try second.performAndWait {
      let (conflicting, clean) = (second.twin(of: mine), second.twin(of: other))
      conflicting.setValue(5, forKey: "a")
      clean.setValue(6, forKey: "a")
      try first.performAndWait {
        mine.setValue(1, forKey: "b")
        try first.save()
      }
      let before = stack.events.events.count
      try second.save()
      let updates = stack.events.events.dropFirst(before).compactMap(\.statement?.sql)
        .filter { $0.hasPrefix("UPDATE ZITEM") }
      let all =
        "UPDATE ZITEM SET ZA = ?, ZB = ?, ZC = ?, ZNAME = ?, Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?"
      let one = "UPDATE ZITEM SET ZA = ?, Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?"
      #expect(updates == (overwrites ? [all, one] : [one]))
      #expect(numbers(conflicting) == (overwrites ? [5, 0, 0] : [0, 1, 0]))
      #expect(numbers(clean) == [6, 0, 0])
    }
  }

  @Test(
    "S7.31 an equal value conflicts with the error policy, but isn't a change in a merge",
    arguments: StoreKind.allCases)
  func equalValueConflictsOnlyWithTheErrorPolicy(kind: StoreKind) throws {
    let stack = try SharedStack(kind, SavingModels.items())
    let (first, second) = (stack.context(), stack.context())
    let mine = try item(in: first)
    try second.performAndWait {
      let theirs = second.twin(of: mine)
      theirs.setValue(0, forKey: "b")
      try first.performAndWait {
        mine.setValue(1, forKey: "b")
        try first.save()
      }
      #expect(thrownError { try second.save() }?.code == NSManagedObjectMergeError)
      second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try second.save()
      #expect(numbers(theirs) == [0, 1, 0])
    }
    #expect(try stored(stack) == [0, 1, 0])
  }

  @Test(
    "S7.32 a locked object that changed elsewhere fails the save, in the row cache or in the store",
    arguments: [(StoreKind.sqlite, true), (.sqlite, false), (.memory, false)])
  func lockedObjectChangedElsewhereFailsTheSave(location: (StoreKind, Bool)) throws {
    for isLocked in [true, false] {
      let stack = try SharedStack(location.0, SavingModels.items())
      let second = stack.context()
      let (watched, written) = (try item(in: second), try item(in: second))
      let first = location.1 ? try stack.foreignContext() : stack.context()
      try second.performAndWait {
        if isLocked { second.detectConflicts(for: watched) }
        try first.performAndWait {
          try #require(try first.everyObject(of: "Item").first).setValue(1, forKey: "a")
          try first.save()
        }
        written.setValue(3, forKey: "a")
        let error = thrownError { try second.save() }
        #expect(error?.code == (isLocked ? NSManagedObjectMergeError : nil))
        #expect(conflicts(error).map(\.sourceObject) == (isLocked ? [watched] : []))
        #expect(second.hasChanges == isLocked)
      }
    }
  }

  @Test(
    "A locked object that was refreshed is compared as it was read since",
    arguments: StoreKind.allCases)
  func lockedObjectIsComparedAsItWasReadLast(kind: StoreKind) throws {
    let stack = try SharedStack(kind, SavingModels.items())
    let (first, second) = (stack.context(), stack.context())
    let (watched, written) = (try item(in: second), try item(in: second))
    func change() throws {
      try first.performAndWait {
        let theirs = first.twin(of: watched)
        theirs.setValue((numbers(theirs)[0] ?? 0) + 1, forKey: "a")
        try first.save()
      }
    }
    try second.performAndWait {
      second.detectConflicts(for: watched)
      try change()
      second.refresh(watched, mergeChanges: true)
      written.setValue(3, forKey: "a")
      try second.save()
      second.detectConflicts(for: watched)
      second.refresh(watched, mergeChanges: true)
      #expect(numbers(watched)[0] == 1)
      try change()
      written.setValue(4, forKey: "a")
      #expect(thrownError { try second.save() }?.code == NSManagedObjectMergeError)
    }
  }

  @Test("S7.33, S11-14, S-G04 one context never conflicts; k saves make version k", .ofOwnStores)
  func eachSaveIncrementsTheVersionWithoutConflicts() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let context = stack.context()
    let item = try item(in: context)
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    try context.performAndWait {
      for version in 2...5 {
        item.setValue(version, forKey: "a")
        try context.save()
        #expect(
          try connection.values("SELECT Z_OPT FROM ZITEM") == [[.integer(Int64(version))]])
      }
      try context.save()
      #expect(try connection.values("SELECT Z_OPT FROM ZITEM") == [[.integer(5)]])
    }
  }

  @Test(
    "S-B09 a row deleted in two contexts isn't a conflict",
    arguments: StoreKind.allCases, [true, false])
  func rowDeletedInTwoContextsIsNotAConflict(kind: StoreKind, isForeign: Bool) throws {
    guard kind == .sqlite || !isForeign else { return }
    let stack = try SharedStack(kind, SavingModels.items())
    let second = stack.context()
    let theirs = try item(in: second)
    let first = isForeign ? try stack.foreignContext() : stack.context()
    try first.performAndWait {
      for item in try first.everyObject(of: "Item") { first.delete(item) }
      try first.save()
    }
    try second.performAndWait {
      second.delete(theirs)
      try second.save()
      #expect(!second.hasChanges)
    }
    #expect(try stored(stack) == [])
  }

  @Test(
    "S-G05 a change of a deleted row is an error; it's inserted if the object wins, else discarded",
    arguments: StoreKind.allCases)
  func changeOfADeletedRowIsInsertedOrDiscardedByPolicy(kind: StoreKind) throws {
    let policies: [NSMergePolicy] = [
      .overwrite, .mergeByPropertyObjectTrump, .rollback, .mergeByPropertyStoreTrump,
    ]
    for policy in policies {
      let stack = try SharedStack(kind, SavingModels.items())
      let (first, second) = (stack.context(), stack.context())
      let mine = try item(in: first)
      try second.performAndWait {
        let theirs = second.twin(of: mine)
        theirs.setValue(4, forKey: "a")
        let id = theirs.objectID
        try first.performAndWait {
          first.delete(mine)
          try first.save()
        }
        let error = thrownError { try second.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(conflicts(error).map(\.newVersionNumber) == [0])
        #expect(conflicts(error).first?.persistedSnapshot == nil)
        second.mergePolicy = policy
        try second.save()
        let wins = policy === policies[0] || policy === policies[1]
        #expect(theirs.isDeleted == !wins && !second.hasChanges)
        let found = try first.performAndWait { try first.everyObject(of: "Item") }
        #expect(found.map(\.objectID) == (wins ? [id] : []))
        #expect(try stored(stack) == (wins ? [4, 0, 0] : []))
      }
    }
  }

  @Test(
    "Deleting a row that changed succeeds only if the object wins",
    arguments: StoreKind.allCases)
  func deletionOfAChangedRowSucceedsOnlyIfTheObjectWins(kind: StoreKind) throws {
    let policies: [(NSMergePolicy, Bool)] = [
      (.overwrite, true), (.mergeByPropertyObjectTrump, true), (.rollback, false),
      (.mergeByPropertyStoreTrump, false),
    ]
    for (policy, deletes) in policies {
      let stack = try SharedStack(kind, SavingModels.items())
      let (first, second) = (stack.context(), stack.context())
      let mine = try item(in: first)
      try second.performAndWait {
        let theirs = second.twin(of: mine)
        second.delete(theirs)
        second.processPendingChanges()
        try first.performAndWait {
          mine.setValue(4, forKey: "a")
          try first.save()
        }
        #expect(thrownError { try second.save() }?.code == NSManagedObjectMergeError)
        second.mergePolicy = policy
        try second.save()
        #expect(theirs.isDeleted == false && !second.hasChanges)
        if !deletes { #expect(numbers(theirs) == [4, 0, 0]) }
        #expect(try stored(stack) == (deletes ? [] : [4, 0, 0]))
      }
    }
  }

  @Test(
    "S11-40 with object trump for the server's data and store trump on screen, the server wins")
  func serverWinsWithObjectTrumpForItsDataAndStoreTrumpOnScreen() throws {
    for syncFirst in [true, false] {
      let stack = try SharedStack(.sqlite, SavingModels.items())
      let sync = stack.context(.mergeByPropertyObjectTrump)
      let view = stack.context(.mergeByPropertyStoreTrump)
      let server = try item(in: sync)
      try view.performAndWait {
        let shown = view.twin(of: server)
        shown.setValue(1, forKey: "a")
        sync.performAndWait { server.setValue(2, forKey: "a") }
        if syncFirst {
          try sync.performAndWait { try sync.save() }
          try view.save()
        } else {
          try view.save()
          try sync.performAndWait { try sync.save() }
        }
      }
      #expect(try stored(stack).first == 2)
    }
  }

  /// Sets the greatest of the values in conflict, whatever the merge results in.
  private final class NewestWins: NSMergePolicy {
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      let newest = list.map { conflict in
        [
          conflict.sourceObject.value(forKey: "a"), conflict.objectSnapshot?["a"],
          conflict.cachedSnapshot?["a"], conflict.persistedSnapshot?["a"],
        ].compactMap { $0 as? Int32 }.max()
      }
      try super.resolve(optimisticLockingConflicts: list)
      for (conflict, value) in zip(list, newest) {
        conflict.sourceObject.setValue(value, forKey: "a")
      }
    }
  }

  @Test(
    "S11-11, S11-12 a custom policy resolves conflicts",
    arguments: StoreKind.allCases, [(Int32(10), Int32(20)), (30, 30)])
  func customPolicyResolvesConflicts(kind: StoreKind, value: (set: Int32, expected: Int32)) throws {
    let stack = try SharedStack(kind, SavingModels.items())
    let first = stack.context()
    let second = stack.context(NewestWins(merge: .mergeByPropertyStoreTrumpMergePolicyType))
    let mine = try item(in: first)
    try second.performAndWait {
      let theirs = second.twin(of: mine)
      theirs.setValue(value.set, forKey: "a")
      try first.performAndWait {
        mine.setValue(20, forKey: "a")
        try first.save()
      }
      try second.save()
    }
    #expect(try stored(stack).first == value.expected)
  }

  /// Resolves nothing, without an error.
  private final class Careless: NSMergePolicy {
    nonisolated(unsafe) static var calls = 0

    override func resolve(mergeConflicts list: [Any]) throws { Careless.calls += 1 }
  }

  @Test("A policy that resolves nothing ends with an error, not an endless loop")
  func policyThatResolvesNothingEndsWithAnError() throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let first = stack.context()
    let second = stack.context(Careless(merge: .rollbackMergePolicyType))
    let mine = try item(in: first)
    try second.performAndWait {
      let theirs = second.twin(of: mine)
      theirs.setValue(1, forKey: "a")
      try first.performAndWait {
        mine.setValue(2, forKey: "a")
        try first.save()
      }
      #expect(thrownError { try second.save() }?.code == NSManagedObjectMergeError)
      #expect(Careless.calls == 99 && second.hasChanges)
    }
  }

  @Test(
    "A to-one resolved to the store's value keeps both sides consistent",
    arguments: [
      NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
    ])
  func toOneResolvedToTheStoresValueKeepsBothSidesConsistent(type: NSMergePolicyType) throws {
    let stack = try SharedStack(.sqlite, TestModels.company())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let homes = ["A", "B", "C"].map { first.make("Department", ["name": $0]) }
      let mine = first.make("Employee", ["name": "E", "department": homes[0]])
      try first.save()
      try second.performAndWait {
        let theirs = second.twin(of: mine)
        let twins = homes.map(second.twin)
        #expect((twins[2].value(forKey: "employees") as? Set<NSManagedObject>)?.isEmpty == true)
        #expect(twins.map { $0.set("employees") } == [[theirs], [], []])
        theirs.setValue(twins[2], forKey: "department")
        mine.setValue(homes[1], forKey: "department")
        try first.save()
        try second.save()
        #expect(theirs.value(forKey: "department") as? NSManagedObject === twins[1])
        #expect((twins[2].value(forKey: "employees") as? Set<NSManagedObject>)?.isEmpty == true)
        #expect(twins.map { $0.set("employees") } == [[], [theirs], []])
      }
    }
  }
}
