import CoreDataCosts
import ManagedModel
import OpenCoreData
import Testing

@Suite("Fetch request templates")
struct FetchTemplateTests {
  @Test(arguments: StoreKind.allCases)
  func templatesBecomeRequestsWithSubstitutedValues(kind: StoreKind) throws {
    let model = TestModels.company()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.predicate = NSPredicate(format: "name BEGINSWITH $start AND department.name == $house")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
    request.fetchLimit = 2
    model.setFetchRequestTemplate(request, forName: "ofHouse")
    request.fetchLimit = 9
    model.setFetchRequestTemplate(
      NSFetchRequest<NSManagedObject>(entityName: "Department"), forName: "all")
    model.setFetchRequestTemplate(request, forName: "gone")
    model.removeFetchRequestTemplate(forName: "gone")
    #expect(Set(model.fetchRequestTemplatesByName.keys) == ["all", "ofHouse"])
    #expect(model.fetchRequestTemplate(forName: "gone") == nil)

    // A compiled model returns the same objects.
    let read = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    for model in [model, read] {
      let stack = try TestStack(kind, model: model)
      let context = try stack.coldContext()
      try context.performAndWait {
        for (house, names) in [("Sales", ["Ann", "Abe", "Al", "Bob"]), ("Stock", ["Amy"])] {
          let department = NSEntityDescription.insertNewObject(
            forEntityName: "Department", into: context)
          department.setValue(house, forKey: "name")
          for name in names {
            let employee = NSEntityDescription.insertNewObject(
              forEntityName: "Employee", into: context)
            employee.setValue(name, forKey: "name")
            employee.setValue(department, forKey: "department")
          }
        }
        try context.save()
        let found: NSFetchRequest<NSManagedObject> = try #require(
          model.fetchRequestFromTemplate(
            withName: "ofHouse", substitutionVariables: ["start": "A", "house": "Sales"]))
        var employees: [NSManagedObject] = []
        let cost = try costs(of: context) { employees = try context.fetch(found) }
        #expect(cost.selects == stack.statements(1))
        #expect(employees.map { $0.value(forKey: "name") as? String } == ["Ann", "Al"])
        let all = try #require(model.fetchRequestTemplate(forName: "all"))
        #expect(try context.fetch(all).count == 2)
      }
    }
  }

  @Test func fetchedPropertyKeepsItsRequestInACompiledModel() throws {
    let model = TestModels.company()
    let department = try #require(model.entitiesByName["Department"])
    let property = NSFetchedPropertyDescription()
    property.name = "namesakes"
    department.properties.append(property)
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
    request.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name")
    property.fetchRequest = request
    let copy = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    let read = copy.entitiesByName["Department"]?.propertiesByName["namesakes"]
    let found = (read as? NSFetchedPropertyDescription)?.fetchRequest
    #expect(found?.entityName == "Employee")
    #expect(found?.predicate == request.predicate)
  }

  @Test func invalidTemplatesAreProgrammerErrors() async {
    let nameless = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = TestModels.company()
      model.setFetchRequestTemplate(NSFetchRequest<NSManagedObject>(), forName: "nothing")
    }
    #expect(
      nameless.message.contains("The fetch request of the template nothing has no entity."))
    let late = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = TestModels.company()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.setFetchRequestTemplate(
        NSFetchRequest<NSManagedObject>(entityName: "Employee"), forName: "late")
    }
    #expect(late.message.contains("The model is in use."))
  }

  @Test("A template whose predicate can't be parsed isn't there, and doesn't stop the process")
  func templateWithAnInvalidPredicateIsNil() throws {
    let document = """
      <model><entity name="A"><attribute name="x" attributeType="Date"/></entity>
      <fetchRequest name="broken" entity="A" predicateString="x == "/>
      <fetchRequest name="all" entity="A"/></model>
      """
    let read = try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    let compiled = try ModelArchive.read(bytes: ModelArchive.bytes(of: read))
    for model in [read, compiled] {
      #expect(model.fetchRequestTemplate(forName: "broken") == nil)
      #expect(
        model.fetchRequestFromTemplate(withName: "broken", substitutionVariables: ["x": 1]) == nil)
      #expect(Array(model.fetchRequestTemplatesByName.keys) == ["all"])
      #expect(model.fetchRequestTemplate(forName: "all") != nil)
    }
  }

  @Test func templateDoesNotRetainTheStoresOfItsRequest() throws {
    let model = TestModels.company()
    weak var released: NSPersistentStore?
    func addTemplate() throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModels.company())
      let store = try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.affectedStores = [store]
      model.setFetchRequestTemplate(request, forName: "all")
      let found = model.fetchRequestTemplate(forName: "all")
      #expect(found?.affectedStores == [store])
      released = store
      try coordinator.remove(store)
    }
    try addTemplate()
    #expect(released == nil)
    #expect(model.fetchRequestTemplate(forName: "all")?.affectedStores == [])
  }

  @Test func templateHasEveryPropertyOfItsRequest() throws {
    let model = TestModels.company()
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    request.propertiesToGroupBy = ["name"]
    request.havingPredicate = NSPredicate(format: "name != 'x'")
    request.fetchOffset = 2
    request.relationshipKeyPathsForPrefetching = ["department"]
    request.shouldRefreshRefetchedObjects = true
    model.setFetchRequestTemplate(request, forName: "names")
    request.fetchOffset = 7
    let copied = try #require(model.copy() as? NSManagedObjectModel)
    let archived = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    let again = try ModelArchive.read(bytes: ModelArchive.bytes(of: archived))
    for model in [model, copied, archived, again] {
      let found: NSFetchRequest<NSDictionary> = try #require(
        model.fetchRequestTemplate(forName: "names"))
      #expect(found.resultType == .dictionaryResultType && found.fetchOffset == 2)
      #expect(found.propertiesToFetch as? [String] == ["name"])
      #expect(found.propertiesToGroupBy as? [String] == ["name"])
      #expect(found.havingPredicate == request.havingPredicate)
      #expect(found.relationshipKeyPathsForPrefetching == ["department"])
      #expect(found.shouldRefreshRefetchedObjects)
      #expect(found.entity === model.entitiesByName["Employee"])
    }
    for model in [copied, archived] {
      let losses = ModelDocument.text(of: model).losses.map(\.description)
      #expect(
        losses
          == [
            "fetchOffset", "havingPredicate", "propertiesToFetch", "propertiesToGroupBy",
            "relationshipKeyPathsForPrefetching", "shouldRefreshRefetchedObjects",
          ].map { property in
            "A model document can't contain the \(property) of the fetch request names. Set it in code."
          })
    }
  }

  @Test func archivedTemplateHasItsComputedValues() throws {
    let model = TestModels.company()
    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = NSExpression(format: "count:(name)")
    count.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", count]
    request.propertiesToGroupBy = ["name"]
    request.havingPredicate = NSPredicate(format: "$count > 1")
    model.setFetchRequestTemplate(request, forName: "counts")
    let read = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    let context = try TestStack(.memory, model: read).coldContext()
    try context.performAndWait {
      for name in ["Ann", "Ann", "Bob"] { _ = context.make("Employee", ["name": name]) }
      try context.save()
      let found: NSFetchRequest<NSDictionary> = try #require(
        read.fetchRequestTemplate(forName: "counts"))
      let groups = try context.fetch(found)
      #expect(groups.map { $0["name"] as? String } == ["Ann"])
      #expect(groups.map { $0["count"] as? Int } == [2])
    }
  }

  @Test func documentsReportPredicatesWithoutAFormatString() throws {
    let model = TestModels.company()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.predicate = NSPredicate(format: "name == $name")
    model.setFetchRequestTemplate(request, forName: "named")
    #expect(ModelDocument.text(of: model).losses == [])
    request.predicate = NSPredicate(block: { _, _ in true })
    model.setFetchRequestTemplate(request, forName: "chosen")
    #expect(
      ModelDocument.text(of: model).losses.map(\.description) == [
        "A model document can't contain the predicate of the fetch request chosen, which has no format "
          + "string. Set it in code."
      ])
  }
}
