import CoreDataCosts
import OpenCoreData
import SQLiteDriver
import Testing

/// A file may have keys of rows that only a store of another configuration can contain.
@Suite("Entities outside of a store's configuration")
struct AbsentEntityTests {
  /// Names of the destination that sort before and after the entity that the store contains.
  static let places = ["Department", "Workplace"]

  @Test(
    "A key of an entity outside of the configuration is a fault without a row", arguments: places)
  func keyOfAnAbsentEntityIsAFaultWithoutARow(place: String) throws {
    let staff = try StaffStore(place)
    let context = staff.context()
    try context.performAndWait {
      let employees = try context.all("Employee")
      let employee = try #require(employees.first)
      let id = try #require(employee.objectIDs(forRelationshipNamed: "department").first)
      let uri = id.uriRepresentation()
      #expect(id.entity.name == place)
      #expect(staff.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
      let home = try #require(employee.value(forKey: "department") as? NSManagedObject)
      #expect(home.isFault && home.objectID == id && home === context.object(with: id))
      let cost = costs(of: context) {
        #expect(home.value(forKey: "name") == nil && home.isDeleted)
      }
      #expect(cost.faults == 1 && cost.misses == 1 && cost.selects == 0)
      #expect(home.objectIDs(forRelationshipNamed: "employees") == [])
      #expect((home.value(forKey: "employees") as? Set<NSManagedObject>)?.isEmpty == true)
      let error = thrownError { _ = try context.existingObject(with: id) }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
      #expect(context.faultError == nil && !context.hasChanges)
    }
  }

  @Test(
    "Such a fault has no row for a lookup, a pinned context, and a child either",
    arguments: places)
  func lookupsPinsAndChildrenFindNoRow(place: String) throws {
    let staff = try StaffStore(place)
    let context = staff.context()
    let id = try staff.absentID(in: context)
    context.performAndWait {
      let error = thrownError { _ = try context.existingObject(with: id) }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }
    let pinned = staff.context()
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      let employees = try pinned.all("Employee")
      let employee = try #require(employees.first)
      let home = try #require(employee.value(forKey: "department") as? NSManagedObject)
      #expect(home.value(forKey: "name") == nil && home.isDeleted)
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = staff.context()
    try child.performAndWait {
      let employees = try child.all("Employee")
      let employee = try #require(employees.first)
      let home = try #require(employee.value(forKey: "department") as? NSManagedObject)
      #expect(home.value(forKey: "name") == nil && home.isDeleted)
    }
  }

  @Test(
    "A fetch prefetches no rows of an absent entity, and fails if it compares or sorts by them",
    arguments: places)
  func fetchesReadNoRowsOfAnAbsentEntity(place: String) throws {
    let staff = try StaffStore(place)
    let context = staff.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.relationshipKeyPathsForPrefetching = ["department.employees"]
      var found: [NSManagedObject] = []
      let cost = try costs(of: context) { found = try context.fetch(request) }
      #expect(cost.selects == 1 && cost.rows == 2 && cost.faults == 0 && cost.prefetches == 0)
      context.refreshAllObjects()
      #expect(found.map(\.nameValue) == ["e0", "e1"])
      for format in [
        "department == nil", "department.name == 'x'", "ANY department.employees.name == 'x'",
        "department.employees.@count > 0",
        "SUBQUERY(department.employees, $e, $e.name == 'x').@count > 0",
      ] {
        let compared = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        compared.predicate = NSPredicate(format: format)
        let error = thrownError { _ = try context.fetch(compared) }
        #expect(error?.code == NSCoreDataError, "\(format)")
        #expect(thrownError { _ = try context.count(for: compared) }?.code == NSCoreDataError)
      }
      let sorted = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      sorted.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: true)]
      #expect(thrownError { _ = try context.fetch(sorted) }?.code == NSCoreDataError)
      let values = NSFetchRequest<NSDictionary>(entityName: "Employee")
      values.resultType = .dictionaryResultType
      values.propertiesToFetch = ["department"]
      #expect(thrownError { _ = try context.fetch(values) }?.code == NSCoreDataError)
    }
  }

  @Test("An object of an absent entity equals no row with its key", arguments: places)
  func objectOfAnAbsentEntityEqualsNoRow(place: String) throws {
    let staff = try StaffStore(place)
    let context = staff.context()
    let id = try staff.absentID(in: context)
    try context.performAndWait {
      func count(_ format: String, _ value: Any) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
        request.predicate = NSPredicate(format: format, value)
        return try context.count(for: request)
      }
      let first = try #require(try context.all("Employee").first)
      var counts = [try count("SELF == %@", first), try count("SELF IN %@", [first])]
      #expect(counts == [1, 1])
      counts = []
      for value in [id, context.object(with: id)] as [Any] {
        counts += [try count("SELF == %@", value), try count("SELF IN %@", [value])]
      }
      #expect(counts == [0, 0, 0, 0])
    }
  }

  @Test("A request for an absent entity finds nothing, and a batch request is an error")
  func requestsForAnAbsentEntityFindNothing() throws {
    let staff = try StaffStore("Workplace")
    let context = staff.context()
    let id = try staff.absentID(in: context)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Workplace")
      request.predicate = NSPredicate(format: "ANY employees.name == 'e0'")
      request.relationshipKeyPathsForPrefetching = ["employees"]
      var counts = [try context.fetch(request).count, try context.count(for: request)]
      request.fetchBatchSize = 1
      counts.append(try context.fetchBatched(request).count)
      let values = NSFetchRequest<NSDictionary>(entityName: "Workplace")
      values.resultType = .dictionaryResultType
      values.propertiesToFetch = ["name"]
      counts.append(try context.fetch(values).count)
      #expect(counts == [0, 0, 0, 0])
      let update = NSBatchUpdateRequest(entityName: "Workplace")
      update.propertiesToUpdate = ["name": "x"]
      for batch in [update, NSBatchDeleteRequest(objectIDs: [id])] as [NSPersistentStoreRequest] {
        let error = thrownError { try context.execute(batch) }
        #expect(error?.code == NSPersistentStoreSaveError)
        #expect(error?.localizedDescription.contains("contains the entity 'Workplace'") == true)
      }
    }
  }

  @Test(
    "Objects with such a key are changed and deleted, and the key stays until it's replaced",
    arguments: places)
  func objectsWithSuchAKeyAreSaved(place: String) throws {
    let staff = try StaffStore(place)
    let context = staff.context()
    try context.performAndWait {
      let employees = try context.all("Employee")
      employees[0].setValue("a", forKey: "name")
      try context.save()
      #expect(try staff.keys() == [.integer(1), .integer(1)])
      employees[1].setValue(nil, forKey: "department")
      try context.save()
      #expect(try staff.keys() == [.integer(1), .null])
    }
    let other = staff.context()
    try other.performAndWait {
      let employees = try other.all("Employee")
      let employee = try #require(employees.first)
      let home = try #require(employee.value(forKey: "department") as? NSManagedObject)
      other.delete(home)
      try other.save()
      #expect(home.isDeleted && !other.hasChanges)
      #expect(try staff.keys() == [.integer(1), .null])
      other.delete(employee)
      try other.save()
      #expect(try staff.keys() == [.null])
    }
  }

  @Test("A remote notification may name objects of an absent entity", arguments: places)
  func remoteNotificationsMayNameAbsentEntities(place: String) throws {
    let staff = try StaffStore(place)
    let context = staff.context()
    let id = try staff.absentID(in: context)
    let home = context.performAndWait { context.object(with: id) }
    for key in [NSUpdatedObjectsKey, NSInsertedObjectsKey, NSDeletedObjectsKey] {
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: [id]], into: [context])
    }
    try context.performAndWait {
      let employees = try context.all("Employee")
      #expect(home.value(forKey: "name") == nil && home.isDeleted)
      #expect(employees.count == 2 && context.faultError == nil)
    }
  }

  @Test("A document's reference to an object of an absent entity has no object", arguments: places)
  func documentsMayReferToAbsentEntities(place: String) throws {
    let staff = try StaffStore(place, .xml)
    let context = staff.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.predicate = NSPredicate(format: "department == nil")
      request.relationshipKeyPathsForPrefetching = ["department"]
      let employees = try context.fetch(request)
      let employee = try #require(employees.first)
      let home = try #require(employee.value(forKey: "department") as? NSManagedObject)
      #expect(home.value(forKey: "name") == nil && home.isDeleted)
      employee.setValue("a", forKey: "name")
      try context.save()
      let names = try context.all("Employee").map(\.nameValue)
      #expect(names == ["a", "e1"])
    }
  }
}

/// A coordinator over a store of two employees whose department has a key, but whose configuration
/// doesn't contain departments.
private final class StaffStore {
  let coordinator: NSPersistentStoreCoordinator
  private let files: TestStack

  /// - Parameter place: The name of the departments' entity.
  init(_ place: String, _ kind: StoreKind = .sqlite) throws {
    let model = StaffStore.model(place)
    files = try TestStack(kind, model: model)
    let url = files.storeURL
    let first = try StaffStore.coordinator(model, kind, url)
    let writer = StaffStore.context(of: first)
    try writer.performAndWait {
      for number in 0..<2 { _ = writer.make("Employee", ["name": "e\(number)"]) }
      try writer.save()
    }
    for store in first.persistentStores { try first.remove(store) }
    if kind == .sqlite {
      let connection = try Connection(path: url.path, access: .writing)
      defer { connection.close() }
      try connection.execute("UPDATE ZEMPLOYEE SET ZDEPARTMENT = 1")
    } else {
      let reference =
        "<relationship name=\"department\" type=\"1/1\" destination=\"\(place)\" idrefs=\"z9\"/>"
      let text = try String(contentsOf: url, encoding: .utf8)
        .replacingOccurrences(of: "</object>", with: reference + "</object>")
      try Data(text.utf8).write(to: url)
    }
    coordinator = try StaffStore.coordinator(model, kind, url)
  }

  private static func coordinator(
    _ model: NSManagedObjectModel, _ kind: StoreKind, _ url: URL
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: kind.type, configuration: "Staff", at: url)
    return coordinator
  }

  private static func context(
    of coordinator: NSPersistentStoreCoordinator
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func model(_ place: String) -> NSManagedObjectModel {
    let (employee, home) = (NSEntityDescription(), NSEntityDescription())
    (employee.name, home.name) = ("Employee", place)
    let department = TestModels.relationship("department", to: home, isToMany: false)
    let employees = TestModels.relationship("employees", to: employee, isToMany: true)
    (department.inverseRelationship, employees.inverseRelationship) = (employees, department)
    employee.properties = [TestModels.attribute("name", .stringAttributeType), department]
    home.properties = [TestModels.attribute("name", .stringAttributeType), employees]
    let model = NSManagedObjectModel()
    model.entities = [employee, home]
    model.setEntities([employee], forConfigurationName: "Staff")
    model.setEntities([home], forConfigurationName: "Places")
    return model
  }

  /// Returns a new context, which keeps the file.
  func context() -> NSManagedObjectContext {
    let context = StaffStore.context(of: coordinator)
    context.userInfo["files"] = files
    return context
  }

  /// Returns the object ID of the first employee's department.
  func absentID(in context: NSManagedObjectContext) throws -> NSManagedObjectID {
    try context.performAndWait {
      let employees = try context.all("Employee")
      return try #require(employees.first?.objectIDs(forRelationshipNamed: "department").first)
    }
  }

  /// Returns the column of the departments' keys, in the order of the employees.
  func keys() throws -> [SQLiteValue] {
    let connection = try Connection(path: files.storeURL.path, access: .reading)
    defer { connection.close() }
    return try connection.values("SELECT ZDEPARTMENT FROM ZEMPLOYEE ORDER BY Z_PK").map { $0[0] }
  }
}
