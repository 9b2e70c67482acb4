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
}
