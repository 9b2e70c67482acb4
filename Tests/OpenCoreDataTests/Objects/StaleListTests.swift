import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Deleted rows in to-many relationships")
struct StaleListTests {
  /// The names of a to-many's destinations, and the SELECTs it takes a context to read them.
  private func read(
    _ key: String, of id: NSManagedObjectID, in context: NSManagedObjectContext
  ) -> (names: [String], selects: Int) {
    context.performAndWait {
      let before = context.counters
      let names = context.object(with: id).set(key).map { $0.label ?? "-" }.sorted()
      return (names, (context.counters - before).selects)
    }
  }

  @Test(
    "A many-to-many omits a row deleted by a context with a stale relationship", .ofOwnStores,
    arguments: StoreKind.allCases)
  func manyToManyOmitsRowDeletedByAStaleContext(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let people = try bed.addPeople(2)
    let (deleter, other, pinned) = (bed.context(), bed.context(), bed.context())
    deleter.mergePolicy = NSMergePolicy.overwrite
    let person = try deleter.performAndWait {
      let person = try deleter.existingObject(with: people[0])
      #expect(person.set("tags").isEmpty)
      return person
    }
    let (tag, id) = try other.performAndWait {
      let tag = other.make("Tag", ["name": "x"])
      tag.setValue(Set(people.map { other.object(with: $0) }), forKey: "workers")
      try other.save()
      return (tag, tag.objectID)
    }
    let reader = bed.context()
    #expect(read("workers", of: id, in: reader).names == ["p1", "p2"])
    try pinned.performAndWait { try pinned.setQueryGenerationFrom(.current) }
    #expect(try pinned.performAndWait { try pinned.people().count } == 2)
    try deleter.performAndWait {
      // The save overwrites the other context's, and the tag isn't read.
      person.number = 7
      try deleter.save()
      #expect(person.set("tags").isEmpty)
      deleter.delete(person)
      try deleter.save()
    }
    let cold = bed.context()
    let found = read("workers", of: id, in: cold)
    #expect(found.names == ["p2"] && found.selects == 0)
    #expect(read("workers", of: id, in: pinned).names == ["p1", "p2"])
    other.performAndWait { #expect(tag.set("workers").count == 2) }
  }

  @Test(
    "A to-many without inverse omits rows deleted earlier",
    arguments: StoreKind.allCases)
  func toManyWithoutInverseOmitsDeletedRows(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: KinshipModel.make())
    let (writer, reader, cold) = (bed.context(), bed.context(), bed.context())
    try writer.performAndWait {
      let country = writer.make("Country", ["name": "c"])
      let sights = "abc".map { writer.make("Sight", ["name": "\($0)"]) }
      country.setValue(NSOrderedSet(array: sights), forKey: "sights")
      try writer.save()
      #expect(read("sights", of: country.objectID, in: reader).names == ["a", "b", "c"])
      writer.delete(sights[1])
      try writer.save()
      let found = read("sights", of: country.objectID, in: cold)
      #expect(found.names == ["a", "c"] && found.selects == 0)
    }
  }

  @Test(
    "To-many relationships without inverse of two entities are separate, with one name, too",
    arguments: StoreKind.allCases)
  func toManyRelationshipsOfOneNameAreSeparate(_ kind: StoreKind) throws {
    let entities = ["Note", "Task", "Photo"].map {
      SchemaModels.entity($0, [SchemaModels.attribute("name", .stringAttributeType)])
    }
    for owner in entities.prefix(2) {
      owner.properties += [TestModels.relationship("photos", to: entities[2], isToMany: true)]
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    let bed = try ContextBed(kind, model: model)
    let (writer, reader, cold) = (bed.context(), bed.context(), bed.context())
    try writer.performAndWait {
      let photo = writer.make("Photo", ["name": "p"])
      let note = writer.make("Note", ["photos": Set([photo])])
      let task = writer.make("Task")
      try writer.save()
      #expect(read("photos", of: note.objectID, in: reader).names == ["p"])
      task.setValue(Set([photo]), forKey: "photos")
      try writer.save()
      for owner in [note, task] {
        #expect(read("photos", of: owner.objectID, in: cold).names == ["p"])
      }
    }
  }

  @Test(
    "To-many relationships without inverse of two subentities are separate, with one name, too",
    arguments: StoreKind.allCases)
  func toManyRelationshipsOfSubentitiesAreSeparate(_ kind: StoreKind) throws {
    let entities = ["Item", "Note", "Task", "Photo"].map {
      SchemaModels.entity($0, [SchemaModels.attribute("name", .stringAttributeType)])
    }
    for owner in entities[1...2] {
      owner.properties = [TestModels.relationship("photos", to: entities[3], isToMany: true)]
    }
    entities[0].subentities = Array(entities[1...2])
    let model = NSManagedObjectModel()
    model.entities = entities
    let bed = try ContextBed(kind, model: model)
    let (writer, reader) = (bed.context(), bed.context())
    try writer.performAndWait {
      let photo = writer.make("Photo", ["name": "p"])
      let notes = [writer.make("Note", ["photos": Set([photo])]), writer.make("Note")]
      let task = writer.make("Task")
      func names() -> [[String]] {
        (notes + [task]).map { read("photos", of: $0.objectID, in: reader).names }
      }
      try writer.save()
      #expect(names() == [["p"], [], []])
      task.setValue(Set([photo]), forKey: "photos")
      try writer.save()
      #expect(names() == [["p"], [], ["p"]])
      notes[1].setValue(Set([photo]), forKey: "photos")
      try writer.save()
      #expect(names() == [[], ["p"], ["p"]])
    }
  }

  @Test(
    "An object added again after another context removed it is saved",
    arguments: StoreKind.allCases)
  func objectAddedAgainAfterARemovalElsewhereIsSaved(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(1)
    let (context, other) = (bed.context(), bed.context())
    let id = try other.performAndWait {
      let tag = other.make("Tag", ["name": "x"])
      other.object(with: ids[0]).setValue(Set([tag]), forKey: "tags")
      try other.save()
      return tag.objectID
    }
    try context.performAndWait {
      let (person, tag) = (context.object(with: ids[0]), context.object(with: id))
      person.setValue(Set<NSManagedObject>(), forKey: "tags")
      try other.performAndWait {
        other.object(with: ids[0]).setValue(Set<NSManagedObject>(), forKey: "tags")
        try other.save()
      }
      context.refresh(person, mergeChanges: true)
      context.refresh(tag, mergeChanges: true)
      #expect(person.set("tags").isEmpty && tag.set("workers").isEmpty)
      person.setValue(Set([tag]), forKey: "tags")
      try context.save()
      #expect(person.set("tags") == [tag] && tag.set("workers") == [person])
    }
    #expect(read("tags", of: ids[0], in: bed.context()).names == ["x"])
    #expect(read("workers", of: id, in: bed.context()).names == ["p1"])
  }

  @Test(
    "A one-to-many is determined by the destinations' rows",
    arguments: StoreKind.allCases)
  func toManyMatchesItsDestinationsRows(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let (context, reader) = (bed.context(), bed.context())
    try context.performAndWait {
      let person = context.object(with: ids[0])
      let team = try #require(person.one("team"))
      #expect(read("members", of: team.objectID, in: reader).names == ["p1", "p2"])
      team.setValue(Set([context.object(with: ids[1])]), forKey: "members")
      // Only one side's change is discarded.
      context.refresh(person, mergeChanges: false)
      try context.save()
      #expect(person.one("team") === team)
      let found = read("members", of: team.objectID, in: bed.context())
      #expect(found.names == ["p1", "p2"])
    }
  }

  @Test(
    "A many-to-many is equal from both sides after one side discards the change",
    arguments: StoreKind.allCases)
  func manyToManyIsEqualFromBothSidesAfterADiscardedChange(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let context = bed.context()
    try context.performAndWait {
      let tag = context.make("Tag", ["name": "x"])
      let people = ids.map { context.object(with: $0) }
      tag.setValue(Set([people[0]]), forKey: "workers")
      try context.save()
      #expect(read("tags", of: ids[0], in: bed.context()).names == ["x"])
      #expect(read("tags", of: ids[1], in: bed.context()).names == [])
      tag.setValue(Set([people[1]]), forKey: "workers")
      for person in people { context.refresh(person, mergeChanges: false) }
      try context.save()
      #expect(read("workers", of: tag.objectID, in: bed.context()).names == ["p2"])
      let cold = bed.context()
      let found = ids.map { read("tags", of: $0, in: cold) }
      #expect(found.map(\.names) == [[], ["x"]] && found.map(\.selects) == [0, 0])
    }
  }

  @Test(
    "A join row whose destination was deleted before the save isn't read",
    arguments: StoreKind.allCases)
  func joinRowWithADeletedDestinationIsNotRead(_ kind: StoreKind) throws {
    let bed = try ContextBed(kind)
    let ids = try bed.addPeople(2)
    let (context, other) = (bed.context(), bed.context())
    try context.performAndWait {
      let tag = context.make("Tag", ["name": "x"])
      try context.save()
      #expect(read("workers", of: tag.objectID, in: bed.context()).names == [])
      let people = ids.map { context.object(with: $0) }
      tag.setValue(Set(people), forKey: "workers")
      try other.performAndWait {
        other.delete(other.object(with: ids[1]))
        try other.save()
      }
      // Discards the change of the deleted person.
      context.refresh(people[1], mergeChanges: false)
      try context.save()
      context.refresh(tag, mergeChanges: false)
      #expect(tag.set("workers") == [people[0]])
      #expect(read("workers", of: tag.objectID, in: bed.context()).names == ["p1"])
    }
  }
}
