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
