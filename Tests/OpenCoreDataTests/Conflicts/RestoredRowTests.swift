import OpenCoreData
import Testing

@Suite("Rows that the merge policy restores")
struct RestoredRowTests {
  @Test(
    "A restored object is a destination of the object that it refers to",
    arguments: StoreKind.allCases)
  func restoredObjectsAreDestinations(kind: StoreKind) throws {
    let stack = try SharedStack(kind, TestModels.company())
    let (first, second, third) = (stack.context(), stack.context(.overwrite), stack.context())
    let employee = try first.performAndWait {
      let department = first.make("Department", ["name": "D"])
      let employee = first.make("Employee", ["name": "old", "department": department])
      try first.save()
      return employee
    }
    /// The names of the department's employees, which are in the row cache afterward.
    func names() throws -> [String?] {
      try third.performAndWait {
        third.refreshAllObjects()
        let departments = try third.everyObject(of: "Department")
        let employees = departments.first?.value(forKey: "employees") as? Set<NSManagedObject>
        return (employees ?? []).map { $0.value(forKey: "name") as? String }
      }
    }
    try second.performAndWait {
      second.twin(of: employee).setValue("new", forKey: "name")
      try first.performAndWait {
        first.delete(employee)
        try first.save()
      }
    }
    #expect(try names() == [])
    try second.performAndWait { try second.save() }
    #expect(try names() == ["new"])
  }

  @Test(
    "A restored object is the last one in the ordered relationship of the object it refers to",
    arguments: StoreKind.allCases)
  func restoredObjectsAreLastInOrder(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second, third) = (stack.context(), stack.context(.overwrite), stack.context())
    let songs = try first.performAndWait {
      let list = first.make("List", ["name": "l"])
      let songs = ["a", "b", "c"].map { first.make("Song", ["name": $0, "list": list]) }
      try first.save()
      return songs
    }
    /// The names of the list's songs, which are in the row cache afterward.
    func names(_ context: NSManagedObjectContext) throws -> [String] {
      try context.performAndWait {
        context.refreshAllObjects()
        return try context.everyObject(of: "List").map { $0.names("songs") }
      }
    }
    #expect(try names(third) == ["abc"])
    try second.performAndWait {
      second.twin(of: songs[1]).setValue("B", forKey: "name")
      try first.performAndWait {
        first.delete(songs[1])
        try first.save()
      }
      try second.save()
    }
    #expect(try names(third) == ["acB"])
    // A file is read again: the row cache may differ from it.
    let cold = kind == .sqlite ? try stack.foreignContext() : stack.context()
    #expect(try names(cold) == ["acB"])
  }

  @Test(
    "A rewritten object is among the destinations of its whole list, in the row cache, too",
    arguments: StoreKind.allCases, [true, false])
  func rewrittenListsAreComplete(kind: StoreKind, deletesRow: Bool) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second, third) = (stack.context(), stack.context(.overwrite), stack.context())
    let (list, tag) = try first.performAndWait {
      let (list, tag) = (first.make("List", ["name": "l"]), first.make("Tag", ["name": "b"]))
      list.setValue(NSOrderedSet(array: [first.make("Tag", ["name": "a"])]), forKey: "tags")
      try first.save()
      return (list, tag)
    }
    /// The list's tags, and the number of each one's lists, which are in the row cache afterward.
    func links(_ context: NSManagedObjectContext) throws -> [String] {
      try context.performAndWait {
        context.refreshAllObjects()
        return try context.everyObject(of: "List").map { $0.names("tags") }
          + context.all("Tag").map { "\($0.set("lists").count)" }
      }
    }
    #expect(try links(third) == ["a", "1", "0"])
    try second.performAndWait {
      let twin = second.twin(of: list)
      twin.setValue("L", forKey: "name")
      twin.mutableOrderedSetValue(forKey: "tags").add(second.twin(of: tag))
      try first.performAndWait {
        if deletesRow { first.delete(list) } else { list.setValue(NSOrderedSet(), forKey: "tags") }
        try first.save()
      }
      try second.save()
    }
    #expect(try links(third) == ["ab", "1", "1"])
    // A file is read again: the row cache may differ from it.
    let cold = kind == .sqlite ? try stack.foreignContext() : stack.context()
    #expect(try links(cold) == ["ab", "1", "1"])
  }

  /// One end of a many-to-many relationship.
  struct End: Sendable {
    let entity: String
    let key: String
    let other: String
    let inverse: String
    var isOrdered = false

    static let all = [
      End(entity: "Person", key: "reports", other: "Person", inverse: "managers"),
      End(entity: "Person", key: "managers", other: "Person", inverse: "reports"),
      End(entity: "List", key: "tags", other: "Tag", inverse: "lists", isOrdered: true),
      End(entity: "Tag", key: "lists", other: "List", inverse: "tags"),
      End(
        entity: "Person", key: "visited", other: "Country", inverse: "visitors", isOrdered: true),
    ]
  }

  @Test(
    "A restored object has its destinations in many-to-many relationships, as far as they exist",
    arguments: StoreKind.allCases, End.all)
  func restoredObjectsHaveTheirDestinations(kind: StoreKind, end: End) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.mergeByPropertyObjectTrump))
    /// The sorted names of the destinations.
    func names(_ object: NSManagedObject, _ key: String) -> [String] {
      object.set(key).compactMap { $0.nameValue }.sorted()
    }
    try first.performAndWait {
      let others = ["a", "b", "c"].map { first.make(end.other, ["name": $0]) }
      let value: Any = end.isOrdered ? NSOrderedSet(array: others) : Set(others)
      let object = first.make(end.entity, ["name": "o", end.key: value])
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: object)
        #expect(names(twin, end.key) == ["a", "b", "c"])
        twin.setValue("O", forKey: "name")
        first.delete(object)
        first.delete(others[2])
        others[1].setValue("B", forKey: "name")
        try first.save()
        try second.save()
        #expect(!second.hasChanges && names(twin, end.key) == ["B", "a"])
        let twins = others[..<2].map(second.twin)
        #expect(twins.map { $0.set(end.inverse) } == [[twin], [twin]])
      }
    }
    // A file is read again: the row cache may differ from it.
    let cold = kind == .sqlite ? try stack.foreignContext() : stack.context()
    for third in [stack.context(), cold] {
      try third.performAndWait {
        let restored = try third.all(end.entity).first { $0.nameValue == "O" }
        let object = try #require(restored)
        #expect(names(object, end.key) == ["B", "a"])
        #expect(object.set(end.key).allSatisfy { $0.set(end.inverse) == [object] })
      }
    }
  }

  @Test(
    "A restored object doesn't refer to an object that was deleted with it",
    arguments: StoreKind.allCases)
  func restoredObjectsReferToExistingRows(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.mergeByPropertyObjectTrump))
    try first.performAndWait {
      let list = first.make("List", ["name": "l"])
      let song = first.make("Song", ["name": "a", "list": list])
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: song)
        twin.setValue("A", forKey: "name")
        first.delete(list)
        try first.save()
        try second.save()
        #expect(!second.hasChanges && twin.one("list") == nil)
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let songs = try third.everyObject(of: "Song")
      #expect(songs.map { $0.nameValue } == ["A"] && songs.allSatisfy { $0.one("list") == nil })
    }
  }

  /// Restores a row, and then fails once.
  private final class FailingOnce: NSMergePolicy {
    private var hasFailed = false

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      try super.resolve(optimisticLockingConflicts: list)
      if hasFailed { return }
      hasFailed = true
      throw CocoaError(.userCancelled)
    }
  }

  @Test(
    "A row that another context restores before the save is attempted again is merged",
    arguments: StoreKind.allCases)
  func rowsThatExistAgainAreMerged(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.overwrite))
    let third = stack.context(FailingOnce(merge: .mergeByPropertyObjectTrumpMergePolicyType))
    try first.performAndWait {
      let tag = first.make("Tag", ["name": "a"])
      try first.save()
      try second.performAndWait {
        try third.performAndWait {
          second.twin(of: tag).setValue("b", forKey: "name")
          third.twin(of: tag).setValue("c", forKey: "name")
          first.delete(tag)
          try first.save()
          #expect(thrownError { try third.save() }?.code == CocoaError.userCancelled.rawValue)
          try second.save()
          try third.save()
          #expect(!third.hasChanges)
        }
      }
    }
    let fourth = stack.context()
    let found = try fourth.performAndWait { try fourth.all("Tag").map { $0.nameValue } }
    #expect(found == ["c"])
  }
}
