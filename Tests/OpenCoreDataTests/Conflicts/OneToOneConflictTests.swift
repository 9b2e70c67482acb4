import OpenCoreData
import Testing

@Suite("One-to-one relationships that two contexts have changed")
struct OneToOneConflictTests {
  /// Saves four people, p to s, changes them in two contexts, and saves the second one after the
  /// first.
  ///
  /// - Parameters:
  ///   - expected: The names of each person's `spouse` and `spouseOf` in the store afterward, in
  ///     the order of the people; `-` for none.
  ///   - isMerged: Whether the first context's save is merged into the second before its save.
  ///   - change: Receives the second context's people.
  ///   - changeElsewhere: Receives the first context's people.
  private func save(
    _ kind: StoreKind, _ policy: NSMergePolicyType, expecting expected: [String],
    isMerged: Bool = false, _ change: ([NSManagedObject]) -> Void,
    _ changeElsewhere: ([NSManagedObject]) -> Void
  ) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: policy)))
    func partners(_ people: [NSManagedObject]) -> [String] {
      people.map { person in
        ["spouse", "spouseOf"].map { person.one($0)?.nameValue ?? "-" }.joined()
      }
    }
    try first.performAndWait {
      let people = ["p", "q", "r", "s"].map { first.make("Person", ["name": $0]) }
      people[0].setValue(people[1], forKey: "spouse")
      try first.save()
      try second.performAndWait {
        let twins = people.map(second.twin)
        #expect(partners(twins) == ["q-", "-p", "--", "--"])
        change(twins)
        second.processPendingChanges()
        changeElsewhere(people)
        let saves = NoteList(first, .NSManagedObjectContextDidSave)
        try first.save()
        if isMerged { try second.mergeChanges(fromContextDidSave: #require(saves.notes.last)) }
        try second.save()
        #expect(!second.hasChanges)
        second.refreshAllObjects()
        #expect(partners(twins) == expected)
      }
    }
    // A file is read again: the row cache may differ from it.
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    let found = try third.performAndWait { try partners(third.all("Person")) }
    #expect(found == expected)
  }

  @Test(
    "An object that wins leaves the one that another context has given it",
    arguments: StoreKind.allCases,
    [
      NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    ])
  func winnersLeaveTheirNewPartners(kind: StoreKind, policy: NSMergePolicyType) throws {
    try save(kind, policy, expecting: ["s-", "--", "--", "-p"]) { people in
      people[0].setValue(people[3], forKey: "spouse")
    } _: { people in
      people[0].setValue(people[2], forKey: "spouse")
    }
  }

  @Test(
    "A relationship that the overwrite policy writes is written on both sides",
    arguments: StoreKind.allCases)
  func overwrittenRelationshipsHaveTwoSides(kind: StoreKind) throws {
    // The first person is overwritten, and refers to the second one again.
    try save(kind, .overwriteMergePolicyType, expecting: ["q-", "-p", "--", "--"]) { people in
      people[0].setValue("p", forKey: "name")
    } _: { people in
      people[0].setValue(people[2], forKey: "spouse")
    }
  }

  @Test(
    "A relationship that the policy takes from the store is taken on both sides",
    arguments: StoreKind.allCases)
  func mergedRelationshipsHaveTwoSides(kind: StoreKind) throws {
    let policy = NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType
    try save(kind, policy, expecting: ["r-", "--", "-p", "--"]) { people in
      people[0].setValue("p", forKey: "name")
    } _: { people in
      people[0].setValue(people[2], forKey: "spouse")
    }
  }

  @Test(
    "An unsaved change takes the partner from the one that a merged save has given it",
    arguments: StoreKind.allCases)
  func mergedPartnersAreTaken(kind: StoreKind) throws {
    let policy = NSMergePolicyType.errorMergePolicyType
    let taken = ["--", "--", "s-", "-r"]
    try save(kind, policy, expecting: taken, isMerged: true) { people in
      people[2].setValue(people[3], forKey: "spouse")
    } _: { people in
      people[0].setValue(people[3], forKey: "spouse")
    }
    try save(kind, policy, expecting: ["s-", "--", "--", "-p"], isMerged: true) { people in
      people[0].setValue(people[3], forKey: "spouse")
    } _: { people in
      people[0].setValue(people[2], forKey: "spouse")
    }
  }

  @Test(
    "A restored object has its partner, unless that has another one",
    arguments: StoreKind.allCases, [false, true])
  func restoredObjectsHavePartners(kind: StoreKind, isTaken: Bool) throws {
    let policy = NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType
    let expected = isTaken ? ["--", "-r", "q-", "--"] : ["q-", "-p", "--", "--"]
    try save(kind, policy, expecting: expected) { people in
      people[0].setValue("p", forKey: "name")
    } _: { people in
      people[0].managedObjectContext?.delete(people[0])
      if isTaken { people[2].setValue(people[1], forKey: "spouse") }
    }
  }
  @Test(
    "A policy saves a stored partner that has another one here on both sides, or on none",
    arguments: StoreKind.allCases,
    [
      NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    ])
  func storedPartnersAgree(kind: StoreKind, policy: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: policy)))
    try first.performAndWait {
      let people = ["p", "q", "r"].map { first.make("Person", ["name": $0]) }
      try first.save()
      try second.performAndWait {
        let twins = people.map(second.twin)
        twins[0].setValue("changed", forKey: "name")
        people[0].setValue(people[2], forKey: "spouse")
        try first.save()
        // This one is read only now.
        twins[2].setValue(twins[1], forKey: "spouseOf")
        try second.save()
        #expect(!second.hasChanges)
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    let found = try third.performAndWait {
      try third.everyObject(of: "Person").map { person in
        ["spouse", "spouseOf"].map { person.one($0)?.nameValue ?? "-" }.joined()
      }
    }
    let partners = [
      NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType: ["r-", "--", "-changed"],
      .rollbackMergePolicyType: ["r-", "--", "-p"],
    ]
    #expect(found == partners[policy] ?? ["--", "r-", "-q"])
  }
}
