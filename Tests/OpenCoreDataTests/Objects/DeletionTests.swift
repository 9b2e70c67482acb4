import CoreDataCosts
import ManagedModel
import OpenCoreData
import Testing

/// A person whose class declares one of its relationships.
final class DeclaringPerson: NSManagedObject {
  @Managed("parent") var parent: DeclaringPerson?
}

/// Processes pending changes when it's deleted, then deletes the friend.
final class TidyingInfo: NSManagedObject {
  override func prepareForDeletion() {
    super.prepareForDeletion()
    managedObjectContext?.processPendingChanges()
    if let friend = one("friend") { managedObjectContext?.delete(friend) }
  }
}

@Suite("Delete rules and relationship values")
struct DeletionTests {
  private func stack(_ kind: StoreKind) throws -> GraphStack {
    try GraphStack(kind, model: KinshipModel.make())
  }

  /// A list with two related objects, and a cold context that has fetched only the list.
  private func list(
    _ relationship: String, of entity: String, _ kind: StoreKind,
    _ body: (GraphStack, NSManagedObjectContext, NSManagedObject) throws -> Void
  ) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      let list = writer.make("List", ["name": "l"])
      let others = "ab".map { writer.make(entity, ["name": "\($0)"]) }
      list.setValue(others, forKey: relationship)
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      try body(stack, context, try #require(try context.all("List").first))
    }
  }

  @Test(
    "S-E01 deny prevents deletion only while there are destinations", arguments: StoreKind.allCases)
  func denyPreventsDeletionWhileDestinationsExist(kind: StoreKind) throws {
    try list("kept", of: "Kept", kind) { _, context, list in
      context.delete(list)
      #expect(context.saveError()?.code == NSValidationRelationshipDeniedDeleteError)
      #expect(context.deletedObjects == [list])
      for kept in try context.all("Kept") { kept.setValue(nil, forKey: "list") }
      #expect(context.saveError() == nil)
      let lists = try context.all("List")
      #expect(lists.isEmpty)
    }
  }

  @Test(
    "S-E02 nullify clears an optional inverse; a required one fails validation until it's set",
    arguments: StoreKind.allCases)
  func nullifyClearsTheInverseAndARequiredOneFailsValidation(kind: StoreKind) throws {
    let model = try KinshipModel.make()
    model.entitiesByName["Kept"]?.relationshipsByName["list"]?.isOptional = false
    let toKept = model.entitiesByName["List"]?.relationshipsByName["kept"]
    toKept?.deleteRule = .nullifyDeleteRule
    let context = try GraphStack(kind, model: model).context()
    try context.performAndWait {
      let lists = "xy".map { context.make("List", ["name": "\($0)"]) }
      let kept = context.make("Kept", ["name": "k", "list": lists[0], "looseList": lists[1]])
      let tag = context.make("Tag", ["name": "t", "lists": Set([lists[0]])])
      try context.save()
      context.delete(lists[0])
      #expect(context.saveError()?.code == NSValidationMissingMandatoryPropertyError)
      #expect(tag.set("lists").isEmpty && kept.one("list") == nil)
      kept.setValue(lists[1], forKey: "list")
      #expect(context.saveError() == nil && lists[1].set("kept") == [kept])
    }
  }

  @Test("S-E03 cascade fetches the objects to delete", .ofOwnStores, arguments: StoreKind.allCases)
  func cascadeFetchesTheObjectsToDelete(kind: StoreKind) throws {
    try list("songs", of: "Song", kind) { stack, context, list in
      let cost = try costs(of: context) {
        context.delete(list)
        try context.save()
      }
      // Read: the object IDs of songs, tags, and kept objects, and the rows of two songs. Deleted:
      // the list, its songs, and its join rows with tags. An in-memory SQLite store may have the
      // rows cached.
      #expect(kind == .sqliteInMemory || cost.selects == stack.statements(5))
      #expect(cost.deletes == stack.statements(4))
      let songs = try context.all("Song")
      #expect(songs.isEmpty)
    }
  }

  @Test(
    "Objects that prepareForDeletion deletes after processing changes have their rules applied",
    arguments: StoreKind.allCases)
  func deletionsAfterProcessingInPrepareForDeletionPropagate(kind: StoreKind) throws {
    TidyingInfo.registerClass()
    let model = try KinshipModel.make()
    model.entitiesByName["FriendInfo"]?.managedObjectClassName = "TidyingInfo"
    let context = try GraphStack(kind, model: model).context()
    try context.performAndWait {
      let people = "ab".map { context.make("Person", ["name": "\($0)"]) }
      let info = context.make("FriendInfo", ["source": people[0], "friend": people[1]])
      let country = context.make("Country", ["name": "c"])
      people[1].setValue(country, forKey: "residentOf")
      try context.save()
      context.delete(people[0])
      context.processPendingChanges()
      #expect(context.deletedObjects == Set(people + [info]))
      #expect(country.set("residents").isEmpty)
      #expect(context.saveError() == nil)
    }
  }

  @Test(
    "S-E04 no action leaves dangling references, which it doesn't read",
    arguments: StoreKind.allCases)
  func noActionLeavesDanglingReferencesAndRunsNoSelect(kind: StoreKind) throws {
    let model = try KinshipModel.make()
    for relationship in model.entitiesByName["List"]?.relationshipsByName.values ?? [:].values {
      relationship.deleteRule = .noActionDeleteRule
    }
    let stack = try GraphStack(kind, model: model)
    let writer = try stack.context()
    try writer.performAndWait {
      let list = writer.make("List", ["name": "l"])
      _ = writer.make("Kept", ["name": "k", "looseList": list])
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let list = try #require(try context.all("List").first)
      let cost = try costs(of: context) {
        context.delete(list)
        try context.save()
      }
      #expect(cost.selects == 0 && cost.updates == 0)
      let kept = try #require(try context.all("Kept").first)
      let loose = try #require(kept.one("looseList"))
      #expect(loose.isFault && loose.value(forKey: "name") == nil && loose.isDeleted)
    }
  }

  @Test(
    "S4.16 S-E08 a relationship that the class doesn't declare is maintained",
    arguments: StoreKind.allCases)
  func relationshipThatTheClassDoesNotDeclareIsMaintained(kind: StoreKind) throws {
    DeclaringPerson.registerClass()
    let model = try KinshipModel.make()
    model.entitiesByName["Person"]?.managedObjectClassName = "DeclaringPerson"
    let stack = try GraphStack(kind, model: model)
    let writer = try stack.context()
    try writer.performAndWait {
      let people = "ab".map { writer.make("Person", ["name": "\($0)"]) }
      (people[1] as? DeclaringPerson)?.parent = people[0] as? DeclaringPerson
      #expect(people[0].set("children") == [people[1]])
      people[0].setValue(people[1], forKey: "idol")
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let people = try context.all("Person")
      #expect(people[0].set("children") == [people[1]] && people[0].one("idol") === people[1])
    }
  }

  @Test(
    "S-E12 an object in a to-many without inverse has one owner",
    arguments: StoreKind.allCases)
  func toManyWithoutInverseHasOneOwnerPerDestination(kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      let sight = writer.make("Sight", ["name": "s"])
      for name in ["x", "y"] {
        writer.make("Country", ["name": name]).setValue([sight], forKey: "sights")
        try writer.save()
      }
      // Used as a many-to-many, the objects don't match the store.
      let claimed = try writer.all("Country").map { $0.names("sights") }
      #expect(claimed == ["s", "s"])
    }
    let context = try stack.context()
    try context.performAndWait {
      let stored = try context.all("Country").map { $0.names("sights") }
      #expect(stored == ["", "s"])
    }
  }

  @Test("The destinations of a to-many without inverse lose an owner that's deleted")
  func destinationsWithoutInverseLoseADeletedOwner() throws {
    let stack = try stack(.sqlite)
    let context = try stack.context()
    try context.performAndWait {
      let sights = ["a", "b"].map { context.make("Sight", ["name": $0]) }
      let (old, new) = (context.make("Country"), context.make("Country"))
      old.setValue(sights, forKey: "sights")
      try context.save()
      context.delete(old)
      new.setValue([sights[1]], forKey: "sights")
      try context.save()
    }
    #expect(try FailureFixture.findings(stack.storeURL) == [])
    let reader = try stack.context()
    try reader.performAndWait {
      let owned = try reader.all("Country").map { $0.names("sights") }
      #expect(owned == ["b"])
    }
  }

  @Test("S-E16 a relationship accepts subentities; another entity is a fatal error")
  func subentityIsAcceptedAndAnotherEntityStopsTheProcess() async throws {
    let context = try stack(.sqlite).context()
    try context.performAndWait {
      let list = context.make("List", ["name": "l"])
      let songs = [context.make("Song", ["name": "a"]), context.make("Single", ["name": "b"])]
      list.setValue(songs, forKey: "songs")
      try context.save()
      context.refreshAllObjects()
      #expect(list.names("songs") == "ab")
      #expect(songs[1].entity.name == "Single" && songs[1].one("list") === list)
    }
    let wrongEntity = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try GraphStack(.sqlite, model: KinshipModel.make()).context()
      context.performAndWait {
        let list = context.make("List")
        list.mutableOrderedSetValue(forKey: "songs").add(context.make("Tag"))
      }
    }
    #expect(
      wrongEntity.message.contains("'songs' of 'List' takes objects of 'Song', not of 'Tag'"))
  }

  @Test(
    "S-E23 a fault whose row was deleted becomes deleted with nil values, required ones too",
    arguments: StoreKind.ofRows)
  func faultWithoutRowBecomesDeletedWithNilValues(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: DrivingModel.make())
    let writer = try stack.context()
    try writer.performAndWait {
      _ = writer.make("Car", ["name": "c"])
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Car")
      request.includesPropertyValues = false
      let car = try #require(try context.fetch(request).first)
      try writer.performAndWait {
        for car in try writer.all("Car") { writer.delete(car) }
        try writer.save()
      }
      #expect(context.shouldDeleteInaccessibleFaults && car.isFault && !car.isDeleted)
      #expect(car.value(forKey: "name") == nil && car.isDeleted)
      #expect(context.saveError() == nil)
    }
  }

  @Test("S3.03, S-B01 unsaved changes are private to the context until they're saved")
  func unsavedChangesArePrivateToTheContext() throws {
    let stack = try stack(.sqlite)
    let context = try stack.context()
    context.performAndWait {
      let cost = costs(of: context) { _ = context.make("Tag", ["name": "t"]) }
      #expect(cost.inserts == 0)
    }
    let other = try stack.context()
    try other.performAndWait {
      let tags = try other.all("Tag")
      #expect(tags.isEmpty)
      try context.performAndWait { try context.save() }
      #expect(try other.all("Tag").count == 1)
    }
  }

  @Test(
    "S-B02 the URI of a permanent ID identifies its store; that of a temporary ID doesn't",
    arguments: StoreKind.allCases)
  func onlyThePermanentURIIdentifiesAStore(kind: StoreKind) throws {
    let context = try stack(kind).context()
    try context.performAndWait {
      let tag = context.make("Tag", ["name": "t"])
      let temporary = tag.objectID
      let before = temporary.uriRepresentation()
      #expect(temporary.isTemporaryID && before.scheme == "x-coredata")
      #expect((before.host ?? "").isEmpty && before.path.hasPrefix("/Tag/t"))
      try context.save()
      let after = tag.objectID.uriRepresentation()
      #expect(!tag.objectID.isTemporaryID && tag.objectID != temporary)
      #expect(after.path == "/Tag/p1" && after.host?.isEmpty == false)
      #expect(context.object(with: tag.objectID) === tag)
    }
  }
}
