import OpenCoreData
import Testing

@Suite("Deletions that the merge policy discards")
struct DiscardedDeletionTests {
  @Test(
    "An object that isn't deleted because its row has changed is a destination again, at its place",
    arguments: StoreKind.allCases,
    [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
  func keptObjectsAreDestinationsAgain(kind: StoreKind, type: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let list = first.make("List", ["name": "l"])
      let songs = ["a", "b", "c"].map { first.make("Song", ["name": $0, "list": list]) }
      let people = ["p", "q", "r"].map { first.make("Person", ["name": $0]) }
      people[0].setValue(people[1], forKey: "spouse")
      people[0].setValue(people[2], forKey: "parent")
      try first.save()
      try second.performAndWait {
        let (theirs, twins) = (second.twin(of: list), people.map(second.twin))
        #expect(theirs.names("songs") == "abc" && twins[2].set("children") == [twins[0]])
        #expect(twins[1].one("spouseOf") === twins[0])
        second.delete(second.twin(of: songs[1]))
        second.delete(twins[0])
        second.processPendingChanges()
        #expect(theirs.names("songs") == "ac" && twins[2].set("children").isEmpty)
        #expect(twins[1].one("spouseOf") == nil)
        songs[1].setValue("B", forKey: "name")
        people[0].setValue("P", forKey: "name")
        try first.save()
        try second.save()
        #expect(theirs.names("songs") == "aBc" && twins[2].set("children") == [twins[0]])
        #expect(twins[1].one("spouseOf") === twins[0] && twins[0].one("spouse") === twins[1])
      }
    }
    let third = stack.context()
    try third.performAndWait {
      let people = try third.everyObject(of: "Person")
      #expect(people[1].one("spouseOf") === people[0] && people[0].one("spouse") === people[1])
      #expect(people[2].set("children") == [people[0]])
      #expect(try third.everyObject(of: "List").map { $0.names("songs") } == ["aBc"])
    }
  }

  @Test(
    "The destinations of its to-many relationships refer to it again, at its place",
    arguments: StoreKind.allCases,
    [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
  func destinationsReferToKeptObjects(kind: StoreKind, type: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let country = first.make("Country", ["name": "land"])
      let people = ["p", "q"].map { first.make("Person", ["name": $0, "residentOf": country]) }
      let tags = ["a", "b", "c"].map { first.make("Tag", ["name": $0]) }
      let list = first.make("List", ["name": "l", "tags": NSOrderedSet(array: tags)])
      try first.save()
      try second.performAndWait {
        let (theirs, twins) = (second.twin(of: country), people.map(second.twin))
        let (tag, theirList) = (second.twin(of: tags[1]), second.twin(of: list))
        // Not a change by the deletion.
        twins[1].setValue(nil, forKey: "residentOf")
        second.delete(theirs)
        second.delete(tag)
        second.processPendingChanges()
        #expect(twins[0].one("residentOf") == nil && theirList.names("tags") == "ac")
        country.setValue("Land", forKey: "name")
        tags[1].setValue("B", forKey: "name")
        try first.save()
        try second.save()
        #expect(!theirs.isDeleted && theirs.set("residents") == [twins[0]])
        #expect(twins.map { $0.one("residentOf") } == [theirs, nil])
        #expect(theirList.names("tags") == "aBc" && tag.set("lists") == [theirList])
      }
    }
    let third = stack.context()
    try third.performAndWait {
      let people = try third.everyObject(of: "Person")
      #expect(try third.everyObject(of: "Country").map { $0.set("residents") } == [[people[0]]])
      #expect(people.map { $0.one("residentOf")?.nameValue } == ["Land", nil])
      #expect(try third.everyObject(of: "List").map { $0.names("tags") } == ["aBc"])
    }
  }

  /// The objects of a deletion by a cascade rule that have changed in the store.
  enum Changed: CaseIterable, Sendable { case owner, destination, both }

  @Test(
    "The deletions by a cascade rule are discarded together",
    arguments: StoreKind.allCases, Changed.allCases)
  func cascadesAreDiscardedTogether(kind: StoreKind, changed: Changed) throws {
    let model = try KinshipModel.make()
    model.entitiesByName["Person"]?.relationshipsByName["spouse"]?.deleteRule = .cascadeDeleteRule
    let stack = try SharedStack(kind, model)
    let (first, second) = (stack.context(), stack.context(.mergeByPropertyStoreTrump))
    try first.performAndWait {
      let list = first.make("List", ["name": "l"])
      let songs = ["a", "b", "c"].map { first.make("Song", ["name": $0, "list": list]) }
      let people = ["p", "q"].map { first.make("Person", ["name": $0]) }
      people[0].setValue(people[1], forKey: "spouse")
      try first.save()
      try second.performAndWait {
        let (theirs, twins) = (second.twin(of: list), people.map(second.twin))
        second.delete(theirs)
        second.delete(twins[0])
        second.processPendingChanges()
        #expect(second.deletedObjects.count == 6)
        if changed != .destination {
          list.setValue("L", forKey: "name")
          people[0].setValue("P", forKey: "name")
        }
        if changed != .owner {
          songs[1].setValue("B", forKey: "name")
          people[1].setValue("Q", forKey: "name")
        }
        try first.save()
        try second.save()
        #expect(!second.hasChanges && !theirs.isDeleted)
        #expect(theirs.names("songs") == (changed == .owner ? "abc" : "aBc"))
        #expect(twins[0].one("spouse") === twins[1] && twins[1].one("spouseOf") === twins[0])
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let lists = try third.everyObject(of: "List")
      #expect(lists.map { $0.names("songs") } == [changed == .owner ? "abc" : "aBc"])
      let people = try third.everyObject(of: "Person")
      try #require(people.count == 2)
      #expect(people[0].one("spouse") === people[1] && people[1].one("spouseOf") === people[0])
    }
  }

  @Test(
    "A discarded change doesn't restore a reference to an object that the save deletes",
    arguments: StoreKind.allCases)
  func discardedChangesReferToRemainingRows(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.rollback))
    try first.performAndWait {
      let countries = ["c", "d"].map { first.make("Country", ["name": $0]) }
      let lists = ["l", "m"].map { first.make("List", ["name": $0]) }
      let person = first.make("Person", ["name": "p", "residentOf": countries[0]])
      let song = first.make("Song", ["name": "a", "list": lists[0]])
      try first.save()
      try second.performAndWait {
        let (resident, track) = (second.twin(of: person), second.twin(of: song))
        resident.setValue(second.twin(of: countries[1]), forKey: "residentOf")
        track.setValue(second.twin(of: lists[1]), forKey: "list")
        second.processPendingChanges()
        second.delete(second.twin(of: countries[0]))
        second.delete(second.twin(of: lists[0]))
        second.processPendingChanges()
        person.setValue("P", forKey: "name")
        song.setValue("A", forKey: "name")
        try first.save()
        try second.save()
        #expect(!second.hasChanges && resident.nameValue == "P" && track.nameValue == "A")
        // The rule of the list is Cascade, and that of the country Nullify.
        #expect(resident.one("residentOf") == nil && track.one("list")?.nameValue == "l")
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let (countries, lists) = (try third.all("Country"), try third.all("List"))
      #expect(countries.map { $0.nameValue } == ["d"])
      #expect(lists.map { $0.names("songs") } == ["A", ""])
      #expect(try third.all("Person").map { $0.one("residentOf") } == [nil])
    }
  }

  @Test(
    "What another context has made refer to it keeps the reference",
    arguments: StoreKind.allCases,
    [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
  func newReferencesToKeptObjectsAreKept(kind: StoreKind, type: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let people = ["p", "q"].map { first.make("Person", ["name": $0]) }
      try first.save()
      try second.performAndWait {
        let twins = people.map(second.twin)
        #expect(twins[1].one("spouseOf") == nil)
        twins[1].setValue("changed", forKey: "name")
        second.delete(twins[0])
        second.processPendingChanges()
        people[0].setValue(people[1], forKey: "spouse")
        people[1].setValue(people[0], forKey: "parent")
        people[0].setValue("kept", forKey: "name")
        try first.save()
        try second.save()
        #expect(twins[0].one("spouse") === twins[1] && twins[1].one("spouseOf") === twins[0])
        #expect(twins[0].set("children") == [twins[1]] && twins[1].one("parent") === twins[0])
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let people = try third.everyObject(of: "Person")
      let (kept, other) = (people[0], people[1])
      #expect(kept.nameValue == "kept" && kept.one("spouse") === other)
      #expect(other.one("spouseOf") === kept && other.one("parent") === kept)
    }
  }
}
