import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Uniqueness conflicts")
struct ConstraintConflictTests {
  private func stack(_ kind: StoreKind) throws -> SharedStack {
    try SharedStack(kind, SavingModels.regions())
  }

  private func rows(_ stack: SharedStack, _ entity: String = "Region") throws -> [[String]] {
    let context = stack.kind == .sqlite ? try stack.foreignContext() : stack.context()
    return try context.performAndWait {
      try context.everyObject(of: entity).map { object in
        object.entity.attributesByName.keys.sorted().map {
          "\($0)=\(object.value(forKey: $0).map { "\($0)" } ?? "nil")"
        }
      }
    }
  }

  private func conflicts(_ error: NSError?) -> [NSConstraintConflict] {
    error?.userInfo["conflictList"] as? [NSConstraintConflict] ?? []
  }

  static var policies: [NSMergePolicy] {
    [
      .rollback, .mergeByPropertyStoreTrump, .overwrite, .mergeByPropertyObjectTrump,
    ]
  }

  @Test(
    "S11-30 new objects with an equal unique value fail the save with 133021 and write no rows",
    arguments: StoreKind.allCases)
  func newObjectsWithAnEqualUniqueValueFailTheSave(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    context.performAndWait {
      let twins = (0..<2).map { _ in context.make("Country", ["code": "FR"]) }
      let error = thrownError { try context.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      #expect(conflicts(error).map(\.constraint) == [["code"]])
      #expect(conflicts(error).first?.conflictingObjects == twins)
      #expect(conflicts(error).first?.constraintValues["code"] as? String == "FR")
      #expect(conflicts(error).first?.databaseObject == nil)
      let snapshots: [[String: Any]]? = conflicts(error).first?.conflictingSnapshots
      #expect(snapshots?.map { $0.isEmpty } == [true, true])
      #expect(context.insertedObjects == Set(twins))
    }
    #expect(try rows(stack).isEmpty)
  }

  /// Merge policies apply only to saves to the store.
  @Test(
    "S11-42 a child's save pushes new objects with an equal unique value; the parent's save fails",
    arguments: StoreKind.allCases)
  func childSavePushesObjectsWithAnEqualUniqueValue(kind: StoreKind) throws {
    let stack = try stack(kind)
    let parent = stack.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    child.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    try child.performAndWait {
      for _ in 0..<2 { _ = child.make("Country", ["code": "FR"]) }
      try child.save()
      #expect(!child.hasChanges)
    }
    parent.performAndWait {
      #expect(parent.insertedObjects.count == 2)
      #expect(thrownError { try parent.save() }?.code == NSManagedObjectConstraintMergeError)
    }
  }

  @Test(
    "A value that was set to the default replaces the stored one if the object takes precedence",
    arguments: StoreKind.allCases)
  func valuesSetToTheDefaultReplaceStoredOnes(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context(.mergeByPropertyObjectTrump)
    try context.performAndWait {
      _ = context.make("Country", ["code": "FR", "name": "stored"])
      try context.save()
      let new = context.make("Country", ["code": "FR"])
      new.setValue(nil, forKey: "name")
      try context.save()
    }
    #expect(try rows(stack).map { $0.prefix(2) } == [["code=FR", "name=nil"]])
  }

  @Test(
    "S11-31 with any policy, the first is saved, and relationships to the second refer to it",
    arguments: StoreKind.allCases, 0..<4)
  func firstOfTwoEqualNewObjectsIsSavedWithAnyPolicy(kind: StoreKind, number: Int) throws {
    let stack = try stack(kind)
    let context = stack.context(ConstraintConflictTests.policies[number])
    try context.performAndWait {
      let twins = (0..<2).map { _ in context.make("Country", ["code": "FR"]) }
      let cities = twins.map { context.make("City", ["country": $0]) }
      nonisolated(unsafe) var deleted: Set<NSManagedObject> = []
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { note in
        nonisolated(unsafe) let found = note.userInfo?[NSDeletedObjectsKey]
        deleted = found as? Set<NSManagedObject> ?? []
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      try context.save()
      #expect(deleted == [twins[1]] && twins[1].managedObjectContext == nil)
      #expect(cities.allSatisfy { $0.value(forKey: "country") as? NSManagedObject === twins[0] })
    }
    #expect(try rows(stack).count == 1)
    #expect(try rows(stack, "City").count == 2)
  }

  /// The stored values by policy, after the code was saved with A, then inserted with B.
  static let outcomes = [
    ["code=FR", "name=A", "size=1"], ["code=FR", "name=A", "size=1"],
    ["code=FR", "name=B", "size=2"], ["code=FR", "name=B", "size=2"],
  ]

  @Test(
    "S11-32, S11-33, S11-34, S11-35, S11-37 each policy resolves a stored value's insertion",
    arguments: StoreKind.allCases, 0..<4)
  func policyResolvesTheInsertionOfAStoredUniqueValue(kind: StoreKind, number: Int) throws {
    let stack = try stack(kind)
    let first = stack.context()
    let second = stack.context()
    try first.performAndWait {
      let stored = first.make("Country", ["code": "FR", "name": "A", "size": Int32(1)])
      try first.save()
      try second.performAndWait {
        let mine = second.make("Country", ["code": "FR", "name": "B", "size": Int32(2)])
        let city = second.make("City", ["country": mine])
        let error = thrownError { try second.save() }
        let conflict = try #require(conflicts(error).first)
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(conflict.databaseObject?.objectID == stored.objectID)
        #expect(conflict.databaseSnapshot?["name"] as? String == "A")
        #expect(conflict.conflictingObjects == [mine] && mine.objectID.isTemporaryID)
        second.mergePolicy = ConstraintConflictTests.policies[number]
        nonisolated(unsafe) var deleted: Set<NSManagedObject> = []
        let observer = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: second, queue: nil
        ) { note in
          nonisolated(unsafe) let found = note.userInfo?[NSDeletedObjectsKey]
          deleted = found as? Set<NSManagedObject> ?? []
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try second.save()
        let overwrites = number == 2
        #expect(deleted.count == 1 && deleted.contains(mine) == !overwrites)
        let home = city.value(forKey: "country") as? NSManagedObject
        #expect(
          overwrites ? home === mine : home?.objectID == stored.objectID)
      }
    }
    #expect(try rows(stack) == [ConstraintConflictTests.outcomes[number]])
    #expect(try rows(stack, "City").count == 1)
  }

  @Test(
    "S11-36 a constraint of an abstract parent applies across its subentities",
    arguments: StoreKind.allCases)
  func constraintOfAnAbstractParentAppliesAcrossSubentities(kind: StoreKind) throws {
    let stack = try stack(kind)
    let (first, second) = (stack.context(), stack.context())
    try first.performAndWait {
      _ = first.make("Continent", ["code": "EU"])
      try first.save()
    }
    second.performAndWait {
      _ = second.make("Country", ["code": "EU"])
      let error = thrownError { try second.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      #expect(conflicts(error).first?.databaseObject?.entity.name == "Continent")
    }
  }

  @Test(
    "S11-38 without a constraint, objects with equal values are saved",
    arguments: StoreKind.allCases)
  func equalValuesWithoutAConstraintAreBothSaved(kind: StoreKind) throws {
    let stack = try SharedStack(kind, SavingModels.items())
    for _ in 0..<2 {
      let context = stack.context()
      try context.performAndWait {
        _ = context.make("Item", ["name": "France"])
        try context.save()
      }
    }
    #expect(try rows(stack, "Item").count == 2)
  }

  @Test(
    "All values of a compound constraint must be equal; nil equals nothing",
    arguments: StoreKind.allCases)
  func allValuesOfACompoundConstraintMustBeEqual(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    try context.performAndWait {
      for values in [["first": "A", "last": "B"], ["first": "A", "last": "C"]] {
        _ = context.make("Person", values)
      }
      for _ in 0..<2 { _ = context.make("Person", ["first": "A"]) }
      // Equal in Swift, but not in the store.
      for name in ["\u{E9}", "e\u{301}"] {
        _ = context.make("Person", ["first": name, "last": "x"])
      }
      try context.save()
      _ = context.make("Person", ["first": "A", "last": "C"])
      #expect(
        conflicts(thrownError { try context.save() }).map(\.constraint) == [["first", "last"]])
    }
    #expect(try rows(stack, "Person").count == 6)
  }

  @Test(
    "Unique values can be swapped or reused within one save",
    arguments: StoreKind.allCases)
  func uniqueValuesCanBeSwappedOrReusedInOneSave(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    try context.performAndWait {
      let codes = ["A", "B", "C"]
      let countries = codes.map { context.make("Country", ["code": $0]) }
      try context.save()
      countries[0].setValue("B", forKey: "code")
      countries[1].setValue("A", forKey: "code")
      context.delete(countries[2])
      _ = context.make("Country", ["code": "C", "name": "new"])
      try context.save()
      #expect(!context.hasChanges)
    }
    let found = try rows(stack).map { $0[0] + $0[1] }
    #expect(found == ["code=Bname=nil", "code=Aname=nil", "code=Cname=new"])
  }

  @Test(
    "An update to an existing unique value is rolled back, or loses only that value",
    arguments: StoreKind.allCases, [true, false])
  func updateToAStoredUniqueValueIsRolledBackOrLosesOnlyThatValue(
    kind: StoreKind, objectTrumps: Bool
  ) throws {
    let stack = try stack(kind)
    let context = stack.context(objectTrumps ? .mergeByPropertyObjectTrump : .rollback)
    try context.performAndWait {
      _ = context.make("Country", ["code": "A"])
      let other = context.make("Country", ["code": "B", "name": "old"])
      try context.save()
      other.setValue("A", forKey: "code")
      other.setValue("new", forKey: "name")
      let notes = NoteList(context)
      try context.save()
      #expect(notes.union(NSRefreshedObjectsKey) == [other])
      #expect(other.value(forKey: "code") as? String == "B")
      #expect(other.value(forKey: "name") as? String == (objectTrumps ? "new" : "old"))
    }
    #expect(try rows(stack).last?.prefix(2) == ["code=B", "name=\(objectTrumps ? "new" : "old")"])
  }

  @Test(
    "An object that violates two constraints becomes the row of the first one in every store",
    arguments: StoreKind.allCases)
  func firstViolatedConstraintIsResolvedFirst(kind: StoreKind) throws {
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = ["a", "b", "x"].map { TestModels.attribute($0, .stringAttributeType) }
    item.uniquenessConstraints = [["b"], ["a"]]
    let model = NSManagedObjectModel()
    model.entities = [item]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      for value in ["1", "2"] {
        _ = context.make("Item", ["a": value, "b": value])
        try context.save()
      }
      _ = context.make("Item", ["a": "1", "b": "2", "x": "new"])
      try context.save()
    }
    #expect(
      try rows(stack, "Item").sorted { $0[0] < $1[0] } == [
        ["a=1", "b=1", "x=nil"], ["a=2", "b=2", "x=new"],
      ])
  }

  @Test(
    "A new object with the unique value of an object that is saved, too, is a conflict of the two",
    arguments: StoreKind.allCases)
  func valueOfARowThatIsSavedTooIsAConflict(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    try context.performAndWait {
      let first = context.make("Country", ["code": "FR"])
      try context.save()
      first.setValue("France", forKey: "name")
      let second = context.make("Country", ["code": "FR"])
      let error = thrownError { try context.save() }
      #expect(error?.code == NSManagedObjectConstraintMergeError)
      #expect(conflicts(error).map(\.constraint) == [["code"]])
      #expect(conflicts(error).first?.conflictingObjects == [first, second])
      #expect(conflicts(error).first?.databaseObject == nil)
      for policy in ConstraintConflictTests.policies {
        context.mergePolicy = policy
        try context.save()
        #expect(!context.hasChanges)
        first.setValue("\(policy.mergeType.rawValue)", forKey: "name")
        _ = context.make("Country", ["code": "FR"])
      }
      context.rollback()
    }
    #expect(try rows(stack).count == 1)
  }

  /// Users with a unique key, and relationships of every kind to and from them.
  private static func users() -> NSManagedObjectModel {
    let entities = ["User", "Pass", "Tag", "Note"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let (user, pass, tag, note) = (entities[0], entities[1], entities[2], entities[3])
    let owned = TestModels.relationship("pass", to: pass, isToMany: false)
    let owner = TestModels.relationship("owner", to: user, isToMany: false)
    let tags = TestModels.relationship("tags", to: tag, isToMany: true)
    let members = TestModels.relationship("members", to: user, isToMany: true)
    members.isOrdered = true
    for (one, other) in [(owned, owner), (tags, members)] {
      one.inverseRelationship = other
      other.inverseRelationship = one
    }
    user.properties = [
      TestModels.attribute("key", .stringAttributeType), owned, tags,
      TestModels.relationship("notes", to: note, isToMany: true),
    ]
    user.uniquenessConstraints = [["key"]]
    pass.properties = [owner]
    tag.properties = [members]
    note.properties = [TestModels.relationship("about", to: user, isToMany: false)]
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  @Test(
    "References of every kind to a new object move to the stored one that replaces it",
    arguments: StoreKind.allCases)
  func referencesMoveToTheStoredObject(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.users())
    let (first, second) = (stack.context(), stack.context(.mergeByPropertyObjectTrump))
    try first.performAndWait {
      _ = first.make("User", ["key": "k"])
      try first.save()
    }
    try second.performAndWait {
      let mine = second.make("User", ["key": "k"])
      let pass = second.make("Pass", ["owner": mine])
      let tag = second.make("Tag")
      tag.setValue([mine], forKey: "members")
      let about = second.make("Note", ["about": mine])
      mine.setValue(Set([second.make("Note")]), forKey: "notes")
      try second.save()
      let user = try #require(try second.everyObject(of: "User").first)
      #expect(user !== mine && mine.managedObjectContext == nil)
      for object in [user, pass, tag, about] { second.refresh(object, mergeChanges: false) }
      #expect(pass.value(forKey: "owner") as? NSManagedObject === user)
      #expect((tag.value(forKey: "members") as? NSOrderedSet)?.firstObject as AnyObject === user)
      #expect(about.value(forKey: "about") as? NSManagedObject === user)
      #expect((user.value(forKey: "notes") as? Set<NSManagedObject>)?.count == 1)
    }
  }

  @Test(
    "A required reference to a stored object that a new one replaces fails the save",
    arguments: StoreKind.allCases)
  func requiredReferencesToReplacedRowsFailTheSave(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context(.overwrite)
    try context.performAndWait {
      let stored = context.make("Country", ["code": "FR", "name": "stored"])
      let city = context.make("City", ["name": "Paris", "country": stored])
      try context.save()
      let new = context.make("Country", ["code": "FR", "name": "new"])
      let error = thrownError { try context.save() }
      #expect(error?.code == NSValidationMissingMandatoryPropertyError)
      #expect(new.isInserted && stored.isDeleted && city.one("country") == nil)
      city.setValue(new, forKey: "country")
      try context.save()
    }
    #expect(try rows(stack).map { $0[1] } == ["name=new"])
    #expect(try rows(stack, "City").count == 1)
  }

  @Test(
    "Parts of a new object stay if a stored one gets them, although a cascade rule deletes them",
    arguments: StoreKind.allCases)
  func partsOfAReplacedObjectStay(kind: StoreKind) throws {
    let (user, part) = (NSEntityDescription(), NSEntityDescription())
    (user.name, part.name) = ("User", "Part")
    let parts = [false, true].map {
      TestModels.relationship($0 ? "parts" : "part", to: part, isToMany: $0)
    }
    for relationship in parts { relationship.deleteRule = .cascadeDeleteRule }
    user.properties = parts
    user.properties += [TestModels.attribute("key", .stringAttributeType)]
    user.uniquenessConstraints = [["key"]]
    part.properties = [TestModels.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [user, part]
    let stack = try SharedStack(kind, model)
    let context = stack.context(.mergeByPropertyObjectTrump)
    try context.performAndWait {
      _ = context.make("User", ["key": "k"])
      try context.save()
      let one = context.make("Part", ["name": "one"])
      let many = context.make("Part", ["name": "many"])
      _ = context.make("User", ["key": "k", "part": one, "parts": Set([many])])
      try context.save()
    }
    let check = stack.context()
    try check.performAndWait {
      let users = try check.everyObject(of: "User")
      #expect(users.map { $0.one("part")?.value(forKey: "name") as? String } == ["one"])
      #expect(users.map { $0.set("parts").count } == [1])
      let names = try check.everyObject(of: "Part").map { $0.value(forKey: "name") as? String }
      #expect(Set(names) == ["one", "many"])
    }
  }

  @Test(
    "A unique value that another process gives up and takes again during the save is a conflict",
    .ofOwnStores, arguments: [false, true])
  func valueCanMoveDuringTheSave(isTakenAgain: Bool) throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    let path = stack.storeURL.path
    func listen(_ text: String, _ code: String, _ former: String) {
      let listener = FirstEventListener {
        $0.statement?.sql.contains(text) == true
      } _: {
        #expect(throws: Never.self) {
          let other = try Connection(path: path, access: .writing)
          defer { other.close() }
          try other.execute("UPDATE ZREGION SET ZCODE = '\(code)' WHERE ZCODE = '\(former)'")
        }
      }
      stack.coordinator.eventHub.add(listener)
    }
    try context.performAndWait {
      _ = context.make("Country", ["code": "FR"])
      try context.save()
      context.reset()
      // After the INSERT has failed, and after the conflicting row was looked for in vain.
      listen("ROLLBACK", "free", "FR")
      if isTakenAgain { listen("t0.ZCODE = ?", "FR", "free") }
      _ = context.make("Country", ["code": "FR"])
      let error = thrownError { try context.save() }
      #expect(error?.code == (isTakenAgain ? NSManagedObjectConstraintMergeError : nil))
      #expect(conflicts(error).count == (isTakenAgain ? 1 : 0))
    }
    let codes = try rows(stack, "Country").map { $0[0] }.sorted()
    #expect(codes == (isTakenAgain ? ["code=FR"] : ["code=FR", "code=free"]))
  }
}
