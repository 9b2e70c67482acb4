import OpenCoreData
import Testing

@Suite("Rows that a save finds deleted")
struct LostRowTests {
  @Test(
    "Unsaved references to an object whose deletion a merge policy accepts become nil",
    arguments: StoreKind.allCases,
    [NSMergePolicyType.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
  func unsavedReferencesToLostRowsBecomeNil(kind: StoreKind, type: NSMergePolicyType) throws {
    let stack = try SharedStack(kind, TestModels.company())
    let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: type)))
    let department = try first.performAndWait {
      let department = first.make("Department", ["name": "D"])
      try first.save()
      return department
    }
    try second.performAndWait {
      let theirs = second.twin(of: department)
      let employee = second.make("Employee", ["name": "E", "department": theirs])
      try first.performAndWait {
        first.delete(department)
        try first.save()
      }
      try second.save()
      #expect(theirs.isDeleted && !employee.hasChanges)
      #expect(employee.value(forKey: "department") == nil)
    }
    let third = stack.context()
    try third.performAndWait {
      let found = try third.everyObject(of: "Employee")
      #expect(found.map { $0.value(forKey: "name") as? String } == ["E"])
      #expect(found.first?.value(forKey: "department") == nil)
    }
  }

  @Test(
    "Unchanged objects that refer to an object whose deletion a policy accepts are read again",
    arguments: StoreKind.allCases, [false, true])
  func savedReferencesToLostRowsAreReadAgain(kind: StoreKind, isForeign: Bool) throws {
    guard !isForeign || kind == .sqlite else { return }
    let stack = try SharedStack(kind, TestModels.company())
    let first = stack.context()
    let second = try isForeign ? stack.foreignContext(.rollback) : stack.context(.rollback)
    let employee = try first.performAndWait {
      let department = first.make("Department", ["name": "D"])
      let employees = ["a", "b"].map {
        first.make("Employee", ["name": $0, "department": department])
      }
      try first.save()
      return employees[0]
    }
    try second.performAndWait {
      let department = try #require(try second.everyObject(of: "Department").first)
      let theirs = try second.everyObject(of: "Employee")
      #expect(department.set("employees") == Set(theirs))
      // A fault for the deleted row would become deleted before the save.
      #expect(theirs.map(\.nameValue) == ["a", "b"])
      try first.performAndWait {
        first.delete(employee)
        try first.save()
      }
      theirs[0].setValue("new", forKey: "name")
      let notes = NoteList(second)
      try second.save()
      #expect(theirs[0].isDeleted && department.set("employees") == [theirs[1]])
      #expect(notes.union(NSRefreshedObjectsKey) == [department] && !second.hasChanges)
    }
  }

  @Test(
    "So are those that the object doesn't know, because its relationship wasn't read",
    arguments: StoreKind.allCases, [false, true])
  func unknownReferencesToLostRowsAreReadAgain(kind: StoreKind, isForeign: Bool) throws {
    guard !isForeign || kind == .sqlite else { return }
    let stack = try SharedStack(kind, TestModels.company())
    let first = stack.context()
    let second = try isForeign ? stack.foreignContext(.rollback) : stack.context(.rollback)
    let department = try first.performAndWait {
      let department = first.make("Department", ["name": "D"])
      for name in ["a", "b"] {
        _ = first.make("Employee", ["name": name, "department": department])
      }
      try first.save()
      return department
    }
    try second.performAndWait {
      let employees = try second.everyObject(of: "Employee")
      // One is realized, and the other is a fault.
      let theirs = try #require(employees[0].one("department"))
      #expect(theirs.nameValue == "D" && employees[1].isFault)
      try first.performAndWait {
        first.delete(department)
        try first.save()
      }
      theirs.setValue("new", forKey: "name")
      try second.save()
      #expect(theirs.isDeleted && !second.hasChanges)
      #expect(employees.map(\.nameValue) == ["a", "b"])
      #expect(employees.allSatisfy { $0.one("department") == nil })
    }
  }

  @Test(
    "An overwritten object refers to no unchanged object whose row is gone",
    arguments: StoreKind.allCases)
  func overwrittenReferencesToLostRowsBecomeNil(kind: StoreKind) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    let (first, second) = (stack.context(), stack.context(.overwrite))
    try first.performAndWait {
      let parent = first.make("Person", ["name": "parent"])
      let child = first.make("Person", ["name": "child", "parent": parent])
      try first.save()
      try second.performAndWait {
        let theirs = second.twin(of: child)
        #expect(theirs.one("parent")?.nameValue == "parent")
        first.delete(parent)
        try first.save()
        theirs.setValue("changed", forKey: "name")
        try second.save()
        #expect(theirs.one("parent") == nil)
      }
    }
    let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
    try third.performAndWait {
      let people = try third.all("Person")
      #expect(people.map(\.nameValue) == ["changed"])
      #expect(people.first?.one("parent") == nil)
    }
  }

  @Test(
    "A required reference to such an object fails the save, and nothing is written",
    arguments: StoreKind.allCases)
  func requiredReferencesToLostRowsFailTheSave(kind: StoreKind) throws {
    let stack = try SharedStack(kind, SavingModels.regions())
    let (first, second) = (stack.context(), stack.context(.rollback))
    let country = try first.performAndWait {
      let country = first.make("Country", ["code": "FR"])
      try first.save()
      return country
    }
    try second.performAndWait {
      let theirs = second.twin(of: country)
      let city = second.make("City", ["name": "Paris", "country": theirs])
      try first.performAndWait {
        first.delete(country)
        try first.save()
      }
      let error = thrownError { try second.save() }
      #expect(error?.code == NSValidationMissingMandatoryPropertyError)
      #expect(theirs.isDeleted && city.isInserted)
    }
    let found = try first.performAndWait { try first.everyObject(of: "City") }
    #expect(found.isEmpty)
  }
}
