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
}
