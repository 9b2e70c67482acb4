import OpenCoreData
import Testing

@Suite("Deletions that win over other changes")
struct DeletionConflictTests {
  private static let policies: [NSMergePolicyType] = [
    .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
  ]

  @Test(
    "The delete rules apply to objects that another context has added",
    arguments: StoreKind.allCases, policies)
  func deleteRulesApplyToAddedObjects(kind: StoreKind, type: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let list = first.make("List", ["name": "l"])
      let people = ["p", "q"].map { first.make("Person", ["name": $0]) }
      let country = first.make("Country", ["name": "c"])
      try first.save()
      try second.performAndWait {
        for object in [list, people[0], country] { second.delete(second.twin(of: object)) }
        second.processPendingChanges()
        _ = first.make("Song", ["name": "a", "list": list])
        people[0].setValue(people[1], forKey: "spouse")
        people[1].setValue(country, forKey: "residentOf")
        try first.save()
        try second.save()
        #expect(!second.hasChanges)
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      for entity in ["List", "Song", "Country"] {
        #expect(try third.everyObject(of: entity).isEmpty)
      }
      let people = try third.everyObject(of: "Person")
      #expect(people.map { $0.nameValue } == ["q"])
      #expect(people.allSatisfy { $0.one("spouseOf") == nil && $0.one("residentOf") == nil })
    }
  }

  @Test(
    "The rule Deny fails the save if another context has added an object",
    arguments: StoreKind.allCases, policies)
  func addedObjectsDenyTheDeletion(kind: StoreKind, type: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let list = first.make("List", ["name": "l"])
      try first.save()
      try second.performAndWait {
        second.delete(second.twin(of: list))
        second.processPendingChanges()
        _ = first.make("Kept", ["name": "k", "list": list])
        try first.save()
        let error = thrownError { try second.save() }
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      }
    }
    let third = stack.context()
    try third.performAndWait {
      let kept = try third.everyObject(of: "Kept")
      #expect(kept.map { $0.one("list")?.nameValue } == ["l"])
    }
  }
  @Test(
    "The delete rules apply to the partner that another context has given a changed object",
    arguments: StoreKind.allCases, [false, true])
  func deleteRulesApplyToNewPartners(kind: StoreKind, isMerged: Bool) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let policy = NSMergePolicy.mergeByPropertyObjectTrump
    let (first, second) = (stack.context(), stack.context(policy))
    try first.performAndWait {
      let people = ["p", "q", "r"].map { first.make("Person", ["name": $0]) }
      try first.save()
      try second.performAndWait {
        let twins = people.map(second.twin)
        twins[2].setValue(twins[0], forKey: "spouseOf")
        second.delete(twins[2])
        second.processPendingChanges()
        people[1].setValue(people[2], forKey: "spouse")
        let saves = NoteList(first, .NSManagedObjectContextDidSave)
        try first.save()
        if isMerged { try second.mergeChanges(fromContextDidSave: #require(saves.notes.last)) }
        try second.save()
        #expect(!second.hasChanges)
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let people = try third.everyObject(of: "Person")
      #expect(people.map { $0.nameValue } == ["p", "q"])
      #expect(people.allSatisfy { $0.one("spouse") == nil })
    }
  }

  @Test(
    "A cascade rule doesn't delete a former partner that another context has given to another one",
    arguments: StoreKind.allCases, policies)
  func formerPartnersAreKept(kind: StoreKind, type: NSMergePolicyType) throws {
    let model = try KinshipModel.make()
    let person = try #require(model.entitiesByName["Person"])
    person.relationshipsByName["spouseOf"]?.deleteRule = .cascadeDeleteRule
    let stack = try SharedStack(kind, model)
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    try first.performAndWait {
      let people = ["p", "q", "r", "s"].map { first.make("Person", ["name": $0]) }
      people[0].setValue(people[1], forKey: "spouseOf")
      try first.save()
      try second.performAndWait {
        let twins = people.map(second.twin)
        #expect(twins[0].one("spouseOf") === twins[1])
        twins[0].setValue(twins[2], forKey: "spouseOf")
        people[1].setValue(people[3], forKey: "spouse")
        try first.save()
        second.refresh(twins[1], mergeChanges: false)
        #expect(twins[1].one("spouse") === twins[3])
        second.delete(twins[0])
        second.processPendingChanges()
        #expect(twins.map(\.isDeleted) == [true, false, true, false])
        try second.save()
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let people = try third.everyObject(of: "Person")
      #expect(people.map { $0.nameValue } == ["q", "s"])
      #expect(people.first?.one("spouse")?.nameValue == "s")
    }
  }

  @Test(
    "The overwrite policy writes no reference to a row that another context has deleted",
    arguments: StoreKind.allCases)
  func overwrittenReferencesHaveRows(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy.overwrite))
    try first.performAndWait {
      let country = first.make("Country", ["name": "c"])
      let person = first.make("Person", ["name": "p", "residentOf": country])
      try first.save()
      try second.performAndWait {
        let twin = second.twin(of: person)
        twin.setValue("changed", forKey: "name")
        first.delete(country)
        try first.save()
        try second.save()
        #expect(!second.hasChanges && twin.one("residentOf") == nil)
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let people = try third.everyObject(of: "Person")
      #expect(people.map { $0.nameValue } == ["changed"])
      #expect(people.allSatisfy { $0.one("residentOf") == nil })
    }
  }
}
